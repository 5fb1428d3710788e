#include "bindings/binder/library.h"

#include "bindings/binder/interrupt.h"

namespace pushdown {

void push_library(lua_State* L, const char* module, const char* function) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  call_lua(L, 1, 1);
  if (function == nullptr) return;
  lua_getfield(L, -1, function);
  lua_remove(L, -2);
}

std::optional<std::string> try_library(lua_State* L, const char* module, const char* function,
                                       const std::function<int()>& push) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 8, "calling the library");
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  bool done = try_lua(L, 1, 1);
  if (done) {
    lua_getfield(L, -1, function);
    done = try_lua(L, push(), 0);
  }
  const char* message = done ? nullptr : lua_tostring(L, -1);
  const std::string reason = message != nullptr ? message : "an error";
  lua_settop(L, top);
  if (done) return std::nullopt;
  stop_if_interrupted(L);
  return reason;
}

}  // namespace pushdown
