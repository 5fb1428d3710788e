// pd.model.insert_rules and extract_pda: insert automata into networks and extract them.
#include <algorithm>

#include "analysis/pda_extraction.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/file.h"
#include "bindings/model/classes.h"
#include "bindings/pda/classes.h"
#include "bindings/session/state.h"
#include "bindings/train/evaluation.h"
#include "model/rule_insertion.h"
#include "pda/minimisation.h"

namespace pushdown {
namespace {

using OneHint = std::variant<std::shared_ptr<Pda>, PathText>;
using Hints = OneOrMore<OneHint>;

Pda one_hint(lua_State* L, const OneHint& hint) {
  if (const auto* pda = std::get_if<std::shared_ptr<Pda>>(&hint)) return **pda;
  return load_pda(L, std::get<PathText>(hint), std::nullopt);
}

Pda all_hints(lua_State* L, const Hints& hints) {
  if (hints.list.size() == 1) return one_hint(L, hints.list[0]);
  std::vector<Pda> parts;
  for (const auto& hint : hints.list) parts.push_back(one_hint(L, hint));
  return merged(parts);
}

// Neurons, counted from 1 as in Lua.
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

// Pushes the table with a text of its own for tostring and the prompt.
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

struct InsertOptions : RuleOptions {
  using Self = InsertOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"strength", &Self::strength,
          "strength of the rules; if absent, that of the hint, or else one that the program "
          "chooses"},
         {"weight_scale", &Self::weight_scale,
          "size of the network's discrete weights from now on; if absent, the strength if the "
          "option "
          "or the hint gives one, else unchanged"},
         {"missing", &Self::missing,
          "triples without a transition: keeps them as they are, or leads them into the trap; if "
          "absent, into the trap if the hint says what is accepted",
          OneOf{{"keep", "trap"}}},
         {"dead", &Self::dead,
          "dead states: the silent trap (zero), or a neuron of their own (neuron)",
          OneOf{{"zero", "neuron"}}},
         {"inhibition", &Self::inhibition, "uses large negative weights"},
         {"frozen", &Self::frozen, "training does not change the programmed numbers"},
         {"check", &Self::check, "raises an error if a rule does not hold"}});
  }
};

// Returns the recognizer. Whether it is an 'nspda' is for the core to check.
Recognizer& recognizer_of(lua_State* L, const AnyModel& model) {
  if (const auto* recognizer = std::get_if<std::shared_ptr<Recognizer>>(&model))
    return **recognizer;
  std::string kind = model_of(model)->kind();
  std::replace(kind.begin(), kind.end(), '_', ' ');
  fail(running_function(L), "expected a recognizer with architecture = 'nspda', got a {}", kind);
}

Results insert(lua_State* L, const AnyModel& model, const Hints& hints,
               const InsertOptions& chosen) {
  const auto report = insert_rules(recognizer_of(L, model), all_hints(L, hints), chosen);
  return {push_report(L, report_table(report), to_text(report))};
}

std::string extraction_text(const Extraction& extraction) {
  auto text = fmt::format(
      "Extracted: {} control states and {} pairs with a top became {} states and {} transitions",
      extraction.controls, extraction.pairs, extraction.pda.states().size(),
      extraction.pda.transitions().size());
  if (extraction.end_marks > 0)
    text += fmt::format("\nstrings are read with {} after them, {}", extraction.end_mark,
                        extraction.end_marks == 1 ? "once" : "twice");
  if (extraction.strings > 0)
    text += fmt::format("\non {} strings, {} of them accepted, the same answer {} times{}",
                        extraction.strings, extraction.accepted, extraction.agreed,
                        extraction.agreed == extraction.strings
                            ? ""
                            : fmt::format("; first difference: '{}'", extraction.disagreement));
  return text;
}

struct ExtractOptions : ExtractionOptions {
  using Self = ExtractOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"limit", &Self::limit, "maximum number of control states", at_least(1)},
         {"keep_dead", &Self::keep_dead,
          "keeps the states from which no string is accepted, merged into one"},
         {"strings", &Self::strings,
          "number of strings on which the automaton and the network are compared; 0: none",
          at_least(0)},
         {"longest", &Self::longest, "maximum length of these strings"},
         {"seed", &Self::seed, "random seed of these strings"}});
  }
};

Results extract(lua_State* L, const AnyModel& model, const ExtractOptions& chosen) {
  const auto extraction = extract_pda(recognizer_of(L, model), chosen);
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
        .def<&insert>(
            "insert_rules(model, pda, {options}) -> table  Programs an automaton or a part of one "
            "(a Pda, a hint's name, a path, or a list of these) into the weights of an 'nspda' "
            "recognizer. Returns a report of the rules, whether each holds, and its margin.")
        .texts<&hint_names>()
        .def<&extract>(
            "extract_pda(model, {options}) -> Pda, table  Returns the automaton that an 'nspda' "
            "recognizer represents, and a table that compares both on strings.");
  }
  lua_pop(L, 1);
}

}  // namespace pushdown
