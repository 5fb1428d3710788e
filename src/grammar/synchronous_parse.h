// Parsing with a synchronous grammar: whether a pair is in the relation, its probability, and the
// translations of a source. Accepts any grammar, including empty sides, unary cycles and rules of
// any length.
//
// A source string w has a forest: the spans (A, i, j) that occur in a derivation of w by the source
// projection, and the ways in which a rule builds one span from others. A pair (w, v) adds to each
// span the set of target spans (k, l) that a subtree can cover. These are computed from the
// shortest source span up. Where empty sides and unary rules make spans depend on each other, the
// computation repeats until nothing changes. The probability is the least solution of
//   P(A,i,j,k,l) = sum over rules and ways of  weight * product of P(children)
// over the spans that take part (fixed_point.h). The forest has O(n^(1 + c)) ways for rules of c
// nonterminals. Each way is combined with the target spans that fit, which are few if the words
// distinguish the positions. More than 2 million ways, or 50 million steps over them, are an error
// (std::invalid_argument), so a grammar that is ambiguous everywhere works only for short pairs.
#pragma once
#include "grammar/synchronous.h"

namespace pushdown {

bool contains(const SynchronousGrammar& grammar, const Pair& pair);
// Returns the natural logarithm of the probability; -infinity outside the relation.
double log_probability(const SynchronousGrammar& grammar, const Pair& pair);

struct Translations {
  std::vector<Word> targets;  // shortest first, then by symbol ids
  bool complete = true;       // false: there are more than these
};
// Returns at most `limit` distinct targets of the source. Throws unless `limit` is 1 to 1,000,000.
Translations translations(const SynchronousGrammar& grammar, const Word& source,
                          std::int64_t limit = 1000);

}  // namespace pushdown
