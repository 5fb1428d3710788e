#include "bindings/shell/locals.h"

#include <algorithm>
#include <cstring>

#include "bindings/shell/interpreter.h"

namespace pushdown {
namespace {

constexpr const char* kProtectedKey = "pushdown.protected_globals";
constexpr const char* kAnnouncedKey = "pushdown.announced_locals";

// Returns whether the set with this key in the registry contains the name.
bool has_name(lua_State* L, const char* key, const char* name) {
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  bool found = false;
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, name);
    found = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return found;
}

}  // namespace

void protect_globals(lua_State* L) {
  lua_newtable(L);
  const int names = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, LUA_GLOBALSINDEX) != 0; lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_rawset(L, names);
  }
  for (const char* name : {"pd", "arg"}) {  // defined later
    lua_pushboolean(L, 1);
    lua_setfield(L, names, name);
  }
  lua_setfield(L, LUA_REGISTRYINDEX, kProtectedKey);
}

void announce_locals(lua_State* L, const std::vector<std::string>& names) {
  lua_newtable(L);
  for (const auto& name : names) {
    lua_pushboolean(L, 1);
    lua_setfield(L, -2, name.c_str());
  }
  lua_setfield(L, LUA_REGISTRYINDEX, kAnnouncedKey);
}

std::vector<std::string> lost_locals(lua_State* L) {
  std::vector<std::string> names;
  lua_getfield(L, LUA_REGISTRYINDEX, kAnnouncedKey);
  for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1)) {
    const char* name = lua_tostring(L, -2);
    // `local pd = require 'pushdown'` of a script changes nothing.
    if (std::strcmp(name, "pd") != 0 && has_name(L, kProtectedKey, name)) names.emplace_back(name);
  }
  lua_pop(L, 1);
  std::sort(names.begin(), names.end());
  return names;
}

void keep_locals(lua_State* L, int level) {
  lua_Debug frame;
  if (lua_getstack(L, level, &frame) == 0 || lua_getinfo(L, "S", &frame) == 0) return;
  if (std::strcmp(frame.what, "main") != 0 || std::strcmp(frame.source, kPromptChunk) != 0) return;
  luaL_checkstack(L, 4, "keeping the locals of an entry");
  for (int i = 1;; ++i) {
    const char* name = lua_getlocal(L, &frame, i);
    if (!name) break;
    if (has_name(L, kAnnouncedKey, name) && !has_name(L, kProtectedKey, name)) {
      lua_pushstring(L, name);
      lua_insert(L, -2);
      lua_rawset(L, LUA_GLOBALSINDEX);
    } else {
      lua_pop(L, 1);
    }
  }
}

}  // namespace pushdown
