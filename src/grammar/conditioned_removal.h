// The rule removal of the code published with Dusell and Chiang 2020, kept for comparison with
// numbers that were made with it. It is not exact.
//
// One epsilon rule, later one unary rule, A -> beta of probability p is removed at a time:
//   * wherever A stands on a right side, it is replaced by beta with probability p and stays A
//     with probability 1 - p, independently;
//   * the other rules of A are divided by 1 - p.
// This is right for every nonterminal but the start symbol, which also stands for itself at the
// root: its own use of A -> beta vanishes, and the distribution becomes the one conditioned on the
// root not using that rule. Dyck loses all strings that are one bracket group, padded reversal the
// derivations with empty content, unmarked reversal the empty string.
#pragma once
#include "grammar/grammar.h"

namespace pushdown {

// Epsilon rules first, then unary rules. Throws std::invalid_argument when the removal does not
// end (a grammar with S -> S S and S -> epsilon makes new epsilon rules forever) or a removed rule
// is the only one of its left side.
GrammarSource remove_rules_conditioned(const GrammarSource& source);

}  // namespace pushdown
