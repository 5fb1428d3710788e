// The run of a deterministic automaton, symbol by symbol, in constant time each.
#pragma once
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

class DeterministicRun {
 public:
  // Before the first symbol. Throws std::invalid_argument when the automaton is not deterministic.
  explicit DeterministicRun(Pda pda);

  int state() const { return state_; }
  const std::vector<int>& stack() const { return stack_; }  // the top last
  // What reading the symbol would do; nullptr: there is no transition.
  const Transition* transition(int symbol) const;
  // False, and nothing is done, where there is none, or where it pops the last element.
  bool step(int symbol);
  bool accepted() const;

  // Whether a run of its own, from the start, accepts the word.
  bool accepts(const Word& word) const;

 private:
  using Table = std::map<std::tuple<int, int, int>, Transition>;  // state, top, symbol

  Pda pda_;
  std::shared_ptr<const Table> table_;
  int state_ = 0;
  std::vector<int> stack_{0};
};

}  // namespace pushdown
