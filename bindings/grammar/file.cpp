#include "bindings/grammar/file.h"

#include <algorithm>

#include "base/check.h"
#include "base/utf8.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/library.h"
#include "bindings/binder/option_rows.h"
#include "bindings/session/input_path.h"
#include "bindings/session/inputs.h"
#include "bindings/session/sandbox.h"
#include "bindings/session/state.h"
#include "pda/hint_parts.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

DefinitionFiles definition_files(lua_State* L) { return DefinitionFiles(session(L).root); }

// Checks the values of options that a definition file declares.
Json resolve(const std::string& where, const Json& rows, const Json& given) {
  for (const auto& row : rows)
    check(row.contains("default") && row["default"].is_primitive(), "grammar",
          "the default of option '{}' must be a number, a text, true or false",
          row.value("name", ""));
  return resolve_options(where, option_specs(rows, "grammar"), given);
}

// Runs the text of a file of either kind and returns its declarations.
Json run_text(lua_State* L, DefinitionKind kind, const fs::path& path, const std::string& text,
              const Json& given) {
  if (const auto byte = find_invalid_utf8(text); byte && !text.starts_with('\033')) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(*byte), '\n');
    fail(words_of(kind).load, "{}:{}: the file is not UTF-8 (byte 0x{:02x})", path.string(), line,
         static_cast<unsigned char>(text[*byte]));
  }
  push_library(L, "pushdown.grammar.words", "collect");
  Value<std::string>::push(L, text);
  Value<std::string>::push(L, path.string());
  Value<Json>::push(L, given.is_null() ? Json::object() : given);
  lua_pushcfunction(L, &thunk<&resolve>);
  lua_pushcfunction(L, &run_limited);
  lua_pushcfunction(L, &count_steps);
  call_lua(L, 6, 2);
  if (lua_isnil(L, -2)) {
    const auto message = Value<std::string>::get(L, lua_gettop(L));
    lua_pop(L, 2);
    fail(words_of(kind).load, "{}", message);
  }
  auto spec = Value<Json>::get(L, lua_gettop(L) - 1);
  lua_pop(L, 2);
  return spec;
}

bool is_automaton(const Json& spec) { return spec.value("kind", "") == "automaton"; }

// The declarations of a file of this kind.
Json declarations(lua_State* L, DefinitionKind kind, const fs::path& path, const std::string& text,
                  const Json& given) {
  auto spec = run_text(L, kind, path, text, given);
  if (is_automaton(spec) != (kind == DefinitionKind::automaton)) {
    definition_files(L).check_group(kind, path.stem().string());
    wrong_definition(kind, path.stem().string());
  }
  spec.erase("kind");
  if (!spec.contains("name")) spec["name"] = path.stem().string();
  resolve_options(std::string(words_of(kind).key) + " " + text_entry("grammar", spec, "name"),
                  option_specs(spec.value("options", Json::array()), "grammar"), given);
  return spec;
}

}  // namespace

std::vector<std::string> definition_names(lua_State* L, DefinitionKind kind) {
  return definition_files(L).names(kind);
}

std::vector<std::string> grammar_names(lua_State* L, bool synchronous) {
  return definition_files(L).grammar_names(synchronous);
}

std::vector<std::string> hint_names(lua_State* L) { return definition_files(L).hints(); }

fs::path find_definition(lua_State* L, DefinitionKind kind, const std::string& name) {
  return definition_files(L).find(kind, name);
}

std::string read_definition(lua_State* L, DefinitionKind kind, const fs::path& named) {
  auto text = read_definition_file(kind, input_path(named));
  note_input(L, definition_files(L).is_hint(named) ? "hint" : words_of(kind).key, named, text);
  return text;
}

Json run_definition(lua_State* L, DefinitionKind kind, const fs::path& path, const Json& given) {
  return declarations(L, kind, path, read_definition(L, kind, path), given);
}

std::string describe_definition(lua_State* L, DefinitionKind kind, const std::string& name) {
  const auto path = find_definition(L, kind, name);
  if (path.extension() != ".lua")
    return fmt::format("{}: a {} as text, without options", path.string(), words_of(kind).noun);
  // A description is not an input of later runs.
  const auto spec =
      declarations(L, kind, path, read_definition_file(kind, input_path(path)), Json::object());
  std::string text = path.stem().string() + ": " + text_entry("grammar", spec, "doc");
  if (const auto* part = spec.contains("parts") ? hint_part(name) : nullptr)
    text += fmt::format(": {}", part->doc);
  for (const auto& option : option_specs(spec.value("options", Json::array()), "grammar"))
    text += "\n  " + describe(option);
  return text;
}

std::string text_entry(std::string_view where, const Json& table, const char* key) {
  const auto value = table.value(key, Json(""));
  check(value.is_string(), where, "'{}' must be a text", key);
  return value.get<std::string>();
}

std::vector<std::string> text_list(std::string_view where, const Json& table, const char* key) {
  std::vector<std::string> texts;
  const auto list = table.value(key, Json::array());
  check(list.is_array() || list.empty(), where, "'{}' must be a list of texts", key);
  for (const auto& text : list) {
    check(text.is_string(), where, "'{}' must be a list of texts", key);
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

void check_keys(std::string_view where, const Json& table, const std::vector<std::string>& known) {
  for (const auto& [key, value] : table.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    const auto near = nearest_names(key, known);
    fail(where, "unknown key '{}'{}", key, near.empty() ? "" : ", did you mean " + near + "?");
  }
}

}  // namespace pushdown
