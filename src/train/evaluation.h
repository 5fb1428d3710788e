// Cross-entropy of a language model on a data set, nats per symbol, and its distance to the
// data's own source:
//   cross_entropy            = - sum_w log p_model(w) / sum_w |w|
//   lower_bound              = - sum_w log p_source(w) / sum_w |w|
//   cross_entropy_difference = cross_entropy - lower_bound
// An end symbol, where the model has one, adds to the numerator and not to |w|. Sums run in float64
// in the order of the strings.
#pragma once
#include <optional>

#include "model/language_model.h"
#include "task/dataset.h"
#include "train/evaluation_options.h"

namespace pushdown {

// Strings whose length lies in [shortest, longest], or all strings. The bound and the difference
// are absent when the source is unknown or cannot make one of the strings.
struct CrossEntropy {
  std::int64_t shortest = 0, longest = 0;  // of the strings themselves, or the bin's edges
  std::int64_t strings = 0, symbols = 0;
  double cross_entropy = 0;  // not a number when there are no symbols
  std::optional<double> lower_bound;
  std::optional<double> difference;
  // The share of the strings whose whole set of next symbols is predicted at every place, where
  // these are known (EvaluationOptions::next_symbols).
  std::optional<double> next_symbol_accuracy;
};

struct Evaluation {
  CrossEntropy all;
  std::vector<CrossEntropy> bins;  // [k width, (k + 1) width) without the empty ones, in order
};

std::optional<Evaluation> evaluate(const LanguageModel& model, const Dataset& dataset,
                                   const EvaluationOptions& options);

// std::invalid_argument when the data's alphabet is not the model's.
void check_alphabets(std::string_view where, const LanguageModel& model, const Dataset& dataset);

Json to_json(const Evaluation& evaluation);

}  // namespace pushdown
