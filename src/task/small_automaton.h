// Small deterministic finite automata learnt from labelled strings.
//
// The strings form a prefix tree whose nodes count the valid and invalid strings that end there. A
// state predicts the more frequent label of the strings that end in it. The loss of an automaton is
// the entropy of the labels given the state, in nats, plus its description length: k |S| ln k for k
// states and |S| symbols, and 1/2 ln n for each state. An automaton therefore has more than one
// state only if the strings are evidence for it.
//
// Automata are learnt from several starts, and the one with the smallest loss is kept.
//   merged  Blue-fringe state merging (Lang, Pearlmutter and Price 1998). In the order of the tree,
//   a child of a red state is merged with the red state that has the largest log Bayes factor of
//   one state against two, summed over all nodes that the merge folds together. If this is below 0
//   and the state limit allows it, the child becomes red itself.
//   grown   From one state.
//   random  From random transitions, and from counters in which each symbol adds a random number
//   modulo the number of states: the best of a fixed number of these.
// All are then improved: single transitions are redirected as long as that lowers the loss, then
// one transition gets its own copy of its target state, and both steps repeat. Merging finds
// regular languages; the other starts approximate languages that are not regular. The numbers of
// nodes read and automata tried are fixed, so the time is bounded.
#pragma once
#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

struct SmallAutomaton {
  int symbols = 0;
  std::vector<int> next{};            // [state * symbols + symbol]; the start state is 0
  std::vector<std::uint8_t> valid{};  // [state]: its prediction

  int states() const { return static_cast<int>(valid.size()); }
  int end_state(const Word& word) const;
  bool accepts(const Word& word) const { return valid[end_state(word)] != 0; }
};

// The seed determines the random starts and which strings are read if there are too many. Throws
// std::invalid_argument if there are no strings, the numbers of strings and labels differ, or
// most_states < 1.
SmallAutomaton learn_automaton(const std::vector<Word>& words, const std::vector<bool>& labels,
                               int symbols, std::uint64_t seed = 0, int most_states = 4);

}  // namespace pushdown
