// Drawing strings from a grammar.
//
// Sampler draws strings whose length lies in an interval (Dusell and Chiang 2020, appendix C): a
// length uniformly from the set L of lengths in [shortest, longest] that have strings, then a
// string of that length from the grammar's distribution given the length:
//     p_sample(w) = 1/|L| * G(w) / G(|w|),    G(l) = sum of G(w) over all w with |w| = l.
// The lower bound of a set of strings is the cross-entropy per symbol of p_sample itself,
//     -sum_w log p_sample(w) / sum_w |w|      (nats per symbol),
// and the entropy of p_sample, exact where the grammar is unambiguous, is
//     log |L| + 1/|L| * sum_l H_l,            H_l = entropy of the strings of length l (nats).
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grammar/length_table.h"

namespace pushdown {

class Sampler {
 public:
  // Throws std::invalid_argument when the interval is empty, negative or holds no strings.
  Sampler(Grammar grammar, int shortest, int longest);

  const Grammar& grammar() const { return table_->grammar(); }
  int shortest() const { return shortest_; }
  int longest() const { return longest_; }
  const std::vector<int>& lengths() const { return lengths_; }  // L, ascending

  int sample_length(Random& random) const;
  // Throws std::invalid_argument when there are no strings of that length in the interval.
  Word sample_of_length(int length, Random& random) const;
  // The same as a derivation: the rules of the grammar in leftmost order.
  std::vector<int> derivation_of_length(int length, Random& random) const;
  // log of the total mass of the strings of a length 0 .. longest; see LengthTable.
  double log_mass(int length) const { return table_->log_mass(length); }
  Word sample(Random& random) const { return sample_of_length(sample_length(random), random); }
  // `count` strings in groups of `batch` strings of one length, as the paper draws its batches;
  // the last group may be smaller. The same seed gives the same strings, and the first strings do
  // not depend on `count`.
  std::vector<Word> sample_batches(std::int64_t count, std::int64_t batch,
                                   std::uint64_t seed) const;

  // log p_sample(w); -infinity outside the language or the lengths.
  double log_probability(const Word& word) const;
  // Nats per symbol. Throws std::invalid_argument when a string has probability zero or there are
  // no symbols.
  double lower_bound(const std::vector<Word>& words) const;

  // Entropy of p_sample, nats per string. Throws std::invalid_argument unless the grammar is
  // declared unambiguous.
  double entropy() const;
  // H_l for every length 0 .. longest (0 where there are no strings); same condition.
  std::vector<double> length_entropies() const;
  // entropy / mean length: what lower_bound() tends to as the set grows, nats per symbol.
  double expected_lower_bound() const;

  // The entropy estimated from fresh strings, for ambiguous grammars too.
  struct Estimate {
    double value, standard_error;  // nats per string
  };
  Estimate estimate_entropy(std::int64_t strings, std::uint64_t seed) const;

 private:
  double mean_length() const;
  void check_length(int length) const;

  std::shared_ptr<const LengthTable> table_;
  int shortest_, longest_;
  std::vector<int> lengths_;
};

// The string of a derivation given as rules in leftmost order. Throws std::invalid_argument when
// they are none.
Word yield_of(const Grammar& grammar, const std::vector<int>& derivation);

// Draws without regard to length, from the grammar's distribution over the strings of derivations
// that end: rule A -> X1 ... Xk is taken with probability weight * Z[X1] ... Z[Xk] / Z[A], Z being
// the termination probabilities, so that a supercritical grammar needs no retries.
class FreeSampler {
 public:
  explicit FreeSampler(Grammar grammar);
  // Throws std::invalid_argument when the string grows beyond max_length symbols or the derivation
  // beyond ten times as many rules.
  Word sample(Random& random, std::int64_t max_length = 1'000'000) const;
  // The rules of a derivation in leftmost order; nothing as soon as it grows beyond these limits.
  std::optional<std::vector<int>> derivation(Random& random,
                                             std::int64_t max_length = 1'000'000) const;

 private:
  Grammar grammar_;
  std::vector<std::vector<std::pair<int, double>>> choices_;  // (rule, cumulative probability)
};

}  // namespace pushdown
