// Ctrl-C. The shell keeps an atomic flag and stores its address in the Lua registry. Long C++ work
// receives a function that polls the flag, and stops with the results that it has.
#pragma once
#include <atomic>
#include <functional>
#include <lua.hpp>

#include "base/stopping.h"

namespace pushdown {

// Finds the flag of the shell. The module calls it once, when it is opened.
void find_interrupt_flag(lua_State* L);
// The flag that every bound function passes to the core (base/stopping.h); null without the shell.
const StopFlag* interrupt_flag();

// Returns a function that is true once the user has asked to stop, and always false without the
// shell (plain luajit). It may be called from any thread, also after the call in which it was made.
std::function<bool()> interrupt_check(lua_State* L);
// Throws std::runtime_error "interrupted" if the user has asked to stop.
void stop_if_interrupted(lua_State* L);

}  // namespace pushdown
