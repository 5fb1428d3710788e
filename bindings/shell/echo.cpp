#include "bindings/shell/echo.h"

#include "bindings/shell/terminal_mode.h"

namespace pushdown {
namespace {

// Calls its upvalue in the mode in which the terminal was found. After an error that mode remains
// until the next entry.
int call_with_echo(lua_State* L) {
  const auto mode = terminal_mode();
  if (mode == TerminalMode::quiet) set_terminal(TerminalMode::found);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  set_terminal(mode);
  // The function that io.lines returns reads, too.
  if (lua_toboolean(L, lua_upvalueindex(2)) != 0 && lua_isfunction(L, 1)) {
    lua_pushvalue(L, 1);
    lua_pushcclosure(L, call_with_echo, 1);
    lua_replace(L, 1);
  }
  return lua_gettop(L);
}

// Replaces a field of the table on top.
void replace_field(lua_State* L, const char* name, bool returns_reader = false) {
  lua_getfield(L, -1, name);
  lua_pushboolean(L, returns_reader ? 1 : 0);
  lua_pushcclosure(L, call_with_echo, 2);
  lua_setfield(L, -2, name);
}

}  // namespace

void echo_in_readers(lua_State* L) {
  lua_getglobal(L, "os");
  replace_field(L, "execute");
  lua_getglobal(L, "io");
  replace_field(L, "popen");
  replace_field(L, "read");
  replace_field(L, "lines", true);
  lua_getfield(L, -1, "stdin");
  if (lua_getmetatable(L, -1) != 0) {
    lua_getfield(L, -1, "__index");
    replace_field(L, "read");
    replace_field(L, "lines", true);
    lua_pop(L, 2);
  }
  lua_pop(L, 3);
}

}  // namespace pushdown
