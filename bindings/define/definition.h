// Stacks, controllers and objectives that a script defines by Lua functions. They are rows of the
// session's registries (Session::kinds), like the built-in kinds. Objects made from a row keep its
// functions; a new definition of the same name replaces the row for all objects that are made
// later.
#pragma once
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/define/script_value.h"
#include "train/kinds.h"

namespace pushdown {

// The rows of the session's registries, including those that scripts have added.
TrainingKinds& session_kinds(lua_State* L);

// The parts that every definition has, read from its table: name, doc, options, and the place of
// the definition. The name must be new, or that of an earlier definition in `rows`; the built-in
// names in `own` cannot be used.
struct DefinitionOptions {
  std::string name, doc = "Defined by a script.";
  LuaOption options;
  static OptionRows rows();
};
struct DefinitionHead {
  OriginPtr origin;
  std::string where;  // "stack.mine"
  std::string doc;
  std::vector<OptionSpec> options;
};
DefinitionHead read_head(lua_State* L, DefinitionOptions& given, const char* registry,
                         const std::vector<std::string>& own);
// Returns the function at the key. Raises an error if it is missing.
ScriptFunction read_function(lua_State* L, LuaOption& option, const DefinitionHead& head,
                             const char* key, const char* signature);
// Returns the rows at the key, or none.
ScriptRows read_rows(lua_State* L, LuaOption& option, const DefinitionHead& head, const char* key,
                     const char* what, const std::vector<std::string>& places,
                     const std::vector<std::string>& names);
// Appends the row, or replaces the row with its name.
template <class Row>
void put_row(std::vector<Row>& rows, Row row) {
  for (Row& old : rows)
    if (old.name == row.name) {
      old = std::move(row);
      return;
    }
  rows.push_back(std::move(row));
}
// Adds the kind to the help of the module: "pd.stack.mine".
void document_kind(lua_State* L, const std::string& module, const DefinitionHead& head);
// Returns " (defined in own.lua:12)", or "" for a built-in row.
std::string origin_text(lua_State* L, const char* registry, const std::string& kind);

struct StackOptions : DefinitionOptions {
  LuaOption initial, update, reading, actions, parameters, depth;
  std::optional<Json> no_op;
  static OptionRows rows();
};
struct ControllerOptions : DefinitionOptions {
  LuaOption initial, step, parameters;
  static OptionRows rows();
};
struct ObjectiveOptions : DefinitionOptions {
  LuaOption losses;
  bool needs_next_symbol = false, needs_next_sets = false;
  static OptionRows rows();
};
std::string define_stack(lua_State* L, StackOptions given);
std::string define_controller(lua_State* L, ControllerOptions given);
std::string define_objective(lua_State* L, ObjectiveOptions given);

}  // namespace pushdown
