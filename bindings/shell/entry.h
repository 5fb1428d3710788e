// What is typed at a prompt or into a notebook's cell: Lua, an expression, `? topic`, or a command
// such as
// `:time statement`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/interpreter.h"

namespace pushdown {

struct Entry {
  std::string code;     // Lua
  bool silent = false;  // it ends in ';'
  bool timed = false;   // by :time
  int times = 1;        // how often it runs, by :time -n
  bool leaves = false;  // `quit` or `exit`
};

// The entries of a text: one, or those of a session that was copied with its prompts; what was
// printed there is left out.
std::vector<std::string> entries_of(Interpreter& interpreter, const std::string& text);

// std::invalid_argument for a command that there is not.
Entry read_entry(lua_State* L, std::string_view text);

// Compiles; a function of the printer of the entry's values is left on the stack. `incomplete`: the
// text is wrong only because it ends too early.
Interpreter::Outcome compile_entry(Interpreter& interpreter, const Entry& entry, bool& incomplete);
// Calls that function, as often and as loud as the entry asks for. The printer gets the values of
// an expression, of an expression at the end of statements, or of a `return`; of statements it is
// called without any. A printer calls keep_values. How long it took goes to standard output.
Interpreter::Outcome run_entry(Interpreter& interpreter, const Entry& entry, lua_CFunction printer);

// A printer that prints nothing: keeps the first of its arguments, unless it is nil, as the global
// _, and the locals of the entry.
int keep_values(lua_State* L);

// Without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace pushdown
