// pd.model.insert_rules and extract_pda: automata into networks and out of them.
#include "analysis/pda_extraction.h"
#include "bindings/bind.h"
#include "bindings/model.h"
#include "bindings/modules.h"
#include "bindings/options.h"
#include "bindings/pda.h"
#include "bindings/session.h"
#include "model/rule_insertion.h"
#include "pda/minimisation.h"

namespace pushdown {
namespace {

using OneHint = std::variant<std::shared_ptr<Pda>, std::string>;
using Hints = std::variant<std::shared_ptr<Pda>, std::string, std::vector<OneHint>>;

Pda one_hint(lua_State* L, const OneHint& hint) {
  if (const auto* pda = std::get_if<std::shared_ptr<Pda>>(&hint)) return **pda;
  return load_pda(L, std::get<std::string>(hint), std::nullopt);
}

Pda all_hints(lua_State* L, const Hints& hints) {
  if (const auto* pda = std::get_if<std::shared_ptr<Pda>>(&hints)) return **pda;
  if (const auto* name = std::get_if<std::string>(&hints)) return one_hint(L, *name);
  std::vector<Pda> parts;
  for (const auto& hint : std::get<std::vector<OneHint>>(hints)) parts.push_back(one_hint(L, hint));
  return merged(parts);
}

// Neurons as Lua counts them.
Json places(const std::vector<int>& neurons) {
  Json list = Json::array();
  for (const int i : neurons) list.push_back(i + 1);
  return list;
}

Json report_table(const RuleReport& report) {
  Json table{{"strength", report.strength},     {"strength_from", report.strength_from},
             {"margin", report.margin},         {"weight_scale", report.weight_scale},
             {"holds", report.holds},           {"needed", report.needed},
             {"available", report.available},   {"missing", report.missing},
             {"acceptance", report.acceptance}, {"acceptance_reason", report.acceptance_reason},
             {"triples", report.triples},       {"numbers", report.numbers},
             {"frozen", report.frozen}};
  if (report.discrete_margin) table["discrete_margin"] = *report.discrete_margin;
  table["neurons"] = Json::object();
  for (const auto& [name, neurons] : report.neurons) table["neurons"][name] = places(neurons);
  table["transitions"] = Json::array();
  for (const auto& line : report.transitions) {
    Json row{{"text", line.text},
             {"programmed", line.programmed},
             {"from", places(line.from)},
             {"to", places(line.to)}};
    if (line.programmed) {
      row["margin"] = line.margin;
      row["holds"] = *line.holds;
    } else {
      row["reason"] = line.reason;
    }
    table["transitions"].push_back(row);
  }
  return table;
}

// The table, with a text of its own for tostring and the prompt.
int push_report(lua_State* L, const Json& table, const std::string& text) {
  Value<Json>::push(L, table);
  lua_createtable(L, 0, 1);
  Value<std::string>::push(L, text);
  lua_pushcclosure(
      L, [](lua_State* state) { return lua_pushvalue(state, lua_upvalueindex(1)), 1; }, 1);
  lua_setfield(L, -2, "__tostring");
  lua_setmetatable(L, -2);
  return 1;
}

Results insert(lua_State* L, Recognizer& model, const Hints& hints, OptionTable options) {
  RuleOptions chosen;
  chosen.strength = options.take<double>("strength");
  chosen.weight_scale = options.take<double>("weight_scale");
  options.take_into("missing", chosen.missing);
  options.take_into("dead", chosen.dead);
  options.take_into("inhibition", chosen.inhibition);
  options.take_into("frozen", chosen.frozen);
  options.take_into("check", chosen.check);
  options.finish("model.insert_rules",
                 {"strength", "weight_scale", "missing", "dead", "inhibition", "frozen", "check"});
  const auto report = insert_rules(model, all_hints(L, hints), chosen);
  return {push_report(L, report_table(report), to_text(report))};
}

std::string extraction_text(const Extraction& extraction) {
  auto text = fmt::format(
      "Extracted: {} control states and {} pairs with a top became {} states and {} transitions",
      extraction.controls, extraction.pairs, extraction.pda.states().size(),
      extraction.pda.transitions().size());
  if (extraction.end_marks > 0)
    text += fmt::format("\nstrings are read with {} behind them, {}", extraction.end_mark,
                        extraction.end_marks == 1 ? "once" : "twice");
  if (extraction.strings > 0)
    text += fmt::format("\non {} strings, {} of them accepted, the same answer {} times{}",
                        extraction.strings, extraction.accepted, extraction.agreed,
                        extraction.agreed == extraction.strings
                            ? ""
                            : fmt::format("; first difference: '{}'", extraction.disagreement));
  return text;
}

Results extract(lua_State* L, const Recognizer& model, OptionTable options) {
  ExtractionOptions chosen;
  options.take_into("limit", chosen.limit);
  options.take_into("keep_dead", chosen.keep_dead);
  options.take_into("strings", chosen.strings);
  options.take_into("longest", chosen.longest);
  options.take_into("seed", chosen.seed);
  options.finish("model.extract_pda", {"limit", "keep_dead", "strings", "longest", "seed"});
  const auto extraction = extract_pda(model, chosen);
  Json table{{"controls", extraction.controls},   {"pairs", extraction.pairs},
             {"end_marks", extraction.end_marks}, {"strings", extraction.strings},
             {"accepted", extraction.accepted},   {"agreed", extraction.agreed}};
  if (extraction.end_marks > 0) table["end_mark"] = extraction.end_mark;
  if (extraction.agreed < extraction.strings) table["disagreement"] = extraction.disagreement;
  Value<Pda>::push(L, extraction.pda);
  return {1 + push_report(L, table, extraction_text(extraction))};
}

}  // namespace

void bind_rules(lua_State* L) {
  lua_getfield(L, -1, "model");
  {
    Module module(L, "pd.model");
    module
        .def<&insert>("insert_rules",
                      "insert_rules(model, pda, {strength=, weight_scale=, missing=, dead=, "
                      "inhibition=, frozen=, check=}) -> table  Programs an automaton or a part of "
                      "one (a Pda, "
                      "a hint's name, a path, or a list of these) into the weights of an 'nspda' "
                      "recognizer, and reports what holds with which margin.")
        .def<&extract>("extract_pda",
                       "extract_pda(model, {limit=, keep_dead=, strings=, longest=, seed=}) -> "
                       "Pda, table  The automaton that an 'nspda' recognizer has become, and what "
                       "was found when both were compared on strings.");
  }
  lua_pop(L, 1);
}

}  // namespace pushdown
