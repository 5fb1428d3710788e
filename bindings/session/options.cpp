// pd._options: the options of functions and scripts in Lua, for the library in scripts/lib.
#include "bindings/binder/bind.h"
#include "bindings/binder/option_rows.h"
#include "bindings/session/state.h"

namespace pushdown {
namespace {

// Lua keeps the options of a function in a userdata.
int destroy_options(lua_State* L) {
  std::destroy_at(static_cast<ScriptOptions*>(lua_touserdata(L, 1)));
  return 0;
}

// Pushes the table: full name -> options.
void push_declared(lua_State* L) { push_registry_table(L, "pushdown.script_options"); }

int resolve_call(lua_State* L) {
  return guarded(L, [](lua_State* L) {
    const auto& options = *static_cast<ScriptOptions*>(lua_touserdata(L, lua_upvalueindex(3)));
    const auto where = Value<std::optional<std::string>>::get(L, 2);
    push_resolved(L, 1, options, where.value_or(running_function(L)));
    return 1;
  });
}

Results declare_options(lua_State* L, const std::string& name, Rest lists) {
  const std::string full_name = "pd." + name;
  ScriptOptions options;
  for (int i = lists.first; i < lists.first + lists.count; ++i)
    for (auto& option : read_script_options(L, i, name)) options.push_back(std::move(option));
  push_declared(L);
  lua_pushstring(L, full_name.c_str());
  lua_pushliteral(L, "");
  new (lua_newuserdata(L, sizeof options)) ScriptOptions(std::move(options));
  lua_createtable(L, 0, 1);
  lua_pushcfunction(L, destroy_options);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, -5, full_name.c_str());
  lua_pushcclosure(L, resolve_call, 3);
  return {1};
}

Json option_rows(lua_State* L, const std::string& where, Any rows) {
  return told(read_script_options(L, rows.index, where));
}

Results from_text(lua_State* L, const std::string& where, Any rows, const std::string& text) {
  const auto options = read_script_options(L, rows.index, where);
  try {
    push_from_text(L, options.front(), text);
    return {1};
  } catch (const std::invalid_argument& error) {
    lua_pushnil(L);
    Value<std::string>::push(L, error.what());
    return {2};
  }
}

}  // namespace

std::optional<Json> options_in_lua(lua_State* L, const std::string& full_name) {
  push_declared(L);
  lua_getfield(L, -1, full_name.c_str());
  const auto* options = static_cast<ScriptOptions*>(lua_touserdata(L, -1));
  lua_pop(L, 2);
  return options == nullptr ? std::nullopt : std::optional(told(*options));
}

void bind_options(lua_State* L) {
  Module(L, "_options", "Options that Lua code declares as rows, see option_rows.h.")
      .def<&declare_options>(
          "declare(name, rows, ...) -> function  Declares the options of the function pd.NAME and "
          "returns a function resolve(given, where) that checks a table of them and returns a "
          "table with the defaults of the others.")
      .def<&option_rows>(
          "rows(where, rows) -> table  Returns the rows in the form of pd.options, with the "
          "entries for a command line. `where` begins the messages about wrong rows.")
      .def<&from_text>(
          "from_text(where, row, text) -> value  Returns the value of an option that a command "
          "line has as text, or nil and the reason why it is wrong.");
}

}  // namespace pushdown
