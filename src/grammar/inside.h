// The probability of a string under a grammar, and what its derivations are made of.
#pragma once
#include <vector>

#include "grammar/grammar.h"

namespace pushdown {

// log G(w): the logarithm of the sum of the probabilities of all derivations of w; -infinity for
// a string outside the language. The empty word gives the empty string's mass.
// Throws std::invalid_argument when an id is outside the alphabet.
double log_probability(const Grammar& grammar, const Word& word);
// Of each word; threads share them. On a CUDA device: grammar/device_inside.h.
std::vector<double> log_probabilities(const Grammar& grammar, const std::vector<Word>& words);

// For every rule of the grammar, how often a derivation of w uses it on average, under the
// distribution of derivations given w (inside-outside; epsilon and unary uses included):
//     count[r] = d log G(w) / d log weight[r].
// Throws std::invalid_argument when G(w) = 0.
std::vector<double> expected_rule_counts(const Grammar& grammar, const Word& word);

// Throws std::invalid_argument when an id is not 0 .. size-1; `where` opens the message.
void check_word(std::string_view where, const Alphabet& alphabet, const Word& word);
// The power of two by which charts of real numbers scale each symbol.
int chart_scale(const Alphabet& alphabet);

}  // namespace pushdown
