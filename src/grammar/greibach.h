// Greibach normal form of a weighted grammar: every rule is A -> a B1 ... Bm (m >= 0), and the
// start symbol is on no right side. The empty string's weight is kept apart.
//
// A grammar that has this form already keeps its rules. Any other goes through normal_form.h: its
// rules without epsilon and unary rules are A -> a beta and A -> B beta, with beta one symbol or,
// after a terminal, none. With K[A] the sum of the former and H[B,A] the sum of the beta of
// A -> B beta, the weights of strings x[A] solve x = x H + K, hence (Rosenkrantz 1967)
//   x = K + K Y,   Y = H + H Y:
//   A      -> K[A]   |  K[B] Y[B,A]
//   Y[B,A] -> H[B,A] |  H[B,C] Y[C,A]
// where a beta that is a nonterminal is replaced by its rules of the first line. Left recursion,
// cycles included, ends up in Y. Every string of every nonterminal has exactly the weight that it
// had, since the equations are the same over power series with non-negative coefficients.
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

// The sum over the leftmost derivations of a string is G(w), exactly up to rounding.
GreibachForm greibach_form(const Grammar& grammar);

// The same as a grammar, whose weights are probabilities: A -> a B.. weighs its mass times those of
// the B, divided by that of A. It gives w the probability G(w) / Z, Z being the probability that a
// derivation of the given grammar ends; all is as before where Z = 1. The empty string, where it
// has weight, is derived by an epsilon rule of the start symbol alone.
Grammar greibach_grammar(const Grammar& grammar);

}  // namespace pushdown
