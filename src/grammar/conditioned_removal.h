// The rule removal of the code published with DuSell and Chiang 2020. It is not exact; it exists
// for comparison with numbers that were computed with that code.
//
// Epsilon rules, then unary rules, are removed one at a time. To remove A -> beta of probability p:
//   * wherever A occurs on a right side, it is replaced by beta with probability p and stays A with
//     probability 1 - p, independently;
//   * the other rules of A are divided by 1 - p.
// This is exact for every nonterminal except the start symbol, which also occurs at the root.
// There, its use of A -> beta is lost, so the distribution becomes the one conditioned on the root
// not using that rule. Dyck loses all strings that are one bracket group, padded reversal the
// derivations with empty content, unmarked reversal the empty string.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// Removes epsilon rules first, then unary rules. Throws std::invalid_argument if the removal does
// not end (a grammar with S -> S S and S -> epsilon produces new epsilon rules forever) or if a
// removed rule is the only one of its left side.
GrammarSource remove_rules_conditioned(const GrammarSource& source);

}  // namespace pushdown
