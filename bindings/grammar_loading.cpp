// Loading grammars for pd.grammar: grammar files, text, and tables of rules.
#include <filesystem>
#include <fstream>
#include <set>

#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/grammar.h"
#include "bindings/log.h"
#include "bindings/options.h"
#include "bindings/session.h"
#include "grammar/conditioned_removal.h"
#include "grammar/text.h"
#include "grammar/utf8.h"

namespace pushdown {
namespace {

namespace fs = std::filesystem;

// The grammar, its warnings logged.
Grammar built(const GrammarSource& source) {
  Grammar grammar(source);
  for (const auto& warning : grammar.warnings()) log_message("warn", warning);
  return grammar;
}

std::vector<fs::path> grammar_folders(lua_State* L) {
  return {session(L).root / "grammars", fs::path("grammars")};
}

std::vector<std::string> grammar_names(lua_State* L) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& folder : grammar_folders(L))
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().extension() == ".lua") names.insert(entry.path().stem());
  return {names.begin(), names.end()};
}

bool is_path(const std::string& name) {
  if (name.find('/') != name.npos) return true;
  for (const auto* ending : {".lua", ".txt", ".pcfg", ".cfg"})
    if (name.ends_with(ending)) return true;
  return false;
}

fs::path find_grammar(lua_State* L, const std::string& name) {
  if (is_path(name)) return name;
  std::error_code ignored;
  for (const auto& folder : grammar_folders(L))
    if (const auto path = folder / (name + ".lua"); fs::is_regular_file(path, ignored)) return path;
  const auto names = grammar_names(L);
  const auto near = nearest_names(name, names);
  fail("grammar.load", "there is no grammar '{}'{}; the grammars are {}", name,
       near.empty() ? "" : ", did you mean " + near + "?", quoted_list(names));
}

std::string read_text(const fs::path& path) {
  std::error_code ignored;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || fs::is_directory(path, ignored))
    fail_environment("grammar.load", "cannot read the grammar file '{}'", path.string());
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (stream.bad()) fail_environment("grammar.load", "cannot read '{}'", path.string());
  return text;
}

// What a grammar file says about its options.
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

Json run_grammar_file(lua_State* L, const fs::path& path, const Json& given) {
  const auto text = read_text(path);
  if (const auto byte = find_invalid_utf8(text); byte && !text.starts_with('\033')) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(*byte), '\n');
    fail("grammar.load", "{}:{}: the file is not UTF-8 (byte 0x{:02x})", path.string(), line,
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
  lua_call(L, 4, 2);
  if (lua_isnil(L, -2)) fail("grammar.load", "{}", Value<std::string>::get(L, -1));
  auto spec = Value<Json>::get(L, lua_gettop(L) - 1);
  lua_pop(L, 2);
  return spec;
}

std::string text_entry(const Json& table, const char* key) {
  const auto value = table.value(key, Json(""));
  check(value.is_string(), "grammar", "'{}' must be a text", key);
  return value.get<std::string>();
}

void add_rules(GrammarSource& source, const Json& row) {
  check(row.is_object() && row.contains("text") && row["text"].is_string(), "grammar",
        "a rule is a table {{text = , weight = , origin = }}");
  const auto text = row["text"].get<std::string>();
  const auto origin = text_entry(row, "origin");
  if (row.contains("weight")) {
    check(row["weight"].is_number(), "grammar", "{}: the weight of a rule must be a number",
          origin);
    auto rule = parse_rule(text, origin);
    rule.weight = row["weight"].get<double>();
    source.rules.push_back(std::move(rule));
    return;
  }
  for (auto& rule : parse_grammar(text, origin.empty() ? "rule" : origin).rules) {
    rule.origin = origin;
    source.rules.push_back(std::move(rule));
  }
}

// From what a grammar file, or the user, collected.
Grammar build(const Json& spec) {
  check(spec.is_object() && spec.contains("rules"), "grammar.build",
        "expected a table with a list of rules");
  for (const auto& [key, value] : spec.items()) {
    static const std::vector<std::string> keys{
        "name",  "doc",     "start",       "symbols",
        "rules", "options", "unambiguous", "conditioned_removal"};
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    const auto near = nearest_names(key, keys);
    fail("grammar.build", "unknown key '{}'{}", key,
         near.empty() ? "" : ", did you mean " + near + "?");
  }
  GrammarSource source;
  source.name = text_entry(spec, "name");
  source.start = text_entry(spec, "start");
  source.unambiguous = spec.value("unambiguous", Json(false)) == Json(true);
  for (const auto& symbol : spec.value("symbols", Json::array())) {
    check(symbol.is_string(), "grammar", "'symbols' must be a list of texts");
    source.symbols.push_back(symbol.get<std::string>());
  }
  for (const auto& row : spec["rules"]) add_rules(source, row);
  if (spec.value("conditioned_removal", Json(false)) == Json(true))
    source = remove_rules_conditioned(source);
  return built(source);
}

Grammar load(lua_State* L, const std::string& name, const std::optional<Json>& options) {
  const auto path = find_grammar(L, name);
  const Json given = options.value_or(Json::object());
  if (path.extension() != ".lua") {
    resolve_options("grammar.load", {}, given);  // a text has no options
    return built(parse_grammar(read_text(path), path.string()));
  }
  auto spec = run_grammar_file(L, path, given);
  if (!spec.contains("name")) spec["name"] = path.stem().string();
  resolve_options("grammar " + text_entry(spec, "name"),
                  declared_options(spec.value("options", Json::array())), given);
  return build(spec);
}

std::string describe_grammar(lua_State* L, const std::string& name) {
  const auto path = find_grammar(L, name);
  if (path.extension() != ".lua") return path.string() + ": a grammar as text, without options";
  const auto spec = run_grammar_file(L, path, Json::object());
  std::string text = path.stem().string() + ": " + text_entry(spec, "doc");
  for (const auto& option : declared_options(spec.value("options", Json::array())))
    text += "\n  " + describe(option);
  return text;
}

Grammar parse(const std::string& text) { return built(parse_grammar(text)); }

}  // namespace

void bind_grammar_loading(Module& module) {
  module
      .def<&load>("load",
                  "load(name_or_path, options) -> Grammar  A grammar of the grammars folder, a "
                  "grammar file (.lua), or a text file in NLTK's notation (.txt, .pcfg, .cfg).")
      .def<&parse>("parse", "parse(text) -> Grammar  A grammar from text in NLTK's notation.")
      .def<&build>(
          "build",
          "build{rules=, name=, start=, symbols=, unambiguous=} -> Grammar  A grammar from "
          "a list of rules {text=, weight=}.")
      .def<&grammar_names>("list", "list() -> table  The names that load() knows.")
      .def<&describe_grammar>(
          "describe", "describe(name_or_path) -> string  What a grammar is, and its options.");
}

}  // namespace pushdown
