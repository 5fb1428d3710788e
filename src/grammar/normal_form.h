// The form of a grammar that parsing, length tables and samplers use: binary rules without epsilon
// rules, and the unary closure as a separate matrix.
//
// 1. Binarisation. Terminals are stripped from both ends of a right side, then the rest is cut from
//    the left; equal remainders share one added nonterminal. Added nonterminals have a single rule
//    of weight 1, so derivations correspond one to one.
// 2. Epsilon. E[A], the mass of the derivations of the empty string from A, is the least solution
//    of E = f(E) (fixed_point.h). A -> B C of weight w then also gives A -> B of weight w E[C] and
//    A -> C of weight w E[B]. From here on, a nonterminal derives only its non-empty strings.
// 3. Unary rules. With U[A,B] the total weight of A -> B, all chains together, including cycles and
//    the start symbol's own chains, weigh K = I + U + U^2 + ... = (I - U)^-1:
//        inside[A](w) = sum_B K[A,B] (mass of w from B by a lexical or binary rule).
//    The closure is not multiplied into the rules, because applying it once per cell of a chart is
//    cheaper than using longer rule lists. closed_rules() multiplies it in if rules are needed.
// The distribution over strings is exactly that of the grammar. The mass that the start symbol
// gives to the empty string is stored separately in `empty_mass`.
#pragma once
#include <string>
#include <vector>

#include "grammar/alphabet.h"
#include "grammar/rule.h"

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
// All rules whose right side is the same pair of nonterminals, so that the pair is summed over
// splits only once.
struct NonterminalPair {
  int first, second;
  std::vector<std::pair<int, double>> lefts;  // (left, weight)
};
struct ClosureEntry {
  int from;
  double weight;
};

struct NormalForm {
  int size = 0;  // nonterminals: first those of the grammar, then the added ones
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
  // Rows of K: closure[A] lists (B, K[A,B]) and begins with A itself. `closed` lists the rows that
  // differ from those of the identity.
  std::vector<std::vector<ClosureEntry>> closure;
  std::vector<int> closed;
  double rounding = 0;  // an estimate of the relative error of K
};

// Returns the normal form of these rules; `start` is the number of the start symbol.
NormalForm make_normal_form(const Alphabet& alphabet, const std::vector<std::string>& nonterminals,
                            const std::vector<Rule>& rules, int start);

// A rule of the grammar without epsilon and unary rules. Weights are masses, which need not sum to
// one per left side because the share of the empty string is gone.
struct ClosedRule {
  int left;
  std::vector<Symbol> right;  // one terminal, or two symbols
  double weight;
};
// Returns the rules with the closure multiplied in. Strings and masses are the same, except that
// the empty string is missing.
std::vector<ClosedRule> closed_rules(const NormalForm& form);

}  // namespace pushdown
