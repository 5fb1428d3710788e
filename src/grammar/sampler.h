// Drawing strings from a grammar.
//
// Sampler draws strings whose length is in an interval (DuSell and Chiang 2020, appendix C). It
// draws a length uniformly from the set L of lengths in [shortest, longest] that have strings, then
// a string of that length from the grammar's distribution given the length:
//     p_sample(w) = 1/|L| * G(w) / G(|w|),    G(l) = sum of G(w) over all w with |w| = l.
// The lower bound of a set of strings is the cross-entropy per symbol of p_sample itself,
//     -sum_w log p_sample(w) / sum_w |w|      (nats per symbol),
// and the entropy of p_sample, exact if the grammar is unambiguous, is
//     log |L| + 1/|L| * sum_l H_l,            H_l = entropy of the strings of length l (nats).
//
// A model that never predicts the end of a string predicts another event: each symbol, given the
// symbols before it and that there is a symbol. `end_symbol = false` stands for this event. Its
// probability is
//     prod_t p(w_t | w_1 .. w_{t-1}, |w| >= t)      (prefix_probability.h)
// and its lower bound is below that of whole strings by the information in the ends.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "grammar/length_table.h"

namespace pushdown {

class Sampler {
 public:
  // Throws std::invalid_argument if the interval is empty, negative or contains no strings.
  Sampler(Grammar grammar, int shortest, int longest);

  const Grammar& grammar() const { return table_->grammar(); }
  int shortest() const { return shortest_; }
  int longest() const { return longest_; }
  const std::vector<int>& lengths() const { return lengths_; }  // L, ascending

  int sample_length(Random& random) const;
  // Throws std::invalid_argument if the interval has no strings of that length.
  Word sample_of_length(int length, Random& random) const;
  // Draws a derivation: the rules of the grammar in leftmost order. Throws as sample_of_length()
  // does.
  std::vector<int> derivation_of_length(int length, Random& random) const;
  // Returns the log of the total mass of the strings of a length 0 .. longest; see LengthTable.
  double log_mass(int length) const { return table_->log_mass(length); }
  Word sample(Random& random) const { return sample_of_length(sample_length(random), random); }
  // Draws `count` strings in groups of `batch` strings of the same length, as in the paper; the
  // last group may be smaller. The same seed gives the same strings, and the first strings do not
  // depend on `count`.
  std::vector<Word> sample_batches(std::int64_t count, std::int64_t batch,
                                   std::uint64_t seed) const;

  // Returns log p_sample(w), or that of its symbols without the end; -infinity if w is outside the
  // language or its length is not in L.
  double log_probability(const Word& word, bool end_symbol = true) const;
  // Returns nats per symbol. Throws std::invalid_argument if a string has probability zero or there
  // are no symbols.
  double lower_bound(const std::vector<Word>& words, bool end_symbol = true) const;

  // Returns the entropy of p_sample in nats per string. Throws std::invalid_argument unless the
  // grammar is declared unambiguous.
  double entropy() const;
  // Returns H_l for every length 0 .. longest (0 if there are no strings). Throws as entropy()
  // does.
  std::vector<double> length_entropies() const;
  // Returns entropy / mean length in nats per symbol, the limit of lower_bound() for large sets.
  double expected_lower_bound() const;

  // The entropy estimated from newly drawn strings; also works for ambiguous grammars.
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

// Returns the string of a derivation given as rules in leftmost order. Throws std::invalid_argument
// if the rules are not a derivation.
Word yield_of(const Grammar& grammar, const std::vector<int>& derivation);

// Draws strings of any length from the grammar's distribution over derivations that terminate. Rule
// A -> X1 ... Xk is chosen with probability weight * Z[X1] ... Z[Xk] / Z[A], where Z are the
// termination probabilities, so a supercritical grammar needs no retries.
class FreeSampler {
 public:
  explicit FreeSampler(Grammar grammar);
  // Throws std::invalid_argument if the string grows beyond max_length symbols or the derivation
  // beyond ten times as many rules.
  Word sample(Random& random, std::int64_t max_length = 1'000'000) const;
  // Returns the rules of a derivation in leftmost order, or nothing if it exceeds these limits.
  std::optional<std::vector<int>> derivation(Random& random,
                                             std::int64_t max_length = 1'000'000) const;

 private:
  Grammar grammar_;
  std::vector<std::vector<std::pair<int, double>>> choices_;  // (rule, cumulative probability)
};

}  // namespace pushdown
