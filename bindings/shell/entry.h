// An entry at a prompt or in a notebook cell: Lua, an expression, `? topic`, or a command such as
// `:time statement`.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/interpreter.h"

namespace pushdown {

struct Entry {
  std::string code;     // Lua
  bool silent = false;  // it ends with ';'
  bool timed = false;   // by :time
  int times = 1;        // number of runs, by :time -n
  bool leaves = false;  // `quit` or `exit`
};

// Returns the entries of a text: one, or those of a session that was copied with its prompts,
// without its output.
std::vector<std::string> entries_of(Interpreter& interpreter, const std::string& text);

// Throws std::invalid_argument for an unknown command.
Entry read_entry(lua_State* L, std::string_view text);

// Compiles the entry and leaves on the stack a function of the printer of its values. `incomplete`:
// the text is wrong only because it ends too early.
Interpreter::Outcome compile_entry(Interpreter& interpreter, const Entry& entry, bool& incomplete);
// Calls that function as often as the entry says, and silently if it says so. The printer gets the
// values of an expression, of an expression after statements, or of a `return`; for statements it
// is called without arguments. A printer calls keep_values. The time goes to standard output.
Interpreter::Outcome run_entry(Interpreter& interpreter, const Entry& entry, lua_CFunction printer);

// A printer that prints nothing. It stores its first argument, unless it is nil, in the global _,
// and keeps the locals of the entry.
int keep_values(lua_State* L);

// Returns the text without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace pushdown
