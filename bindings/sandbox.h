// Running Lua of a stranger: the files of grammars and automata. Such a file sees only what its
// environment offers (scripts/lib/grammar.lua), and its work is bounded in instructions and in
// memory, so that every file comes to an end; Ctrl-C ends it at any time.
#pragma once
#include <lua.hpp>

namespace pushdown {

// What one file may use. Recursion ends at LuaJIT's own limit, a stack of about 65,000 values, and
// at 100 calls that go through a function of C.
struct SandboxLimits {
  double steps = 1e8;              // instructions of Lua, and comparisons of string patterns
  double memory = 64.0 * 1048576;  // bytes
};
// Of the session; changed by pd.grammar.limits.
SandboxLimits& sandbox_limits();

// run(chunk, strings) -> true, or false and an error value: calls the chunk within the limits. It
// and the functions in it are not compiled to machine code, which would count no instructions.
// `strings`: what methods of strings are meanwhile.
int run_limited(lua_State* L);
// count_steps(steps): counts as many more; an error where the limit is passed.
int count_steps(lua_State* L);

}  // namespace pushdown
