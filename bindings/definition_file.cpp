#include "bindings/definition_file.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <set>

#include "base/check.h"
#include "base/stopping.h"
#include "bindings/bind.h"
#include "bindings/input_path.h"
#include "bindings/inputs.h"
#include "bindings/options.h"
#include "bindings/sandbox.h"
#include "bindings/session.h"
#include "grammar/utf8.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kLargestFile = 16 << 20;

struct KindWords {
  const char *load, *noun, *key;
  std::vector<const char*> endings;  // of texts in the kind's own notation
};
const KindWords& words(Definition::Kind kind) {
  static const KindWords grammar{
      "grammar.load", "grammar", "grammar", {".txt", ".pcfg", ".cfg", ".scfg", ".itg"}};
  static const KindWords automaton{"pda.load", "pushdown automaton", "automaton", {".pda"}};
  return kind == Definition::grammar ? grammar : automaton;
}
Definition::Kind other(Definition::Kind kind) {
  return kind == Definition::grammar ? Definition::automaton : Definition::grammar;
}

std::vector<fs::path> folders(lua_State* L) {
  return {session(L).root / "grammars", fs::path("grammars")};
}

std::vector<fs::path> hint_folders(lua_State* L) {
  return {session(L).root / "scripts" / "hints", fs::path("hints")};
}

// A hint of that name; an empty path where there is none.
fs::path find_hint(lua_State* L, const std::string& name) {
  std::error_code ignored;
  for (const auto& folder : hint_folders(L))
    for (const auto* ending : {".lua", ".pda"})
      if (const auto path = folder / (name + ending); fs::is_regular_file(path, ignored))
        return path;
  return {};
}

bool is_hint(lua_State* L, const fs::path& path) {
  for (const auto& folder : hint_folders(L))
    if (absolute_input(path).string().starts_with(absolute_input(folder).string() + "/"))
      return true;
  return false;
}

bool is_path(const std::string& name) {
  if (name.find('/') != name.npos || name.ends_with(".lua")) return true;
  for (const auto kind : {Definition::grammar, Definition::automaton})
    for (const auto* ending : words(kind).endings)
      if (name.ends_with(ending)) return true;
  return false;
}

[[noreturn]] void wrong_kind(Definition::Kind wanted, const std::string& name) {
  const auto& real = words(other(wanted));
  fail(words(wanted).load, "'{}' is a {}, not a {}; it is loaded by pd.{}", name, real.noun,
       words(wanted).noun, real.load);
}

// What a definition file says about its options.
std::vector<OptionSpec> declared_options(const Json& list) {
  const auto number_or = [](const Json& row, const char* key, double fallback) {
    return row.contains(key) ? row[key].get<double>() : fallback;
  };
  std::vector<OptionSpec> specs;
  for (const auto& row : list) {
    OptionSpec spec;
    spec.name = row.value("name", "");
    spec.doc = row.value("doc", "");
    spec.default_value = row.value("default", Json());
    if (spec.default_value.is_boolean()) {
      spec.type = OptionSpec::Type::boolean;
    } else if (spec.default_value.is_number()) {
      spec.type =
          row.value("integer", false) ? OptionSpec::Type::integer : OptionSpec::Type::number;
    } else if (!spec.default_value.is_string()) {
      fail("grammar", "the default of option '{}' must be a number, a text, true or false",
           spec.name);
    }
    for (const auto& choice : row.value("choices", Json::array()))
      spec.choices.push_back(choice.get<std::string>());
    spec.minimum = number_or(row, "minimum", spec.minimum);
    spec.maximum = number_or(row, "maximum", spec.maximum);
    specs.push_back(std::move(spec));
  }
  return specs;
}

Json resolve(const std::string& where, const Json& specs, const Json& given) {
  return resolve_options(where, declared_options(specs), given);
}

