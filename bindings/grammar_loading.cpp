// Loading grammars for pd.grammar: grammar files, text, and tables of rules.
#include "base/check.h"
#include "bindings/bind.h"
#include "bindings/definition_file.h"
#include "bindings/grammar.h"
#include "bindings/log.h"
#include "bindings/options.h"
#include "grammar/conditioned_removal.h"
#include "grammar/text.h"

namespace pushdown {
namespace {

// The grammar, its warnings logged.
Grammar built(const GrammarSource& source) {
  Grammar grammar(source);
  for (const auto& warning : grammar.warnings()) log_message("warn", warning);
  return grammar;
}

std::vector<std::string> grammar_names(lua_State* L) {
  return definition_names(L, Definition::grammar);
}

std::string describe_grammar(lua_State* L, const std::string& name) {
  return describe_definition(L, Definition::grammar, name);
}

void add_rules(GrammarSource& source, const Json& row) {
  check(row.is_object() && row.contains("text") && row["text"].is_string(), "grammar",
        "a rule is a table {{text = , weight = , origin = }}");
  const auto text = row["text"].get<std::string>();
  const auto origin = text_entry("grammar", row, "origin");
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
  check_keys("grammar.build", spec,
             {"name", "doc", "start", "symbols", "rules", "options", "unambiguous",
              "conditioned_removal"});
  GrammarSource source;
  source.name = text_entry("grammar", spec, "name");
  source.start = text_entry("grammar", spec, "start");
  source.unambiguous = spec.value("unambiguous", Json(false)) == Json(true);
  source.symbols = text_list("grammar", spec, "symbols");
  for (const auto& row : spec["rules"]) add_rules(source, row);
  if (spec.value("conditioned_removal", Json(false)) == Json(true))
    source = remove_rules_conditioned(source);
  return built(source);
}

Grammar load(lua_State* L, const std::string& name, const std::optional<Json>& options) {
  const auto path = find_definition(L, Definition::grammar, name);
  const Json given = options.value_or(Json::object());
  if (path.extension() != ".lua") {
    resolve_options("grammar.load", {}, given);  // a text has no options
    return built(parse_grammar(read_definition(Definition::grammar, path), path.string()));
  }
  return build(run_definition(L, Definition::grammar, path, given));
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
