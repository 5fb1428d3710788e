// Runs untrusted Lua code: the files of grammars and automata. Such a file sees only its
// environment (scripts/lib/grammar/words.lua). Limits on instructions and memory guarantee that
// every file ends; Ctrl-C ends it at any time.
#pragma once
#include <lua.hpp>

namespace pushdown {

// The limits of one file. Recursion ends at LuaJIT's own limit, a stack of about 65,000 values, and
// at 100 nested calls through C functions.
struct SandboxLimits {
  // Instructions of Lua, comparisons of string patterns and bytes of texts that functions make. 0.1
  // microseconds of processor time also count as a step.
  double steps = 1e8;
  double memory = 64.0 * 1048576;  // bytes
};
// The limits of the session; pd.grammar.limits changes them.
SandboxLimits& sandbox_limits();

// run(chunk, strings) -> true, or false and an error value: calls the chunk within the limits. The
// chunk and its functions are not compiled to machine code, which would not count instructions.
// `strings`: the string methods during the call.
int run_limited(lua_State* L);
// count_steps(steps): adds to the count of steps; an error if the limit is exceeded.
int count_steps(lua_State* L);

}  // namespace pushdown
