// Makes automata for pd.pda from files, text, and tables of transitions.
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/classes.h"
#include "bindings/grammar/file.h"
#include "bindings/pda/classes.h"
#include "bindings/session/log.h"
#include "pda/from_grammar.h"
#include "pda/hint_parts.h"
#include "pda/jflap.h"
#include "pda/minimisation.h"
#include "pda/notation.h"

namespace pushdown {
namespace {

constexpr auto kWhere = "pda";

double number_entry(const Json& row, const char* key, double otherwise, const std::string& origin) {
  if (!row.contains(key)) return otherwise;
  check(row[key].is_number(), kWhere, "{}: the {} of a transition must be a number", origin, key);
  return row[key].get<double>();
}

// {state=, top=, symbol=, next=, push= | replace= | pop = true, weight=}
TransitionPattern from_parts(const Json& row, const std::string& origin) {
  check_keys(
      kWhere, row,
      {"state", "top", "symbol", "next", "push", "replace", "pop", "weight", "text", "origin"});
  TransitionPattern t;
  t.origin = origin;
  for (const auto& [key, name] :
       {std::pair{"state", &t.state}, {"top", &t.top}, {"symbol", &t.symbol}, {"next", &t.next}}) {
    check(row.contains(key) && row[key].is_string(), kWhere, "{}: '{}' must be a text", origin,
          key);
    *name = row[key].get<std::string>();
  }
  const bool pop = row.value("pop", Json(false)) == Json(true);
  check(pop + row.contains("push") + row.contains("replace") == 1, kWhere,
        "{}: a transition has one of push = 'y', replace = 'y' and pop = true", origin);
  t.action = pop                    ? StackAction::pop
             : row.contains("push") ? StackAction::push
                                    : StackAction::replace;
  if (!pop) t.pushed = text_entry(kWhere, row, row.contains("push") ? "push" : "replace");
  return t;
}

TransitionPattern read_transition(const Json& row, std::size_t place) {
  const auto here = fmt::format("transition {}", place);
  if (row.is_string()) return parse_transition(row.get<std::string>(), here);
  check(row.is_object(), kWhere, "{} must be a text or a table", here);
  auto origin = text_entry(kWhere, row, "origin");
  if (origin.empty()) origin = here;
  TransitionPattern t;
  if (row.contains("state")) {
    t = from_parts(row, origin);
  } else {
    check_keys(kWhere, row, {"text", "weight", "origin"});
    t = parse_transition(text_entry(kWhere, row, "text"), origin);
    check(t.weight == 1 || !row.contains("weight"), kWhere,
          "{}: the weight is given both in the transition and beside it", origin);
  }
  t.weight = number_entry(row, "weight", t.weight, origin);
  return t;
}

// From the declarations of a file, or of one part of it, or of the user.
Pda build_pda(const Json& spec, const HintPart* part = nullptr) {
  check(spec.is_object() && spec.contains("transitions"), kWhere,
        "expected a table with a list of transitions");
  check_keys(kWhere, spec,
             {"name", "doc", "start", "bottom", "states", "symbols", "stack_symbols", "accepting",
              "at_bottom", "dead", "strength", "transitions", "options", "parts"});
  PdaSource source;
  source.name = text_entry(kWhere, spec, "name");
  source.start = text_entry(kWhere, spec, "start");
  source.bottom = text_entry(kWhere, spec, "bottom");
  source.states = text_list(kWhere, spec, "states");
  source.symbols = text_list(kWhere, spec, "symbols");
  source.stack_symbols = text_list(kWhere, spec, "stack_symbols");
  const Json at_bottom = spec.value("at_bottom", Json(false));
  check(at_bottom.is_boolean(), kWhere, "'at_bottom' must be true or false");
  source.at_bottom = at_bottom.get<bool>();
  source.dead = text_list(kWhere, spec, "dead");
  if (const Json strength = spec.value("strength", Json()); !strength.is_null()) {
    check(strength.is_number(), kWhere, "'strength' must be a number");
    source.strength = strength.get<double>();
  }
  const Json accepting = spec.value("accepting", Json::array());
  if (accepting.is_object()) {
    for (const auto& [state, weight] : accepting.items()) {
      check(weight.is_number(), kWhere, "the weight of the accepting state {} must be a number",
            state);
      source.accepting.emplace_back(state, weight.get<double>());
    }
  } else {
    for (const auto& state : text_list(kWhere, spec, "accepting"))
      source.accepting.emplace_back(state, 1.0);
  }
  const Json& transitions = spec["transitions"];
  check(transitions.is_array() || transitions.empty(), kWhere, "'transitions' must be a list");
  for (const auto& row : transitions)
    source.transitions.push_back(read_transition(row, source.transitions.size() + 1));
  return warned(Pda(part == nullptr ? source : part_of(std::move(source), *part)));
}

struct PdaSpec {
  Json spec;
  static OptionRows rows() {
    return declare<PdaSpec>({}).raw(
        &PdaSpec::spec,
        {list_option("transitions", nullptr,
                     "texts 'q, x --a/w--> r, push y' or tables {state=, top=, symbol=, next=, "
                     "push=, replace= or pop=, weight=}")
             .require(),
         text_option("bottom", nullptr, "bottom symbol"),
         text_option("start", nullptr, "start state"),
         list_option("accepting", nullptr, "accepting states, or their weights by name"),
         boolean_option("at_bottom", false,
                        "accepts only if the bottom symbol is alone on the stack"),
         list_option("dead", nullptr, "trap states"),
         number_option("strength", nullptr, "strength as a hint"),
         list_option("states", nullptr, "states in order"),
         list_option("symbols", nullptr, "input symbols in order"),
         list_option("stack_symbols", nullptr, "stack symbols in order"),
         text_option("name", nullptr, "name of the automaton")});
  }
};

std::vector<std::string> automata_and_hints(lua_State* L) {
  auto names = definition_names(L, DefinitionKind::automaton);
  for (auto& name : hint_names(L)) names.push_back(std::move(name));
  return names;
}

// The options of a file of JFLAP, for pd.pda.load and pd.pda.parse.
struct JflapOptions {
  bool by_empty_stack = false;
  static OptionRows rows() {
    return declare<JflapOptions>({{"acceptance",
                                   &JflapOptions::by_empty_stack,
                                   "how a JFLAP file accepts, which it does not say",
                                   {{"final_state", false}, {"empty_stack", true}}}});
  }
};

Pda pda_from_jflap(const std::string& text, const std::string& file, const std::string& name,
                   const JflapOptions& options) {
  auto general = parse_jflap(text, file, options.by_empty_stack);
  general.name = name;
  auto made = converted(general);
  for (const auto& warning : made.warnings) log_message("warn", warning);
  if (!made.direct)
    log_message("info",
                fmt::format("{}: converted through a grammar, because some moves read no symbol or "
                            "change several stack symbols; states and stack symbols are new",
                            file));
  return warned(std::move(made.pda));
}

Pda parse_text(const std::string& text, const JflapOptions& options) {
  if (looks_like_jflap(text)) return pda_from_jflap(text, "text", "", options);
  check(!options.by_empty_stack, "pda.parse",
        "an empty stack accepts only in the text of a JFLAP file; this notation has %at_bottom");
  return warned(Pda(parse_pda(text)));
}

}  // namespace

Pda load_pda(lua_State* L, const PathText& name, const std::optional<Json>& options) {
  const auto path = find_definition(L, DefinitionKind::automaton, name);
  const Json given = options.value_or(Json::object());
  if (path.extension() != ".lua") {
    const bool jflap = notation_of(DefinitionKind::automaton, path) == Notation::jflap;
    std::vector<OptionSpec> specs;
    if (jflap)
      specs.push_back(text_option("acceptance", "final_state", "how a string is accepted",
                                  {"final_state", "empty_stack"}));
    const auto own = resolve_options("pda.load", specs, given);
    const auto text = read_definition(L, DefinitionKind::automaton, path);
    if (jflap)
      return pda_from_jflap(text, path.string(), path.stem().string(),
                            {own["acceptance"] == "empty_stack"});
    return warned(Pda(parse_pda(text, path.string())));
  }
  const auto spec = run_definition(L, DefinitionKind::automaton, path, given);
  return build_pda(spec, spec.contains("parts") ? hint_part(name) : nullptr);
}

void bind_pda_loading(Module& module) {
  module
      .call<[](const PdaSpec& given) { return build_pda(given.spec); }>(
          "pda{options} -> Pda  Returns an automaton from a list of transitions.")
      .def<&parse_text>(
          "parse(text, {options}) -> Pda  Returns an automaton from text with one transition per "
          "line, or from the XML of a JFLAP file.")
      .def<&load_pda>(
          "load(name_or_path, options) -> Pda  Returns an automaton of the grammars folder, a hint "
          "('an_bn/whole'), or the automaton in an automaton file (.lua), a text file (.pda) or a "
          "file of JFLAP (.jff), which has the option acceptance.")
      .texts<&automata_and_hints>()
      .def<&hint_names>(
          "hints() -> table  Returns the names of the hints that load() knows: automata and parts "
          "of automata that can be inserted into networks.")
      .def<&merged>(
          "merged(list) -> Pda  Returns one automaton with all transitions of several automata or "
          "hints. States and symbols with the same name become one.")
      .def<&pda_from_grammar>(
          "from_grammar(grammar) -> Pda  Returns an automaton that gives every string the same "
          "probability as the grammar. Its accepting runs are the leftmost derivations of "
          "grammar:greibach(). Their number may differ from the number of the grammar's own "
          "derivations.")
      .def<[](lua_State* L) { return definition_names(L, DefinitionKind::automaton); }>(
          "list() -> table  Returns the names that load() knows.")
      .def<[](lua_State* L, const PathText& name) {
        return describe_definition(L, DefinitionKind::automaton, name);
      }>("describe(name_or_path) -> string  Describes an automaton and its options.")
      .texts<&automata_and_hints>();
}

}  // namespace pushdown
