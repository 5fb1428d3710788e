// What is typed at a prompt or into a notebook's cell: Lua, an expression, `? topic`, or a command
// such as
// `:time statement`.
#pragma once
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>

#include "bindings/shell/interpreter.h"

namespace pushdown {

struct Entry {
  std::string code;     // Lua
  bool silent = false;  // it ends in ';'
  bool timed = false;   // by :time
};

// std::invalid_argument for a command that there is not.
Entry read_entry(std::string_view text);

// Compiles; a function of the printer of the entry's values is left on the stack. `incomplete`: the
// text is wrong only because it ends too early.
Interpreter::Outcome compile_entry(Interpreter& interpreter, const Entry& entry, bool& incomplete);
// Calls that function. The printer gets the values of an expression or of a `return`.
Interpreter::Outcome run_entry(Interpreter& interpreter, lua_CFunction printer);

// A printer that prints nothing: keeps the first of its arguments, unless it is nil, as the global
// _.
int keep_values(lua_State* L);

// By the clock and on the processor, since it was made.
class Stopwatch {
 public:
  std::string text() const;  // "12.3 ms, processor 11.9 ms"

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  std::clock_t processor_begin_ = std::clock();
};

// Without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace pushdown
