// How many derivation trees a string has.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// The number of leftmost derivations of w whose rules all have a weight above 0: 0 outside the
// language, infinity where epsilon and unary rules form a cycle that w can go through. Exact up to
// 2^53, then rounded as doubles are. Numbers of rules alone, no probabilities. O(n^3 rules) time
// and O(n^2 nonterminals) memory. Throws when an id is outside the alphabet.
double parse_count(const Grammar& grammar, const Word& word);

}  // namespace pushdown
