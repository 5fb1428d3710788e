// Greibach normal form of a weighted grammar: every rule is A -> a B1 ... Bm (m >= 0), and the
// start symbol is on no right side. The weight of the empty string is stored separately.
//
// A grammar whose rules are empty or begin with a terminal keeps them: a terminal inside becomes a
// nonterminal, and an alternative without each nonterminal that may be empty is added. Any other
// grammar first goes through normal_form.h. Its rules without epsilon and unary rules are A -> a
// beta and A -> B beta, where beta is one symbol or, after a terminal, may be empty. Let K[A] be
// the sum of the former and H[B,A] the sum of the beta of A -> B beta. The weights of strings x[A]
// solve x = x H + K, hence (Rosenkrantz 1967)
//   x = K + K Y,   Y = H + H Y:
//   A      -> K[A]   |  K[B] Y[B,A]
//   Y[B,A] -> H[B,A] |  H[B,C] Y[C,A]
// where a beta that is a nonterminal is replaced by its rules of the first line. Left recursion,
// including cycles, ends up in Y. Every string of every nonterminal keeps exactly its weight, since
// the equations are the same over power series with non-negative coefficients.
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

struct GreibachRule {
  int left = 0;
  int terminal = 0;
  std::vector<int> rest;  // nonterminals
  double weight = 0;      // a mass: these need not sum to one over a left side
};

struct GreibachForm {
  std::vector<std::string> names;  // of the nonterminals
  int start = 0;
  double empty_mass = 0;  // weight of the empty string
  std::vector<GreibachRule> rules;
  std::vector<double> mass;  // sum over all strings, per nonterminal
};

// Returns the form. Throws std::invalid_argument if it has more than a million rules. The sum over
// the leftmost derivations of a string is G(w), up to rounding.
GreibachForm greibach_form(const Grammar& grammar);

// Returns the form as a grammar whose weights are probabilities: the weight of A -> a B.. is
// multiplied by the masses of the B and divided by the mass of A. The new grammar gives w the
// probability G(w) / Z, where Z is the probability that a derivation of the given grammar
// terminates; if Z = 1, probabilities are unchanged. If the empty string has weight, an epsilon
// rule of the start symbol derives it.
Grammar greibach_grammar(const Grammar& grammar);

}  // namespace pushdown
