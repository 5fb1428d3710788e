// Derivation trees in terms of the grammar's original rules.
#pragma once
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

// Returns the sum of the log weights of the rules in the tree.
double derivation_log_probability(const Grammar& grammar, const ParseTree& tree);
// Returns the terminals of the tree from left to right.
Word leaves(const ParseTree& tree);
// Returns "(S (T '(' ')'))"; a nonterminal over the empty string is "(S)".
std::string bracketed(const Grammar& grammar, const ParseTree& tree);
// Returns one node per line, indented by two spaces per level; every line ends in \n.
std::string indented(const Grammar& grammar, const ParseTree& tree);

}  // namespace pushdown
