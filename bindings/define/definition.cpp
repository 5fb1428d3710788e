// The common parts of the definitions of all registries.
#include "bindings/define/definition.h"

#include <fstream>
#include <sstream>

#include "base/utf8.h"
#include "bindings/binder/option_rows.h"
#include "bindings/session/input_path.h"
#include "bindings/session/state.h"

namespace pushdown {
namespace {

constexpr const char* kOriginsKey = "pushdown.origins";  // "stack.mine" -> "own.lua:12"

std::string definition_text_of(const std::string& path) {
  std::ifstream file(input_path(path), std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

bool good_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == name.npos &&
         name[0] >= 'a';
}

}  // namespace

TrainingKinds& session_kinds(lua_State* L) {
  auto& kinds = session(L).kinds;
  if (kinds == nullptr) kinds = std::make_shared<TrainingKinds>();
  return *kinds;
}

OptionRows DefinitionOptions::rows() {
  using Self = DefinitionOptions;
  return declare<Self>(
      {{"name", &Self::name, "name of the kind: lower-case letters, digits and _", required},
       {"doc", &Self::doc, "description in one line, for help"},
       {"options", &Self::options,
        "options of the kind, each { name, default, meaning, minimum = ... }",
        TypeText{"list of tables"}}});
}

DefinitionHead read_head(lua_State* L, DefinitionOptions& given, const char* registry,
                         const std::vector<std::string>& own) {
  const auto defining = fmt::format("{}.define", registry);
  const auto& name = given.name;
  check(good_name(name), defining,
        "the name must consist of lower-case letters, digits and _, at most 64, got '{}'", name);
  check(std::find(own.begin(), own.end(), name) == own.end(), defining,
        "'{}' is a built-in kind; choose another name", name);
  DefinitionHead head;
  head.where = fmt::format("{}.{}", registry, name);
  head.doc = given.doc;
  check(!find_invalid_utf8(head.doc) && head.doc.find('\n') == head.doc.npos, head.where,
        "doc must be one line of UTF-8 text");
  given.options.push(L);
  if (!lua_isnil(L, -1)) head.options = read_option_specs(L, lua_gettop(L), head.where);
  for (OptionSpec& spec : head.options) {
    if (spec.name == "hidden") spec.in_small(4);
    if (spec.name == "size") spec.in_small(3);
  }
  lua_pop(L, 1);
  const auto position = calling_script(L);
  Origin origin{registry, name, position.file, position.line, definition_text_of(position.file)};
  head.origin = std::make_shared<const Origin>(std::move(origin));
  return head;
}

ScriptFunction read_function(lua_State* L, LuaOption& option, const DefinitionHead& head,
                             const char* key, const char* signature) {
  option.push(L);
  if (!lua_isfunction(L, -1))
    fail(head.where, "expected {} = function{}, got {}", key, signature,
         type_text(L, lua_gettop(L)));
  auto function = script_function(L, lua_gettop(L), head.where + "." + key);
  lua_pop(L, 1);
  return function;
}

ScriptRows read_rows(lua_State* L, LuaOption& option, const DefinitionHead& head, const char* key,
                     const char* what, const std::vector<std::string>& places,
                     const std::vector<std::string>& names) {
  option.push(L);
  ScriptRows rows;
  if (!lua_isnil(L, -1))
    rows = ScriptRows(L, lua_gettop(L), head.where + "." + key, what, places, names);
  lua_pop(L, 1);
  return rows;
}

void document_kind(lua_State* L, const std::string& module, const DefinitionHead& head) {
  const auto& origin = *head.origin;
  const auto where =
      origin.file.empty() ? "at a prompt" : fmt::format("in {}:{}", origin.file, origin.line);
  lua_getfield(L, LUA_REGISTRYINDEX, kOriginsKey);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_pushvalue(L, -1);
    lua_setfield(L, LUA_REGISTRYINDEX, kOriginsKey);
  }
  lua_pushstring(L, where.c_str());
  lua_setfield(L, -2, head.where.c_str());
  lua_pop(L, 1);

  std::string options;
  for (const auto& spec : head.options) options += ", " + spec.name + "=";
  push_docs(L);
  lua_pushstring(
      L, fmt::format("{{kind='{}'{}}}  {} (Defined {}.)", origin.name, options, head.doc, where)
             .c_str());
  lua_setfield(L, -2, fmt::format("{}.{}", module, origin.name).c_str());
  lua_pop(L, 1);
}

std::string origin_text(lua_State* L, const char* registry, const std::string& kind) {
  lua_getfield(L, LUA_REGISTRYINDEX, kOriginsKey);
  std::string text;
  if (lua_istable(L, -1)) {
    lua_getfield(L, -1, fmt::format("{}.{}", registry, kind).c_str());
    if (const char* where = lua_tostring(L, -1)) text = fmt::format(" (defined {})", where);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return text;
}

}  // namespace pushdown
