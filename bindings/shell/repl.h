// The prompt: reads entries, which may have several lines, runs them, and prints what they give.
#pragma once
#include "bindings/shell/interpreter.h"

namespace pushdown {

// Runs until the end of the input. The exit status: 0 with somebody at a terminal; from a pipe 1 if
// some entry failed, 130 if one was interrupted.
int run_prompt(Interpreter& interpreter);

// Prints "error: ..." to stderr, red where that helps.
void print_error(const std::string& message);
// Prints where Ctrl-C stopped, which is no error: "script.lua:12: interrupted".
void print_interrupted(const std::string& message);

}  // namespace pushdown
