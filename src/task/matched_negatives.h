// Invalid strings that simple classifiers cannot distinguish from valid ones.
//
// Every negative has a partner, a positive of the same length. As far as such a string is found,
// all classifiers of seen_features.h (learnt from the positives) give both the same answer, both
// end in the same state of every automaton (small_automaton.h) learnt so far, and both have the
// same symbol counts. The automata are learnt in a loop: learn one from the positives and the
// negatives, replace the negatives that it distinguishes from their partners, and repeat until the
// learnt automaton distinguishes none. Automata from other sets can be given.
//
// Candidates are derived from the partner by one to three changes: move a segment, replace a
// segment by one of another positive, replace the end by the end of another positive, transpose two
// positions, or replace a symbol. Of a fixed number of candidates, the one that the fewest
// classifiers distinguish from the partner is taken, preferably one with the partner's symbol
// counts.
#pragma once
#include <functional>

#include "base/random.h"
#include "task/small_automaton.h"

namespace pushdown {

struct MatchedOptions {
  std::int64_t count = 0;
  int symbols = 0;                         // alphabet size
  bool distinct = false;                   // no string twice
  std::vector<SmallAutomaton> automata{};  // further automata that must not distinguish negatives
};

// `allowed(word)` returns whether the string is invalid and may be used. Returns fewer than `count`
// strings if no more are found. There must be at least one positive.
std::vector<Word> matched_negatives(const std::vector<Word>& positives,
                                    const MatchedOptions& options,
                                    const std::function<bool(const Word&)>& allowed,
                                    Random& random);

}  // namespace pushdown
