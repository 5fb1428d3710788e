// The form of a grammar that parsing, length tables and samplers use: binary rules without
// epsilon rules, and the unary closure kept as a matrix beside them.
//
// 1. Binarisation. Terminals are stripped from both ends of a right side, then the rest is cut
//    from the left; equal remainders share one added nonterminal. Added nonterminals have a
//    single rule of weight 1, so derivations correspond one to one.
// 2. Epsilon. E[A], the mass of the derivations of the empty string from A, is the least solution
//    of E = f(E) (fixed_point.h). A -> B C of weight w then also gives A -> B of weight w E[C] and
//    A -> C of weight w E[B]; from here on a nonterminal stands for its non-empty strings alone.
// 3. Unary rules. With U[A,B] the total weight of A -> B, all chains together weigh
//    K = I + U + U^2 + ... = (I - U)^-1, cycles included, the start symbol's own chains included:
//        inside[A](w) = sum_B K[A,B] (mass of w from B by a lexical or binary rule).
//    The closure is not multiplied into the rules, because applying it once per cell of a chart
//    is cheaper than longer rule lists; closed_rules() does it where rules are wanted.
// The distribution over strings is exactly that of the grammar; the start symbol's mass of the
// empty string is kept apart in `empty_mass`.
#pragma once
#include <string>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// A rule with at most two symbols on the right, before epsilon and unary rules are removed.
struct ShortRule {
  int left = 0;
  std::vector<Symbol> right;
  double weight = 0;
  int rule = -1;  // of the grammar; -1: of an added nonterminal, weight 1
};

struct LexicalRule {  // left -> symbol
  int left, symbol;
  double weight;
};
struct TerminalPairRule {  // left -> first second, both terminals
  int left, first, second;
  double weight;
};
struct TerminalLeftRule {  // left -> terminal nonterminal
  int left, terminal, nonterminal;
  double weight;
};
struct TerminalRightRule {  // left -> nonterminal terminal
  int left, nonterminal, terminal;
  double weight;
};
// All rules whose right side is the same pair of nonterminals: the pair is summed over splits once.
struct NonterminalPair {
  int first, second;
  std::vector<std::pair<int, double>> lefts;  // (left, weight)
};
struct ClosureEntry {
  int from;
  double weight;
};

struct NormalForm {
  int size = 0;  // nonterminals: those of the grammar first, then the added ones
  int start = 0;
  double empty_mass = 0;         // mass of the empty string from the start symbol
  std::vector<double> nullable;  // E, per nonterminal
  std::vector<double> mass;      // total mass of all derivations, per nonterminal
  std::vector<std::string> names;
  std::vector<ShortRule> short_rules;
  std::vector<LexicalRule> lexical;
  std::vector<TerminalPairRule> terminal_pairs;
  std::vector<TerminalLeftRule> terminal_left;
  std::vector<TerminalRightRule> terminal_right;
  std::vector<NonterminalPair> pairs;
  // Rows of K: closure[A] lists (B, K[A,B]); A itself comes first. Rows other than the identity's
  // are those in `closed`.
  std::vector<std::vector<ClosureEntry>> closure;
  std::vector<int> closed;
};

NormalForm make_normal_form(const Grammar& grammar);

// A rule of the grammar without epsilon and unary rules; weights are masses, which need not sum
// to one per left side because the empty string's share is gone.
struct ClosedRule {
  int left;
  std::vector<Symbol> right;  // one terminal, or two symbols
  double weight;
};
// The closure multiplied in: rules with the same strings and masses, the empty string excepted.
std::vector<ClosedRule> closed_rules(const NormalForm& form);
// "S -> 'a' S|1 [0.25]" lines.
std::string closed_rules_text(const Grammar& grammar);

}  // namespace pushdown
