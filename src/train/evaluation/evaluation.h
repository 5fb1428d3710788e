// Cross-entropy of a language model on a dataset in nats per symbol, and its difference from that
// of the distribution the data was drawn from:
//   cross_entropy            = - sum_w log p_model(w) / sum_w |w|
//   lower_bound              = - sum_w log p_source(w) / sum_w |w|
//   cross_entropy_difference = cross_entropy - lower_bound
// If the model has an end symbol, it adds to the numerator and not to |w|. Without one, p_source is
// that of the symbols alone (grammar/sampler.h). If only the probabilities of whole strings are
// known, the bound includes the ends, which the model does not predict. Sums are computed in
// float64 in the order of the strings.
//
// A model that reads trees, on strings with trees, is measured by its probability of a string
// together with its tree; without trees it attaches the symbols itself.
//
// The standard error of the difference is that of a ratio of sums, with the residuals
//   d_w = log p_source(w) - log p_model(w) - cross_entropy_difference |w|.
// Samplers draw groups of strings of one length, so the residuals of consecutive strings of one
// length are added before they are squared, unless all strings have the same length.
#pragma once
#include <optional>

#include "model/language_model.h"
#include "task/dataset.h"
#include "train/evaluation/evaluation_options.h"

namespace pushdown {

// Strings whose length is in [shortest, longest], or all strings. The bound and the difference are
// absent if the source distribution is unknown or cannot generate one of the strings.
struct CrossEntropy {
  std::int64_t shortest = 0, longest = 0;  // of the strings themselves, or the bin's edges
  std::int64_t strings = 0, symbols = 0;
  double cross_entropy = 0;  // NaN if there are no symbols
  std::optional<double> lower_bound;
  std::optional<double> difference, difference_error;
  bool bound_includes_end = false;  // although the model does not predict it
  // The fraction of strings whose whole set of next symbols is predicted at every position, if
  // these sets are known (EvaluationOptions::next_symbols); and the fraction during which each
  // symbol that may follow is always more probable than every other one.
  std::optional<double> next_symbol_accuracy, next_symbol_ranking;
};

struct Evaluation {
  CrossEntropy all;
  std::vector<CrossEntropy> bins;  // [k width, (k + 1) width), without empty bins, in order
};

std::optional<Evaluation> evaluate(const LanguageModel& model, const Dataset& dataset,
                                   const EvaluationOptions& options);

// Returns whether the bound of these strings for this model has to be that of whole strings.
bool bound_includes_end(const LanguageModel& model, const Dataset& dataset, bool of_strings);

// Returns what is to be said about a cross-entropy that is significantly below its lower bound, by
// more than 0.005 and three standard errors; "" for others.
std::string bound_warning(double difference, double error, bool includes_end);

// Throws std::invalid_argument if the data's alphabet is not the model's.
void check_alphabets(std::string_view where, const LanguageModel& model, const Dataset& dataset);

Json to_json(const Evaluation& evaluation);

}  // namespace pushdown
