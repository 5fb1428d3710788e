// The total mass of each length: T[A,l] is the sum of the probabilities of all derivations from A
// of strings of length l >= 1 (DuSell and Chiang 2020, appendix C, algorithm 1), over the normal
// form.
//
//   before[A,l] = sum over lexical and binary rules of A; a pair B C contributes
//                 pair[B C, l] = sum_k T[B,k] T[C,l-k]
//   T[A,l]      = sum_B K[A,B] before[B,l]
//
// The table is computed once for all lengths up to a maximum n in O(pairs n^2), in real numbers,
// and again in logarithms if any value leaves the range of a double.
#pragma once
#include <vector>

#include "base/random.h"
#include "grammar/grammar.h"

namespace pushdown {

class LengthTable {
 public:
  // Throws std::invalid_argument if max_length is negative.
  LengthTable(Grammar grammar, int max_length);

  const Grammar& grammar() const { return grammar_; }
  int max_length() const { return max_length_; }
  // Returns the log of the total mass of the strings of this length; -infinity if there are none.
  // Length 0 is the empty string. Throws std::invalid_argument outside 0 .. max_length.
  double log_mass(int length) const;
  bool has_strings(int length) const;
  // Returns T: one row of max_length + 1 entries per nonterminal of the normal form.
  const std::vector<double>& masses() const { return after_; }
  // Returns whether these are natural logarithms.
  bool logarithms() const { return logarithms_; }

  // Draws a string of this length from the grammar's distribution given the length (algorithm 2).
  // Throws std::invalid_argument if there is none.
  Word sample(int length, Random& random) const;
  // Draws a derivation of a string of this length with its probability given the length. Returns
  // the rules of the grammar in leftmost order. Throws as sample() does.
  std::vector<int> sample_derivation(int length, Random& random) const;

  // Returns, for each length 0 .. max_length, the entropy in nats of the derivations of the strings
  // of that length, given the length: -sum_d p(d) log p(d) with p(d) = weight(d) / mass(length). In
  // an unambiguous grammar this is the entropy of the strings. 0 if there are no strings.
  std::vector<double> derivation_entropies() const;

 private:
  // A symbol that derives a string of that length; length 0: none.
  struct Part {
    Symbol symbol;
    int length = 0;
  };
  struct Expansion {
    Part first, second;
  };

  template <class S>
  void fill();
  template <class S>
  Word draw(int length, Random& random) const;
  // The three choices of one step of draw(): the left side that the unary closure leads to, one of
  // its rules with the lengths of its parts, and, for a pair, the split point.
  template <class S>
  int draw_left(int nonterminal, int length, Random& random) const;
  template <class S>
  Expansion draw_rule(int left, int length, Random& random) const;
  template <class S>
  int draw_split(int pair, int length, Random& random) const;
  // Returns the total mass of the derivations of strings of that length, including 0.
  template <class S>
  double mass_of(Symbol symbol, int length) const;
  template <class S>
  std::vector<int> derive(int length, Random& random) const;
  template <class S>
  std::vector<double> entropies() const;

  // Index of entry (a, l) in a table with one row of max_length + 1 entries per nonterminal.
  std::size_t at(int a, int l) const { return static_cast<std::size_t>(a) * (max_length_ + 1) + l; }

  // The rules of one left side, as indices into the lists of the normal form.
  struct LeftSide {
    std::vector<int> lexical, terminal_pairs, terminal_left, terminal_right;
    std::vector<std::pair<int, double>> pairs;  // (pair, weight)
    std::vector<int> whole;                     // the short rules before epsilon and unary removal
  };

  Grammar grammar_;
  int max_length_;
  bool logarithms_ = false;
  std::vector<double> before_, after_, pair_mass_;
  std::vector<LeftSide> left_sides_;
};

// "length 4" or "length 4 to 8", for messages.
std::string length_text(std::int64_t shortest, std::int64_t longest);

}  // namespace pushdown
