// Derivation trees in terms of the rules of the grammar as it was written, and the most probable
// derivation of a string (Viterbi).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

struct ParseTree {
  Symbol symbol;
  int rule = -1;  // of the grammar; -1 for a terminal
  std::vector<ParseTree> children;
};

struct Parse {
  ParseTree tree;
  double log_probability = 0;  // of this derivation alone
};

// The most probable derivation of w, or nothing when w is outside the language. Epsilon rules and
// unary rules appear in the tree. O(n^3 rules). Throws when an id is outside the alphabet.
std::optional<Parse> best_parse(const Grammar& grammar, const Word& word);

// The sum of the logarithms of the weights of the rules in the tree.
double derivation_log_probability(const Grammar& grammar, const ParseTree& tree);
// The terminals of the tree from left to right.
Word leaves(const ParseTree& tree);
// "(S (T '(' ')'))"; a nonterminal over the empty string is "(S)".
std::string bracketed(const Grammar& grammar, const ParseTree& tree);
// One node a line, two spaces a level; a line ends in \n.
std::string indented(const Grammar& grammar, const ParseTree& tree);

}  // namespace pushdown
