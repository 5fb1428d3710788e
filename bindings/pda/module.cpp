// pd.pda: pushdown automata. loading.cpp makes them, and trace.cpp has their runs.
#include "bindings/pda/classes.h"

#include <fmt/ranges.h>

#include "base/atomic_file.h"
#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/path.h"
#include "bindings/grammar/classes.h"
#include "bindings/grammar/unknown.h"
#include "bindings/session/drawing.h"
#include "bindings/session/log.h"
#include "bindings/tensor/classes.h"
#include "pda/definition_files.h"
#include "pda/deterministic_run.h"
#include "pda/difference.h"
#include "pda/jflap.h"
#include "pda/minimisation.h"
#include "pda/notation.h"
#include "pda/to_grammar.h"

namespace pushdown {
namespace pda_module {

std::string line_of(const Pda& pda) {
  const auto count = [](std::size_t n, const char* noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  };
  return fmt::format(
      "Pda{}: {}, {}, {}, {}, {}", pda.name().empty() ? "" : " " + pda.name(),
      count(pda.states().size(), "state"), count(pda.stack_symbols().size(), "stack symbol"),
      count(pda.alphabet().size(), "input symbol"), count(pda.transitions().size(), "transition"),
      pda.deterministic() ? "deterministic" : "nondeterministic");
}

std::string show(const Pda& pda) {
  auto text = to_text(pda);
  if (text.ends_with('\n')) text.pop_back();
  return line_of(pda) + "\n" + text;
}

Json transitions_table(const Pda& pda) {
  Json list = Json::array();
  for (const auto& t : pda.transitions()) {
    Json row{{"state", pda.states()[t.state]},
             {"top", pda.stack_symbols()[t.top]},
             {"symbol", pda.alphabet().symbol(t.symbol)},
             {"next", pda.states()[t.next]}};
    if (t.action == StackAction::pop)
      row["pop"] = true;
    else
      row[t.action == StackAction::push ? "push" : "replace"] = pda.stack_symbols()[t.pushed];
    row["weight"] = t.weight;
    row["text"] = pda.transition_text(t);
    row["origin"] = t.origin;
    list.push_back(row);
  }
  return list;
}

std::vector<std::pair<std::string, double>> accepting_table(const Pda& pda) {
  std::vector<std::pair<std::string, double>> list;
  for (std::size_t q = 0; q < pda.states().size(); ++q)
    if (pda.accepting()[q] > 0) list.emplace_back(pda.states()[q], pda.accepting()[q]);
  return list;
}

template <class X>
OptionRow<X> bottom_row() {
  return {"bottom",
          &X::reexposed,
          "whether the initial bottom can be exposed again",
          {{"reexposed", true}, {"original", false}}};
}
struct TraceOptions : RunOptions {
  static OptionRows rows() { return declare<TraceOptions>({bottom_row<TraceOptions>()}); }
};
struct BestOptions : RunOptions {
  using Self = BestOptions;
  static OptionRows rows() { return declare<Self>({accepted_row<Self>(), bottom_row<Self>()}); }
};
struct AllOptions : RunOptions {
  using Self = AllOptions;
  static OptionRows rows() {
    return declare<Self>({accepted_row<Self>(), limit_row<Self>(), bottom_row<Self>()});
  }
};

std::shared_ptr<const StringAutomaton> given_string(const Pda& pda, const Tokens& tokens,
                                                    const RunOptions& options) {
  return std::make_shared<StringAutomaton>(
      on_string(pda, to_word(pda.alphabet(), tokens), options.reexposed));
}

Trace trace(const Pda& pda, const Tokens& tokens, const TraceOptions& options) {
  return Trace(given_string(pda, tokens, options));
}

std::optional<PdaRun> best(const Pda& pda, const Tokens& tokens, const BestOptions& options) {
  return best_run_of(given_string(pda, tokens, options), options.accepted);
}

std::vector<PdaRun> all(const Pda& pda, const Tokens& tokens, const AllOptions& options) {
  return all_runs_of(given_string(pda, tokens, options), options);
}

double log_weight(const Pda& pda, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = known_word(pda.alphabet(), tokens, options.unknown);
  return word ? LangChart<Log>(on_string(pda, *word)).accepted() : kMinusInfinity;
}

bool accepts(const Pda& pda, const Tokens& tokens, const UnknownSymbol& options) {
  const auto word = known_word(pda.alphabet(), tokens, options.unknown);
  if (word && pda.deterministic()) return DeterministicRun(pda).accepts(*word);
  return word && LangChart<Log>(on_string(pda, *word)).accepted() > kMinusInfinity;
}

std::string jflap_of(const Pda& pda) {
  const auto made = to_jflap(pda);
  for (const auto& loss : made.losses) log_message("warn", loss);
  return made.text;
}

void save(const Pda& pda, const PathText& path) {
  const auto notation = notation_to_write("pda.save", DefinitionKind::automaton,
                                          {Notation::transitions, Notation::jflap}, path);
  write_file(path, notation == Notation::jflap ? jflap_of(pda) : to_text(pda));
}

std::string text_of(const Pda& pda, const std::optional<std::string>& notation) {
  const auto name = notation.value_or("own");
  check(name == "own" || name == "jflap", "pda.text", "notation must be 'own' or 'jflap', got '{}'",
        name);
  return name == "own" ? to_text(pda) : jflap_of(pda);
}

using NamedNumbers = std::vector<std::pair<std::string, double>>;

std::tuple<Grammar, NamedNumbers> grammar_of(const Pda& pda) {
  const auto made = grammar_from_pda(pda);
  return {made.grammar, {{"log_total", made.log_total}, {"log_factor", made.log_factor}}};
}

struct DifferenceRows : DifferenceOptions {
  using Self = DifferenceRows;
  static OptionRows rows() {
    return declare<Self>(
        {{"up_to", &Self::up_to, "length of the longest strings to compare", Between{0, 100'000}},
         {"compare",
          &Self::weights,
          "whether both accept a string, or the weights of its accepting runs",
          {{"acceptance", false}, {"weights", true}}},
         {"tolerance", &Self::tolerance, "relative difference up to which weights count as equal",
          Between{0, 1}},
         {"limit", &Self::limit, "an error if the search takes more moves", at_least(1)}});
  }
};

// A string and what differs, or nil and up to which length nothing does.
std::tuple<std::optional<std::string>, std::string> difference_of(const Pda& a, const Pda& b,
                                                                  const DifferenceRows& options) {
  const auto found = difference(a, b, options);
  if (!found)
    return {std::nullopt, fmt::format("equal{} up to length {}", options.weights ? " weights" : "",
                                      options.up_to)};
  const double first = found->log_weights[0], second = found->log_weights[1];
  auto text = fmt::format("{}", fmt::join(found->string, " "));
  // The prompt shows an empty text as nothing.
  const std::string what = found->string.empty() ? "the empty string: " : "";
  if (first == kMinusInfinity) return {std::move(text), what + "accepted by the second only"};
  if (second == kMinusInfinity) return {std::move(text), what + "accepted by the first only"};
  return {std::move(text), fmt::format("{}weight {:.6g} in the first, {:.6g} in the second", what,
                                       std::exp(first), std::exp(second))};
}

struct MinimalOptions {
  bool keep_dead = false;
  static OptionRows rows() {
    return declare<MinimalOptions>({{"keep_dead", &MinimalOptions::keep_dead,
                                     "keeps states from which no string is accepted"}});
  }
};

Pda minimal_pda(const Pda& pda, const MinimalOptions& options) {
  return minimal(pda, options.keep_dead);
}

std::vector<std::string> dead_states(const Pda& pda) {
  std::vector<std::string> names;
  for (std::size_t q = 0; q < pda.states().size(); ++q)
    if (pda.dead()[q]) names.push_back(pda.states()[q]);
  return names;
}

// n x C x W
Tensor transition_weights(const Pda& pda, const Tokens& tokens) {
  const auto automaton = on_string(pda, to_word(pda.alphabet(), tokens));
  const std::int64_t size = automaton.configurations();
  const std::int64_t columns = 2 * size + static_cast<std::int64_t>(automaton.states.size());
  Tensor weights = at::zeros({automaton.length(), size, columns}, at::kDouble);
  double* w = weights.data_ptr<double>();
  for (const auto& moves : automaton.moves) {
    for (const auto& move : moves) {
      const int target = automaton.target(move, 0);
      const std::int64_t column = move.action == StackAction::push      ? target
                                  : move.action == StackAction::replace ? size + target
                                                                        : 2 * size + move.state;
      w[move.configuration * columns + column] = std::exp(move.log_weight);
    }
    w += size * columns;
  }
  return weights;
}

}  // namespace pda_module

void bind_pda(lua_State* L) {
  using namespace pda_module;
  Module module(L, "pda", "Weighted pushdown automata.");
  bind_pda_loading(module);
  module.def<&difference_of>(
      "difference(first, second, {options}) -> string, string  Returns the shortest string on "
      "which two automata differ, the first in the order of the alphabet, and what differs; or nil "
      "and 'equal up to length 12'. Raises an error after `limit` moves.");
  bind_trace(module);
  Class<Pda>(module, "A weighted pushdown automaton.")
      .def<&accepts>(
          "pda:accepts(tokens, {options}) -> boolean  Returns whether a run accepts the string, "
          "which is a text with blanks between symbols or a list.")
      .def<&log_weight>(
          "pda:log_weight(tokens, {options}) -> number  Returns the natural logarithm of the total "
          "weight of the runs that accept the string, or -inf if there are none.")
      .def<&trace>(
          "pda:trace(tokens, {options}) -> Trace  Returns all runs on the string at once, by "
          "Lang's algorithm.")
      .def<&best>(
          "pda:best_run(tokens, {options}) -> Run  Returns the accepting run of greatest weight, "
          "or nil.")
      .def<&all>(
          "pda:all_runs(tokens, {options}) -> table  Returns every accepting run. Raises an error "
          "after `limit` moves.")
      .def<&transition_weights>(
          "pda:transition_weights(tokens) -> Tensor  Returns the weights n x C x W with which "
          "pd.stack.simulate{kind = 'nondeterministic'} computes this automaton on the string.")
      .def<&Pda::normalized>(
          "pda:normalized() -> Pda  Returns the automaton with weights that sum to 1 for each "
          "state, top and input symbol.")
      .def<&Pda::deterministic>(
          "pda:deterministic() -> boolean  Returns whether there is at most one transition for "
          "each state, top and input symbol.")
      .def<&Pda::alphabet>("pda:alphabet() -> Alphabet  Returns the input symbols.")
      .def<&Pda::name>("pda:name() -> string  Returns the name, or an empty string.")
      .def<&Pda::states>("pda:states() -> table  Returns the states, the start state first.")
      .def<&Pda::stack_symbols>(
          "pda:stack_symbols() -> table  Returns the stack symbols, the bottom symbol first.")
      .def<&accepting_table>(
          "pda:accepting() -> table  Returns the weight of each accepting state.")
      .def<&Pda::at_bottom>(
          "pda:at_bottom() -> boolean  Returns whether a run is accepted only if the bottom symbol "
          "is alone on the stack.")
      .def<&dead_states>("pda:dead() -> table  Returns the trap states.")
      .def<&Pda::strength>("pda:strength() -> number  Returns its strength as a hint, or nil.")
      .def<&Pda::warnings>(
          "pda:warnings() -> table  Returns warnings about transitions that never fire.")
      .def<&minimal_pda>(
          "pda:minimal{options} -> Pda  Returns a deterministic automaton with equal states merged "
          "and without the parts that no accepted string uses.")
      .def<&grammar_of>(
          "pda:grammar() -> Grammar, table  Returns a grammar whose derivations are the accepting "
          "runs (triple construction), and {log_total, log_factor}: log_weight(w) is the grammar's "
          "log_probability(w) + log_total - length * log_factor. The factor is 1 unless the total "
          "weight of all strings is infinite.")
      .def<&isomorphic>(
          "pda:isomorphic(other) -> boolean  Returns whether two deterministic automata are the "
          "same up to the names of states and of the bottom symbol.")
      .def<&drawn_as<Pda, "state_diagram", "pda">>(
          "pda:svg(path) -> string  Returns a state diagram as SVG. Also writes it to the path, if "
          "one is given.")
      .def<&drawn_as<Pda, "state_diagram_dot", "pda">>(
          "pda:dot(path) -> string  Returns the state diagram in the DOT language of Graphviz. "
          "Also writes it to the path, if one is given.")
      .def<&drawn_as<Pda, "state_diagram_latex", "pda">>(
          "pda:latex(path) -> string  Returns the state diagram as a picture of the LaTeX package "
          "tikz. Also writes it to the path, if one is given.")
      .def<&transitions_table>(
          "pda:transitions() -> table  Returns the transitions, each {state, top, symbol, next, "
          "push or replace or pop, weight, text, origin}.")
      .def<&save>(
          "pda:save(path)  Writes the automaton to a file that pd.pda.load reads: as text (.pda) "
          "or for JFLAP (.jff).")
      .def<&text_of>(
          "pda:text(notation='own') -> string  Returns the automaton as text that pd.pda.parse "
          "reads: one transition per line ('own') or the XML of JFLAP ('jflap').")
      .def<&show>("__show", "show(pda) -> string  Returns all transitions as text.")
      .def<&line_of>("tostring(pda) -> string  Returns one line about the automaton.");
}

}  // namespace pushdown
