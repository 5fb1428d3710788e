#include "bindings/session/drawing.h"

#include "bindings/binder/library.h"

namespace pushdown {

Results draw(lua_State* L, const char* kind, const char* field, const Any& object,
             const std::optional<PathText>& path) {
  push_library(L, "pushdown.plot", kind);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, object.index);
  lua_setfield(L, -2, field);
  if (path) {
    Value<std::string>::push(L, *path);
    lua_setfield(L, -2, "path");
  }
  call_lua(L, 1, 1);
  return {1};
}

}  // namespace pushdown
