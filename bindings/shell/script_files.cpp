#include "bindings/shell/script_files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "bindings/binder/registry_keys.h"
#include "bindings/session/input_path.h"

namespace pushdown {
namespace {

constexpr const char* kEntries = "entries";

// Returns whether a string field of the table on top of the stack is this text.
bool has_field(lua_State* L, const char* key, std::string_view text) {
  lua_getfield(L, -1, key);
  std::size_t size = 0;
  const char* value = lua_tolstring(L, -1, &size);
  const bool same = value != nullptr && std::string_view(value, size) == text;
  lua_pop(L, 1);
  return same;
}

void note_script(lua_State* L, const std::string& path, std::string_view text) {
  luaL_checkstack(L, 4, "noting a script");
  push_registry_list(L, kScriptsKey);
  const int count = static_cast<int>(lua_objlen(L, -1));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, -1, i);
    const bool known = has_field(L, "path", path) && has_field(L, "text", text);
    lua_pop(L, 1);
    if (known) return lua_pop(L, 1);
  }
  lua_newtable(L);
  set_field(L, "role", "script");
  set_field(L, "path", path);
  set_field(L, "text", text);
  lua_rawseti(L, -2, count + 1);
  lua_pop(L, 1);
}

// Compiles a Lua file and leaves the chunk. Returns false and leaves a message if that fails.
bool load_noted(lua_State* L, const std::string& path, const char* mode) {
  std::string text;
  if (!read_script(L, path, text)) {
    lua_pushfstring(L, "cannot open %s: %s", path.c_str(), std::strerror(errno));
    return false;
  }
  const auto code = code_of(text);
  return luaL_loadbufferx(L, code.data(), code.size(), ("@" + path).c_str(), mode) == 0;
}

// Without a name, loadfile and dofile read standard input, as in Lua.
int call_replaced(lua_State* L) {
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

int load_file(lua_State* L) {
  if (lua_isnoneornil(L, 1)) return call_replaced(L);
  const std::string path = luaL_checkstring(L, 1);
  if (!load_noted(L, path, luaL_optstring(L, 2, nullptr))) {
    lua_pushnil(L);
    lua_insert(L, -2);
    return 2;
  }
  if (!lua_isnoneornil(L, 3)) {
    lua_pushvalue(L, 3);
    lua_setfenv(L, -2);
  }
  return 1;
}

int do_file(lua_State* L) {
  if (lua_isnoneornil(L, 1)) return call_replaced(L);
  const std::string path = luaL_checkstring(L, 1);
  lua_settop(L, 0);
  if (!load_noted(L, path, nullptr)) return lua_error(L);
  lua_call(L, 0, LUA_MULTRET);
  return lua_gettop(L);
}

// package.loaders entry for modules in package.path.
int search_path(lua_State* L) {
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "searchpath");
  lua_pushvalue(L, 1);
  lua_getfield(L, -3, "path");
  lua_call(L, 2, 2);
  if (lua_isnil(L, -2)) return 1;
  const std::string path = lua_tostring(L, -2);
  if (load_noted(L, path, nullptr)) return 1;
  return luaL_error(L, "error loading module '%s' from file '%s':\n\t%s", lua_tostring(L, 1),
                    path.c_str(), lua_tostring(L, -1));
}

}  // namespace

std::string_view code_of(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (!text.starts_with('#')) return text;
  const auto end = text.find('\n');
  return end == text.npos ? std::string_view() : text.substr(end);
}

void push_registry_list(lua_State* L, const char* key) {
  lua_getfield(L, LUA_REGISTRYINDEX, key);
  if (lua_istable(L, -1)) return;
  lua_pop(L, 1);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, key);
}

void set_field(lua_State* L, const char* key, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
  lua_setfield(L, -2, key);
}

bool read_script(lua_State* L, const std::string& path, std::string& text) {
  const bool standard_input = path == "-";
  std::FILE* file = standard_input ? stdin : std::fopen(input_path(path).c_str(), "rb");
  if (file == nullptr) return false;
  errno = 0;
  char buffer[4096];
  for (std::size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
  const int error = errno;
  const bool failed = std::ferror(file) != 0;
  if (!standard_input) std::fclose(file);
  errno = error;
  if (!failed) note_script(L, standard_input ? "stdin" : absolute_input(path).string(), text);
  return !failed;
}

void note_entry(lua_State* L, std::string_view text) {
  luaL_checkstack(L, 6, "noting an entry");
  push_registry_list(L, kScriptsKey);
  lua_getfield(L, -1, kEntries);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    set_field(L, "role", kEntries);
    set_field(L, "path", "prompt");
    set_field(L, "text", "");
    lua_pushvalue(L, -1);
    lua_setfield(L, -3, kEntries);
    lua_pushvalue(L, -1);
    lua_rawseti(L, -3, static_cast<int>(lua_objlen(L, -3)) + 1);
  }
  lua_getfield(L, -1, "text");
  std::size_t size = 0;
  const char* before = lua_tolstring(L, -1, &size);
  std::string all(before, size);
  lua_pop(L, 1);
  set_field(L, "text", all.append(text).append("\n"));
  lua_pop(L, 2);
}

void note_scripts(lua_State* L) {
  for (const auto& [name, function] : {std::pair{"loadfile", &load_file}, {"dofile", &do_file}}) {
    lua_getglobal(L, name);
    lua_pushcclosure(L, function, 1);
    lua_setglobal(L, name);
  }
  lua_getglobal(L, "package");
  lua_getfield(L, -1, "loaders");
  lua_pushcfunction(L, search_path);
  lua_rawseti(L, -2, 2);
  lua_pop(L, 2);
}

}  // namespace pushdown
