// Strings drawn from a language model, symbol by symbol, from its own predictions.
#pragma once
#include <optional>

#include "model/language_model.h"

namespace pushdown {

struct SampleRequest {
  std::int64_t count = 1;
  // Every string begins with these symbols, which are not drawn.
  Word prefix;
  // Number of symbols of every string, those of the prefix included. Each symbol is then drawn
  // given that the string goes on: an end is never drawn. Without a length the model ends the
  // strings.
  std::optional<std::int64_t> length;
  // Number of symbols after which a string without a length is cut.
  std::int64_t longest = 1000;
  // A symbol with the logit s is drawn with a probability proportional to exp(s / temperature).
  double temperature = 1;
  std::uint64_t seed = 0;
};

struct SampledString {
  Word word;
  bool ended = true;  // false: it was cut
};

// Each string has its own random numbers, so the first strings are the same for every count. Throws
// std::invalid_argument if the model predicts no end and there is no length, if the length or
// `longest` is below that of the prefix, if there are no symbols to draw, or if the temperature is
// not above 0, or if the strings have more than 10^9 symbols in all.
std::vector<SampledString> sample(const LanguageModel& model, const SampleRequest& request);

// Returns the probabilities of the next symbol after a prefix, then that of the end if the model
// predicts one. Throws std::invalid_argument if the temperature is not above 0.
std::vector<double> next_probabilities(const LanguageModel& model, const Word& prefix,
                                       double temperature = 1);

// Returns -log p of each symbol given those before it, then that of the end if the model predicts
// one, in nats.
std::vector<double> surprisals(const LanguageModel& model, const Word& word);

}  // namespace pushdown
