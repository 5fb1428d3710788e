// The prompt: reads entries, possibly of several lines, runs them, and prints their values.
#pragma once
#include "bindings/shell/interpreter.h"

namespace pushdown {

// Runs until the end of the input. Returns the exit status: 0 for a person at a terminal; for a
// pipe 1 if an entry failed and 130 if one was interrupted.
int run_prompt(Interpreter& interpreter);

// Makes `require 'pushdown.show'` return the function that prints values as the prompt does.
// Scripts that :save has written use it.
void provide_show(lua_State* L);

// Prints "error: ..." to stderr, in red if colours are on.
void print_error(const std::string& message);
// Prints where Ctrl-C stopped the code, which is not an error: "script.lua:12: interrupted".
void print_interrupted(const std::string& message);

}  // namespace pushdown
