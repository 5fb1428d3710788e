// Ctrl-C. The shell keeps an atomic flag and leaves its address in the Lua registry; long C++ work
// polls it through a function that it is given and stops with what it has.
#pragma once
#include <atomic>
#include <functional>
#include <lua.hpp>

namespace pushdown {

// True once the user asked to stop. Without the shell (plain luajit) always false. The function may
// be called from any thread, and after the call during which it was made.
std::function<bool()> interrupt_check(lua_State* L);
// Throws std::runtime_error "interrupted" if the user asked to stop.
void stop_if_interrupted(lua_State* L);

}  // namespace pushdown
