// The summaries of a pushdown automaton: what its runs do to one element of the stack, whatever is
// below it (Büchi 1964; Bouajjani, Esparza and Maler 1997).
//
// A configuration is a state and the top symbol, numbered q*S + x. A run from (q, x) until x, or
// what replaced it, is popped has a summary (q, x, r), where r is the state after the pop: it is a
// nonterminal of the automaton's grammar (to_grammar.h). A run until the end of the string that
// never pops x has a summary (q, x). Each is computed with the length of its shortest run, in the
// order of these lengths (Knuth, "A generalization of Dijkstra's algorithm", 1977). Transitions of
// weight 0 do not count.
#pragma once
#include <limits>
#include <utility>
#include <vector>

#include "pda/pda.h"

namespace pushdown {

class Summaries {
 public:
  static constexpr int kNone = std::numeric_limits<int>::max() / 4;

  // Throws std::invalid_argument if there are more than ten million.
  explicit Summaries(const Pda& pda);

  // Returns each state r after the pop of an element, with the length of the shortest run to it.
  const std::vector<std::pair<int, int>>& pops(int state, int top) const {
    return pops_[index(state, top)];
  }
  // Returns the length of the shortest run that pops the element and ends in `next`; kNone if there
  // is none.
  int pop_length(int state, int top, int next) const;
  // Returns the length of the shortest accepted run that never pops the element; kNone if there is
  // none. With at_bottom, this is meant for the lowest element of the stack.
  int end_length(int state, int top) const { return ends_[index(state, top)]; }

 private:
  struct Step {  // from one configuration of an element to another one
    int from, cost;
  };
  class Search;
  std::size_t index(int state, int top) const {
    return static_cast<std::size_t>(state) * symbols_ + static_cast<std::size_t>(top);
  }

  std::size_t symbols_;
  std::vector<std::vector<std::pair<int, int>>> pops_;  // sorted by state
  std::vector<int> ends_;
};

}  // namespace pushdown
