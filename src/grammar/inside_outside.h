// Estimation of the probabilities of a grammar's rules from sentences by the inside-outside
// algorithm, which is expectation maximization (Baker 1979; Lari and Young 1990).
//
// The new weight of a rule A -> X is its expected number of uses in the derivations of all
// sentences (expected_rule_counts() in inside.h), divided by that of all rules of A. A left side
// without any expected use keeps its weights. The likelihood of the sentences never decreases.
#pragma once
#include <utility>
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// The sentences, each distinct one with its number of occurrences.
class SentenceCounts {
 public:
  // Throws std::invalid_argument if there are no sentences or an id is outside the alphabet.
  SentenceCounts(const Alphabet& alphabet, const std::vector<Word>& sentences);

  struct Entry {
    Word word;
    double count = 0;
    std::size_t first = 0;  // the place of its first occurrence, from 0
  };
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

// Returns the log-likelihood of the sentences in nats: the sum of log G(w). Throws
// std::invalid_argument that names the first sentence outside the language.
double log_likelihood(const Grammar& grammar, const SentenceCounts& sentences);

// Returns the grammar with the weights of one step, and the log-likelihood of the sentences under
// the given grammar. The result does not depend on the number of threads. Throws as
// log_likelihood() does.
std::pair<Grammar, double> reestimated(const Grammar& grammar, const SentenceCounts& sentences);

}  // namespace pushdown
