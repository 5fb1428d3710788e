// Runs and the stack automaton as text for the terminal, and as a graph for Graphviz.
#pragma once
#include <memory>
#include <string>

#include "pda/lang.h"

namespace pushdown {

// Lang's algorithm on a string, done.
struct Trace {
  explicit Trace(std::shared_ptr<const StringAutomaton> automaton)
      : automaton(std::move(automaton)), chart(*this->automaton) {}

  std::shared_ptr<const StringAutomaton> automaton;
  LangChart<Log> chart;

  // log of the sum of the forward weights of a time.
  double log_total(int time) const;
  // alpha[time][configuration] as a share of that sum; 0 where no run is left.
  double share(int time, int configuration) const;
};

// One line a step: what is read, the weight and the action of the move, the state and the stack
// after it.
std::string run_table(const StringAutomaton& automaton, const Run& run);
// One line a time: what is read, the total forward weight, the distribution of the top symbol, and
// the configurations with their shares.
std::string trace_table(const Trace& trace);
// The stack automaton in the language of Graphviz: nodes (time, state, top), one rank a time, and
// edges "symbol/inner weight"; accepted configurations have a double border.
std::string trace_dot(const Trace& trace);

// exp(log_weight), readable at any size: "0.25", "3.2e-07", "e^-1203.5".
std::string log_weight_text(double log_weight);

}  // namespace pushdown