// What the file declares, of either kind.
Json run_file(lua_State* L, Definition::Kind kind, const fs::path& path, const Json& given) {
  const auto text = read_definition(L, kind, path);
  if (const auto byte = find_invalid_utf8(text); byte && !text.starts_with('\033')) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(*byte), '\n');
    fail(words(kind).load, "{}:{}: the file is not UTF-8 (byte 0x{:02x})", path.string(), line,
         static_cast<unsigned char>(text[*byte]));
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.grammar");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "collect");
  lua_remove(L, -2);
  Value<std::string>::push(L, text);
  Value<std::string>::push(L, path.string());
  Value<Json>::push(L, given.is_null() ? Json::object() : given);
  lua_pushcfunction(L, &thunk<&resolve>);
  lua_pushcfunction(L, &run_limited);
  lua_pushcfunction(L, &count_steps);
  lua_call(L, 6, 2);
  if (lua_isnil(L, -2)) {
    const auto message = Value<std::string>::get(L, lua_gettop(L));
    lua_pop(L, 2);
    fail(words(kind).load, "{}", message);
  }
  auto spec = Value<Json>::get(L, lua_gettop(L) - 1);
  lua_pop(L, 2);
  return spec;
}

bool is_automaton(const Json& spec) { return spec.value("kind", "") == "automaton"; }

// The names of Lua that the text mentions, those in comments and strings left out.
std::set<std::string> names_in(std::string_view text) {
  std::set<std::string> names;
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  };
  // The end of the long bracket that begins at `at`, or `at` where there is none.
  const auto long_end = [&](std::size_t at) {
    auto last = at + 1;
    while (last < text.size() && text[last] == '=') ++last;
    if (text[at] != '[' || last >= text.size() || text[last] != '[') return at;
    const auto close = "]" + std::string(last - at - 1, '=') + "]";
    const auto found = text.find(close, last + 1);
    return found == text.npos ? text.size() : found + close.size();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.substr(at).starts_with("--")) {
      at += 2;
      if (const auto end = at < text.size() ? long_end(at) : at; end != at)
        at = end;
      else
        at = std::min(text.find('\n', at), text.size());
    } else if (c == '"' || c == '\'') {
      for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at)
        if (text[at] == '\\') ++at;
      ++at;
    } else if (const auto end = long_end(at); end != at) {
      at = end;
    } else if (is_name(c)) {
      const auto first = at;
      while (at < text.size() && is_name(text[at])) ++at;
      names.insert(std::string(text.substr(first, at - first)));
    } else {
      ++at;
    }
  }
  return names;
}

// The names of the files of a kind. Nothing is run: which words a file has says what it describes,
// as it does when the file is loaded.
enum class FileKind { grammar, synchronous, automaton };
std::vector<std::string> names_of_files(lua_State* L, FileKind wanted) {
  std::set<std::string> names;
  std::error_code ignored;
  const StopCheck stop;
  for (const auto& folder : folders(L))
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      stop();
      std::error_code none;
      if (entry.path().extension() != ".lua" || !entry.is_regular_file(none)) continue;
      std::set<std::string> mentioned;
      if (entry.file_size(none) <= kLargestFile) {
        std::ifstream stream(entry.path(), std::ios::binary);
        mentioned = names_in(std::string{std::istreambuf_iterator<char>(stream), {}});
      }
      const FileKind kind = mentioned.contains("transition")    ? FileKind::automaton
                            : mentioned.contains("synchronous") ? FileKind::synchronous
                                                                : FileKind::grammar;
      if (kind == wanted) names.insert(entry.path().stem());
    }
  return {names.begin(), names.end()};
}

}  // namespace

std::vector<std::string> definition_names(lua_State* L, Definition::Kind kind) {
  if (kind == Definition::automaton) return names_of_files(L, FileKind::automaton);
  auto names = names_of_files(L, FileKind::grammar);
  const auto more = names_of_files(L, FileKind::synchronous);
  names.insert(names.end(), more.begin(), more.end());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> grammar_names(lua_State* L, bool synchronous) {
  return names_of_files(L, synchronous ? FileKind::synchronous : FileKind::grammar);
}

std::vector<std::string> hint_names(lua_State* L) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& folder : hint_folders(L))
    for (const auto& entry : fs::recursive_directory_iterator(folder, ignored)) {
      const auto ending = entry.path().extension();
      if (ending != ".lua" && ending != ".pda") continue;
      names.insert(entry.path().lexically_relative(folder).replace_extension().generic_string());
    }
  return {names.begin(), names.end()};
}

