// Calls of functions of the library in Lua, pushdown.NAME (scripts/lib).
#pragma once
#include "bindings/binder/script_call.h"
#include "bindings/binder/value.h"

namespace pushdown {

// Pushes the module, or a function of it.
void push_library(lua_State* L, const char* module, const char* function = nullptr);
// Calls a function and leaves `results` values on the stack.
template <class... A>
void call_library(lua_State* L, const char* module, const char* function, int results,
                  const A&... arguments) {
  push_library(L, module, function);
  (Value<A>::push(L, arguments), ...);
  call_lua(L, sizeof...(A), results);
}

// Calls a function with what `push` leaves on the stack, without results.
// Returns why the call failed, or nothing. An interrupt is passed on to the caller.
std::optional<std::string> try_library(lua_State* L, const char* module, const char* function,
                                       const std::function<int()>& push);

}  // namespace pushdown
