// The number of derivation trees of a string.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// Returns the number of leftmost derivations of w that use only rules of weight above 0: 0 outside
// the language, infinity if w can pass through a cycle of epsilon and unary rules. Exact up to
// 2^53, then rounded to double. Throws if the number is finite and too large for a double. Counts
// rules only and ignores their probabilities. Takes O(n^3 rules) time and O(n^2 nonterminals)
// memory. Throws if an id is outside the alphabet.
double parse_count(const Grammar& grammar, const Word& word);
// Returns the natural logarithm of the same number, however large.
double log_parse_count(const Grammar& grammar, const Word& word);

}  // namespace pushdown
