// Ctrl-C. The shell keeps an atomic flag and leaves its address in the Lua registry; long C++ work
// polls it through a function that it is given and stops with what it has.
#pragma once
#include <atomic>
#include <functional>
#include <lua.hpp>

#include "base/stopping.h"

namespace pushdown {

// Finds the shell's flag; called once, when the module is opened.
void find_interrupt_flag(lua_State* L);
// The flag that every bound function gives the core (base/stopping.h); null without the shell.
const StopFlag* interrupt_flag();

// True once the user asked to stop. Without the shell (plain luajit) always false. The function may
// be called from any thread, and after the call during which it was made.
std::function<bool()> interrupt_check(lua_State* L);
// Throws std::runtime_error "interrupted" if the user asked to stop.
void stop_if_interrupted(lua_State* L);

}  // namespace pushdown
