// Loading grammars for pd.grammar: grammar files, text, and tables of rules.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/classes.h"
#include "bindings/grammar/file.h"
#include "bindings/session/log.h"
#include "bindings/session/sandbox.h"
#include "grammar/ambiguity.h"
#include "grammar/conditioned_removal.h"
#include "grammar/exchange_text.h"
#include "grammar/synchronous_text.h"
#include "grammar/text.h"
#include "grammar/useless_symbols.h"

namespace pushdown {
namespace {

using AnyGrammar = std::variant<Grammar, SynchronousGrammar>;

constexpr const char* kPrune = "removes symbols that no derivation uses, instead of refusing them";

// A wrong declaration would give wrong entropies. A few milliseconds are spent on testing it with
// some short strings.
void check_promise(const Grammar& grammar) {
  constexpr int kLongest = 12, kStrings = 4;
  if (!grammar.unambiguous()) return;
  if (const auto found = find_ambiguous_string(grammar, kLongest, kStrings, 1))
    fail("grammar",
         "{}unambiguous is declared, but '{}' has more than one derivation: its probability is "
         "{:.4g}, and that of its best derivation {:.4g}; leave 'unambiguous' out, or change the "
         "rules",
         grammar.name().empty() ? "" : grammar.name() + ": ", grammar.alphabet().text(found->word),
         std::exp(found->log_probability), std::exp(found->log_best));
}

Grammar built(GrammarSource source, bool prune = false) {
  source = with_empty_right_sides(std::move(source));
  if (prune) {
    std::vector<std::string> removed;
    source = without_useless_symbols(std::move(source), removed);
    for (const auto& symbol : removed) log_message("info", "pruned: " + symbol);
  }
  Grammar grammar = warned(Grammar(source));
  check_promise(grammar);
  return grammar;
}
SynchronousGrammar built(const SynchronousSource& source) {
  return warned(SynchronousGrammar(source));
}

std::vector<std::string> list_grammars(lua_State* L, const std::optional<std::string>& kind) {
  check(!kind || *kind == "context_free" || *kind == "synchronous", "grammar.list",
        "kind must be 'context_free' or 'synchronous', got '{}'", kind.value_or(""));
  return grammar_names(L, kind == "synchronous");
}

std::vector<std::string> all_grammars(lua_State* L) {
  auto names = grammar_names(L, false);
  for (auto& name : grammar_names(L, true)) names.push_back(std::move(name));
  return names;
}

std::string describe_grammar(lua_State* L, const PathText& name) {
  return describe_definition(L, DefinitionKind::grammar, name);
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

NamedSynchronousRule synchronous_rule(const Json& row, bool& weighted) {
  if (row.is_string()) return parse_synchronous_rule(row.get<std::string>(), "rule", &weighted);
  check(row.is_object() && row.contains("text") && row["text"].is_string(), "grammar",
        "a rule is a text or a table {{text = , weight = , origin = }}");
  check_keys("grammar", row, {"text", "weight", "origin"});
  const auto origin = text_entry("grammar", row, "origin");
  auto rule = parse_synchronous_rule(row["text"].get<std::string>(),
                                     origin.empty() ? "rule" : origin, &weighted);
  if (!row.contains("weight")) return rule;
  check(row["weight"].is_number(), "grammar", "{}: the weight of a rule must be a number",
        rule.origin);
  check(!weighted, "grammar", "{}: the weight is given both in the rule and beside it",
        rule.origin);
  rule.weight = row["weight"].get<double>();
  weighted = true;
  return rule;
}

SynchronousGrammar build_synchronous(const Json& spec) {
  check(spec.is_object() && spec.contains("rules"), "grammar.synchronous",
        "expected a table with a list of rules");
  for (const auto* word : {"symbols", "unambiguous", "conditioned_removal", "prune"})
    check(!spec.contains(word), "grammar",
          "a synchronous grammar has no '{}'; its alphabets are ordered by 'source_symbols' and "
          "'target_symbols'",
          word);
  check_keys("grammar.synchronous", spec,
             {"name", "doc", "start", "source_symbols", "target_symbols", "rules", "options",
              "synchronous"});
  SynchronousSource source;
  source.name = text_entry("grammar", spec, "name");
  source.start = text_entry("grammar", spec, "start");
  source.source_symbols = text_list("grammar", spec, "source_symbols");
  source.target_symbols = text_list("grammar", spec, "target_symbols");
  std::map<std::string, bool> has_weights;
  for (const auto& row : spec["rules"]) {
    bool weighted = false;
    const auto rule = synchronous_rule(row, weighted);
    check(has_weights.emplace(rule.left, weighted).first->second == weighted, "grammar",
          "{}: some rules of {} have a weight and some have none", rule.origin, rule.left);
    source.rules.push_back(rule);
  }
  return built(source);
}

struct SynchronousSpec {
  Json spec;
  static OptionRows rows() {
    return declare<SynchronousSpec>({}).raw(
        &SynchronousSpec::spec,
        {list_option("rules", nullptr, "the rules: texts or tables {text=, weight=}").require(),
         text_option("name", nullptr, "name of the grammar"),
         text_option("start", nullptr, "start symbol; if absent, that of the first rule"),
         list_option("source_symbols", nullptr, "source alphabet in order"),
         list_option("target_symbols", nullptr, "target alphabet in order")});
  }
};

SynchronousGrammar synchronous(const std::variant<std::string, SynchronousSpec>& given) {
  if (const auto* text = std::get_if<std::string>(&given)) return built(parse_synchronous(*text));
  return build_synchronous(std::get<SynchronousSpec>(given).spec);
}

// From the declarations of a grammar file or of the user.
AnyGrammar build_grammar(const Json& spec) {
  check(spec.is_object() && spec.contains("rules"), "grammar.build",
        "expected a table with a list of rules");
  if (spec.value("synchronous", Json(false)) == Json(true)) return build_synchronous(spec);
  check_keys("grammar.build", spec,
             {"name", "doc", "start", "symbols", "rules", "options", "unambiguous",
              "conditioned_removal", "synchronous", "prune"});
  GrammarSource source;
  source.name = text_entry("grammar", spec, "name");
  source.start = text_entry("grammar", spec, "start");
  source.unambiguous = spec.value("unambiguous", Json(false)) == Json(true);
  source.symbols = text_list("grammar", spec, "symbols");
  for (const auto& row : spec["rules"]) add_rules(source, row);
  if (spec.value("conditioned_removal", Json(false)) == Json(true))
    source = remove_rules_conditioned(with_empty_right_sides(std::move(source)));
  return built(std::move(source), spec.value("prune", Json(false)) == Json(true));
}

struct GrammarSpec {
  Json spec;
  static OptionRows rows() {
    return declare<GrammarSpec>({}).raw(
        &GrammarSpec::spec,
        {list_option("rules", nullptr, "the rules: tables {text=, weight=}").require(),
         text_option("name", nullptr, "name of the grammar"),
         text_option("start", nullptr, "start symbol; if absent, that of the first rule"),
         list_option("symbols", nullptr, "alphabet in order"),
         boolean_option("unambiguous", false, "every string has only one derivation"),
         boolean_option("prune", false, kPrune),
         boolean_option("conditioned_removal", false,
                        "removes epsilon and unary rules as the published code does, which changes "
                        "the distribution")});
  }
};

struct TextOptions {
  bool prune = false;
  static OptionRows rows() {
    return declare<TextOptions>({{"prune", &TextOptions::prune, kPrune}});
  }
};

AnyGrammar parse_text(const std::string& text, const std::string& file, bool prune) {
  if (!says_synchronous(text)) return built(parse_grammar(text, file), prune);
  check(!prune, "grammar.parse", "{}: prune is not supported for synchronous grammars", file);
  return built(parse_synchronous(text, file));
}

AnyGrammar load_grammar(lua_State* L, const PathText& name, const std::optional<Json>& options) {
  const auto path = find_definition(L, DefinitionKind::grammar, name);
  const Json given = options.value_or(Json::object());
  if (path.extension() == ".lua")
    return build_grammar(run_definition(L, DefinitionKind::grammar, path, given));
  const bool synchronous =
      notation_of(DefinitionKind::grammar, path) == Notation::synchronous_rules;
  std::vector<OptionSpec> specs;
  if (!synchronous) specs.push_back(boolean_option("prune", false, kPrune));
  const auto own = resolve_options("grammar.load", specs, given);
  const auto text = read_definition(L, DefinitionKind::grammar, path);
  if (synchronous) return built(parse_synchronous(text, path.string()));
  return parse_text(text, path.string(), own["prune"].get<bool>());
}

struct Limits {
  std::optional<double> steps, memory;
  static OptionRows rows() {
    return declare<Limits>(
        {{"steps", &Limits::steps, "maximum number of steps; initially 1e8"},
         {"memory", &Limits::memory, "maximum memory in bytes; initially 64 MB"}});
  }
};

std::vector<std::pair<std::string, double>> change_limits(const Limits& given) {
  SandboxLimits& limits = sandbox_limits();
  for (const auto& [name, value] : {std::pair{"steps", given.steps}, {"memory", given.memory}})
    check(!value || *value > 0, "grammar.limits", "{} must be above 0, got {}", name,
          value.value_or(0));
  limits.steps = given.steps.value_or(limits.steps);
  limits.memory = given.memory.value_or(limits.memory);
  return {{"steps", limits.steps}, {"memory", limits.memory}};
}

AnyGrammar parse(const std::string& text, const TextOptions& options) {
  return parse_text(text, "text", options.prune);
}
Grammar from_nltk(const std::string& text) { return built(parse_grammar(text, "text")); }

struct RuleListOptions : TextOptions {
  std::string start;
  std::optional<std::vector<std::string>> tags;
  static OptionRows rows() {
    return declare<RuleListOptions>({{"start", &RuleListOptions::start,
                                      "start symbol; if absent, that of the first rule"},
                                     {"tags", &RuleListOptions::tags,
                                      "the left sides whose right sides are words, also words that "
                                      "are spelt like a left side; "
                                      "if absent, found from the rules"}})
        .with<RuleListOptions, TextOptions>();
  }
};

Grammar from_rules(const std::string& text, const RuleListOptions& options) {
  return built(parse_rule_list(text, "text", options.start, options.tags), options.prune);
}

}  // namespace

void bind_grammar_loading(Module& module) {
  module
      .def<&load_grammar>(
          "load(name_or_path, options) -> Grammar or SynchronousGrammar  Returns a grammar of the "
          "grammars folder, or the grammar in a file: a grammar file (.lua), text in NLTK's "
          "notation (.txt, .pcfg, .cfg), which has the option prune, or a synchronous grammar "
          "(.scfg, .itg).")
      .texts<&all_grammars>()
      .def<&parse>(
          "parse(text, {options}) -> Grammar or SynchronousGrammar  Returns a grammar from text in "
          "NLTK's notation, or a synchronous grammar if the text has a line '#% synchronous'.")
      .def<&from_nltk>(
          "from_nltk(text) -> Grammar  Returns a grammar from the text of an nltk.PCFG or "
          "nltk.CFG.")
      .def<&from_rules>(
          "from_rules(text, {options}) -> Grammar  Returns a grammar from a list of rules as they "
          "are read off treebanks, with one rule such as '0.9 S --> NP VP' per line: a weight or a "
          "count, which may be absent, and symbols without quotes. Symbols that are not on any "
          "left side are terminals, and so are the words below the tags of a treebank.")
      .def<&synchronous>(
          "synchronous(text or {options}) -> SynchronousGrammar  Returns a synchronous grammar "
          "from text, with one rule 'A -> S1 T2 | T2 S1' per line, or from a table of rules.")
      .def<[](const GrammarSpec& given) { return build_grammar(given.spec); }>(
          "build{options} -> Grammar  Returns a grammar from a list of rules.")
      .def<&change_limits>(
          "limits{options} -> table  Sets the limits of steps and memory for the file of a "
          "grammar, an automaton or a hint, and returns both.")
      .def<&list_grammars>(
          "list(kind='context_free') -> table  Returns the names of the 'context_free' or "
          "'synchronous' grammars that load() knows.")
      .def<&describe_grammar>(
          "describe(name_or_path) -> string  Describes a grammar and its options.")
      .texts<&all_grammars>("a grammar");
}

}  // namespace pushdown
