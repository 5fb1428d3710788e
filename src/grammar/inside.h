// The probability of a string under a grammar, and expected rule counts of its derivations.
#pragma once
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// Returns log G(w), the logarithm of the sum of the probabilities of all derivations of w;
// -infinity for a string outside the language. The empty word gives the mass of the empty string.
// Throws std::invalid_argument if an id is outside the alphabet.
double log_probability(const Grammar& grammar, const Word& word);
// Returns log G(w) of each word, computed in parallel. On a CUDA device: grammar/device_inside.h.
std::vector<double> log_probabilities(const Grammar& grammar, const std::vector<Word>& words);

// Returns, for every rule of the grammar, the expected number of its uses in a derivation of w,
// under the distribution of derivations given w (inside-outside; includes epsilon and unary rules):
//     count[r] = d log G(w) / d log weight[r].
// Throws std::invalid_argument if G(w) = 0.
std::vector<double> expected_rule_counts(const Grammar& grammar, const Word& word);
// Also returns log G(w). If that is -infinity, the counts are empty.
std::vector<double> expected_rule_counts(const Grammar& grammar, const Word& word,
                                         double& log_probability);

// Throws std::invalid_argument, with a message that starts with `where`, if an id is not in 0 ..
// size-1.
void check_word(std::string_view where, const Alphabet& alphabet, const Word& word);
// Returns the exponent of the power of two by which charts of real numbers scale each symbol.
int chart_scale(const Alphabet& alphabet);

}  // namespace pushdown