namespace {

// Says so where a name is that of a folder of hints: those for a grammar have its name.
void check_group(lua_State* L, Definition::Kind kind, const std::string& name) {
  if (kind != Definition::automaton) return;
  std::vector<std::string> inside;
  for (const auto& hint : hint_names(L))
    if (hint.starts_with(name + "/")) inside.push_back(hint);
  check(inside.empty(), words(kind).load, "'{}' has several hints: {}", name, quoted_list(inside));
}

}  // namespace

fs::path find_definition(lua_State* L, Definition::Kind kind, const std::string& name) {
  if (kind == Definition::automaton)
    if (auto hint = find_hint(L, name); !hint.empty()) return hint;
  // A name with a slash and no ending can be a hint that is not there.
  if (kind == Definition::automaton && name.find('/') != name.npos &&
      !fs::path(name).has_extension() && !fs::exists(name)) {
    const auto names = hint_names(L);
    const auto near = nearest_names(name, names);
    fail(words(kind).load, "there is no file or hint '{}'{}; the hints are {}", name,
         near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
  }
  if (is_path(name)) return name;
  std::error_code ignored;
  for (const auto& folder : folders(L))
    if (const auto path = folder / (name + ".lua"); fs::is_regular_file(path, ignored)) return path;
  check_group(L, kind, name);
  const auto names = definition_names(L, kind);
  const auto near = nearest_names(name, names);
  fail(words(kind).load, "there is no {} '{}'{}; there are {}{}", words(kind).noun, name,
       near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names),
       kind == Definition::automaton
           ? ", and the hints of pd.pda.hints(); a file is named with its ending, .lua or .pda"
           : "");
}

std::string read_definition(lua_State* L, Definition::Kind kind, const fs::path& named) {
  const fs::path path = input_path(named);
  // A .txt may be either.
  for (const auto* ending : words(other(kind)).endings)
    if (path.extension() == ending && path.extension() != ".txt") wrong_kind(kind, path.string());
  std::error_code ignored;
  // A pipe or a device might never end.
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored) &&
      !fs::is_directory(path, ignored))
    fail_environment(words(kind).load, "'{}' is no file", path.string());
  std::ifstream stream(path, std::ios::binary);
  if (!stream || fs::is_directory(path, ignored))
    fail_environment(words(kind).load, "cannot read the {} file '{}'", words(kind).key,
                     path.string());
  if (const auto size = fs::file_size(path, ignored); size > kLargestFile)
    fail(words(kind).load, "'{}' has {} bytes; a {} file may have {}", path.string(), size,
         words(kind).key, kLargestFile);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) fail_environment(words(kind).load, "cannot read '{}'", path.string());
  note_input(L, is_hint(L, named) ? "hint" : words(kind).key, named, text);
  return text;
}

Json run_definition(lua_State* L, Definition::Kind kind, const fs::path& path, const Json& given) {
  auto spec = run_file(L, kind, path, given);
  if (is_automaton(spec) != (kind == Definition::automaton)) {
    check_group(L, kind, path.stem().string());
    wrong_kind(kind, path.stem().string());
  }
  spec.erase("kind");
  if (!spec.contains("name")) spec["name"] = path.stem().string();
  resolve_options(std::string(words(kind).key) + " " + text_entry("grammar", spec, "name"),
                  declared_options(spec.value("options", Json::array())), given);
  return spec;
}

std::string describe_definition(lua_State* L, Definition::Kind kind, const std::string& name) {
  const auto path = find_definition(L, kind, name);
  if (path.extension() != ".lua")
    return fmt::format("{}: a {} as text, without options", path.string(), words(kind).noun);
  const auto spec = run_definition(L, kind, path, Json::object());
  std::string text = path.stem().string() + ": " + text_entry("grammar", spec, "doc");
  for (const auto& option : declared_options(spec.value("options", Json::array())))
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
