// How many strings a recognizer tells right: what it decides (Decision) against the label.
#pragma once
#include <optional>

#include "model/recognizer.h"
#include "task/labelled_dataset.h"
#include "train/evaluation_options.h"

namespace pushdown {

// Strings whose length lies in [shortest, longest].
struct Accuracy {
  std::int64_t shortest = 0, longest = 0;  // of the strings themselves, or the bin's edges
  std::int64_t strings = 0, positives = 0;
  std::int64_t missed = 0;           // valid strings taken for invalid
  std::int64_t false_positives = 0;  // invalid strings taken for valid
  std::int64_t correct() const { return strings - missed - false_positives; }
  double accuracy() const { return static_cast<double>(correct()) / static_cast<double>(strings); }
};

struct AccuracyEvaluation {
  Accuracy all;
  std::vector<Accuracy> bins;       // [k width, (k + 1) width) without the empty ones, in order
  std::vector<std::int64_t> wrong;  // numbers of the strings told wrong, from 0
};

// `strings`: the numbers of those to be measured; all where null. Nothing when should_stop said so.
std::optional<AccuracyEvaluation> evaluate(const Recognizer& model, const LabelledDataset& dataset,
                                           const EvaluationOptions& options,
                                           const std::vector<std::int64_t>* strings = nullptr);

// accuracy, error (percent of the strings), strings, positives, missed, false_positives, bins.
Json to_json(const AccuracyEvaluation& evaluation);

// std::invalid_argument when the data's alphabet is not the model's.
void check_alphabets(std::string_view where, const SequenceModel& model, const Alphabet& alphabet);

}  // namespace pushdown
