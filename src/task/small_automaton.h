// Small deterministic finite automata learnt from labelled strings.
//
// The strings are a prefix tree whose nodes count the valid and invalid strings that end there. A
// state answers with the more frequent label of the strings that end in it. The loss of an
// automaton is the entropy of the labels given the state, in nats, plus the length of its
// description: k |S| ln k for k states and |S| symbols, and 1/2 ln n for each state. An automaton
// therefore has more than one state only if the strings are evidence for it.
//
// Automata are learnt from several starts, and the one with the smallest loss is kept.
//   merged  Blue-fringe state merging (Lang, Pearlmutter and Price 1998): in the order of the tree,
//           a child of a red state is merged with the red state for which the logarithm of the
//           Bayes factor of one state against two, summed over all nodes that the merge folds
//           together, is largest. It becomes red itself if that is below 0 and the limit of states
//           allows it.
//   grown   From one state.
//   random  From random transitions, and from counters in which each symbol adds a random number
//           modulo the number of states: the best of a fixed number of these.
// All are improved: single transitions are redirected as long as that lowers the loss, then a
// transition gets a copy of its target as a target of its own, and so on. Merging finds regular
// languages, the others find approximations of languages that are not regular. A fixed number of
// nodes is read and a fixed number of automata is tried, so the time is bounded.
#pragma once
#include <cstdint>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

struct SmallAutomaton {
  int symbols = 0;
  std::vector<int> next{};            // [state * symbols + symbol]; the start state is 0
  std::vector<std::uint8_t> valid{};  // [state]: its answer

  int states() const { return static_cast<int>(valid.size()); }
  int end_state(const Word& word) const;
  bool accepts(const Word& word) const { return valid[end_state(word)] != 0; }
};

// The seed decides the random starts and which strings are read if there are too many. Throws
// std::invalid_argument when there are no strings, the numbers of strings and labels differ, or
// most_states < 1.
SmallAutomaton learn_automaton(const std::vector<Word>& words, const std::vector<bool>& labels,
                               int symbols, std::uint64_t seed = 0, int most_states = 4);

}  // namespace pushdown
