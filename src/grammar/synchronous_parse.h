// Parsing with a synchronous grammar: whether a pair is related, with what probability, and what a
// source may become. Any grammar is taken as it is, with empty sides, unary cycles and rules of any
// length.
//
// A source string w has a forest: the spans (A, i, j) that stand in a derivation of w by the source
// projection, and the ways a rule makes one from others. A pair (w, v) adds to each span the set of
// target spans (k, l) that a subtree can cover; they are found from the shortest source span up,
// where empty sides and unary rules make spans depend on each other by repeating until nothing
// changes. The probability is the least solution of
//   P(A,i,j,k,l) = sum over rules and ways of  weight * product of P(children)
// over the spans that take part (fixed_point.h). Costs: the forest has O(n^(1 + c)) ways for rules
// of c nonterminals; each is walked through with the target spans that fit, few where words tell
// places apart. More than 2 million ways, or 50 million steps over them, are an error
// (std::invalid_argument): grammars that are ambiguous everywhere are for short pairs.
#pragma once
#include "grammar/synchronous.h"

namespace pushdown {

bool contains(const SynchronousGrammar& grammar, const Pair& pair);
// Natural logarithm, -infinity outside of the relation.
double log_probability(const SynchronousGrammar& grammar, const Pair& pair);

struct Translations {
  std::vector<Word> targets;  // shortest first, then by symbol ids
  bool complete = true;       // false: there are more than these
};
// At most `limit` targets of the source, each once. Throws unless `limit` is 1 to 1,000,000.
Translations translations(const SynchronousGrammar& grammar, const Word& source,
                          std::int64_t limit = 1000);

}  // namespace pushdown
