// Text tables of runs and of the stack automaton for the terminal, and Graphviz output.
#pragma once
#include <memory>
#include <string>

#include "pda/lang.h"

namespace pushdown {

// The result of Lang's algorithm on a string.
struct Trace {
  explicit Trace(std::shared_ptr<const StringAutomaton> automaton)
      : automaton(std::move(automaton)), chart(*this->automaton) {}

  std::shared_ptr<const StringAutomaton> automaton;
  LangChart<Log> chart;

  // Returns the log of the sum of the forward weights at a time.
  double log_total(int time) const;
  // Returns alpha[time][configuration] as a fraction of that sum; 0 if no run is left.
  double share(int time, int configuration) const;
};

// Returns one line per step: the symbol read, the weight and the action of the move, and the state
// and the stack after it.
std::string run_table(const StringAutomaton& automaton, const Run& run);
// Returns one line per time: the symbol read, the total forward weight, the distribution of the top
// symbol, and the share of each configuration.
std::string trace_table(const Trace& trace);
// Returns the stack automaton in the language of Graphviz: nodes (time, state, top), one rank per
// time, and edges "symbol/inner weight"; accepted configurations have a double border.
std::string trace_dot(const Trace& trace);

// Returns exp(log_weight) in a form that is readable at any magnitude: "0.25", "3.2e-07",
// "e^-1203.5".
std::string log_weight_text(double log_weight);

}  // namespace pushdown
