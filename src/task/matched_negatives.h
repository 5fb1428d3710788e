// Invalid strings that simple classifiers cannot tell from valid ones.
//
// Every negative has a partner, a positive of the same length. Both have the same answer of every
// classifier of seen_features.h (learnt from the positives), end in the same state of every
// automaton (small_automaton.h) that was learnt so far, and have the same numbers of symbols, as
// far as such a string is found. The automata come from a loop: learn one from the positives and
// the negatives, replace the negatives that it tells from their partners, and repeat until what is
// learnt tells nothing apart. Automata from other sets can be given.
//
// Candidates are made from the partner by one to three changes: move a segment, replace a segment
// by one of another positive, put the end of another positive in place of the end, transpose two
// places, replace a symbol. Of a fixed number of candidates that one is taken which the fewest
// classifiers tell from the partner; among these, one with the partner's numbers of symbols.
#pragma once
#include <functional>

#include "base/random.h"
#include "task/small_automaton.h"

namespace pushdown {

struct MatchedOptions {
  std::int64_t count = 0;
  int symbols = 0;                         // of the alphabet
  bool distinct = false;                   // no string twice
  std::vector<SmallAutomaton> automata{};  // further ones that must tell nothing apart
};

// `allowed(word)`: the string is invalid and may be used. Fewer than `count` strings are returned
// if no further ones were found. There must be at least one positive.
std::vector<Word> matched_negatives(const std::vector<Word>& positives,
                                    const MatchedOptions& options,
                                    const std::function<bool(const Word&)>& allowed,
                                    Random& random);

}  // namespace pushdown
