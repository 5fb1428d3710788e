// Runs a deterministic automaton symbol by symbol, in constant time per symbol.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

class DeterministicRun {
 public:
  // Starts before the first symbol. Throws std::invalid_argument if the automaton is not
  // deterministic.
  explicit DeterministicRun(Pda pda);

  int state() const { return state_; }
  const std::vector<int>& stack() const { return stack_; }  // bottom to top
  // Returns the transition that reads the symbol now, or nullptr if there is none.
  const Transition* transition(int symbol) const;
  // Takes that transition. Returns false and does nothing if there is none or if it would pop the
  // last element.
  bool step(int symbol);
  bool accepted() const;

  // Returns whether the automaton accepts the word. Runs from the start and leaves this run
  // unchanged.
  bool accepts(const Word& word) const;

 private:
  using Table = std::map<std::tuple<int, int, int>, Transition>;  // state, top, symbol

  Pda pda_;
  std::shared_ptr<const Table> table_;
  int state_ = 0;
  std::vector<int> stack_{0};
};

}  // namespace pushdown
