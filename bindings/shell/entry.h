// An entry at a prompt or in a notebook cell: Lua, an expression, `? topic`, `?? topic`,
// `!command`, or a command such as `:time statement`.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/shell/interpreter.h"

namespace pushdown {

struct Entry {
  std::string code;      // Lua
  bool silent = false;   // it ends with ';'
  bool timed = false;    // by :time
  int times = 1;         // number of runs, by :time -n
  bool leaves = false;   // `quit` or `exit`
  bool command = false;  // the code is a call that the prompt has made of the text
  bool noted = true;     // it can change the session, so that records of runs and :save have it
  std::size_t value = std::string::npos;  // place of the expression whose value is printed
};

// Returns the entries of a text: one, or those of a session that was copied with its prompts,
// without its output.
std::vector<std::string> entries_of(Interpreter& interpreter, const std::string& text);

// Returns whether the text is wrong only because it ends too early.
bool is_open(Interpreter& interpreter, const std::string& text);
// Throws std::invalid_argument for a command of the shell with wrong words.
Entry read_entry(lua_State* L, std::string_view text);

// Compiles the entry and leaves on the stack a function of the printer of its values. `incomplete`:
// the text is wrong only because it ends too early. Sets `value`.
Interpreter::Outcome compile_entry(Interpreter& interpreter, Entry& entry, bool& incomplete);
// Calls that function as often as the entry says, and silently if it says so. The printer gets the
// values of an expression, of an expression after statements, or of a `return`; for statements it
// is called without arguments. A printer calls keep_values. The time goes to standard output.
Interpreter::Outcome run_entry(Interpreter& interpreter, const Entry& entry, lua_CFunction printer);

// A printer that prints nothing. It stores its first argument, unless it is nil, in the global _,
// moves the values before it to _1, _2, ..., and keeps the locals of the entry.
int keep_values(lua_State* L);
constexpr int kEarlierValues = 9;  // _1 to _9

// Returns a compiled entry as statements of a script, which calls `show` with the values that the
// prompt prints; empty for an entry that changes nothing.
std::string script_of(lua_State* L, const Entry& entry);
// The entries of the session, which pushdown.prompt.commands reads: a list of {text=, script=,
// failed=} in the Lua registry.
inline constexpr const char* kEntriesKey = "pushdown.entries";

struct Taken {
  Interpreter::Outcome outcome;
  bool incomplete = false, leaves = false;  // and so it was not run
};
// Reads, compiles and runs an entry, and notes it for records of runs and in that list. Unless it
// is the `end` of the input, an incomplete one is not an error. `begins` is called before it runs.
Taken take_entry(Interpreter& interpreter, const std::string& text, lua_CFunction printer, bool end,
                 const std::function<void()>& begins);

// Returns the text without white space at its ends.
std::string_view trimmed(std::string_view text);

}  // namespace pushdown
