// The most probable derivations of a string, best first (Huang and Chiang, "Better k-best parsing",
// 2005, algorithm 3).
//
// The rules of at most two symbols (normal_form.h) and the spans of the string form a hypergraph
// whose derivations correspond one to one to those of the grammar, with epsilon and unary rules. A
// chart contains the weight of the best derivation of each nonterminal over each span. Then each
// node lists its derivations lazily: a candidate is a rule, a split, and the ranks of the
// derivations of its parts; when it is the best one left, its neighbours, with one rank higher by
// one, become candidates. Cycles of unary rules give infinitely many derivations, of which only the
// requested ones are made.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "grammar/parse_tree.h"

namespace pushdown {

// Returns the `count` most probable derivations of w, or all if there are fewer; none if w is
// outside the language. Of equally probable ones, which comes first is unspecified but always the
// same. O(n^3 rules) for the chart. Throws if an id is outside the alphabet or count < 1, or if the
// derivations have more than ten million rules in all or 10,000 inside of each other.
std::vector<Parse> best_parses(const Grammar& grammar, const Word& word, std::int64_t count);
// Returns the most probable derivation of w (Viterbi), or nothing if w is outside the language.
std::optional<Parse> best_parse(const Grammar& grammar, const Word& word);

}  // namespace pushdown
