// How many strings a recognizer classifies correctly: what it decides (Decision) against the label;
// and, where the symbols that may follow are known (task/next_symbols.h), how many it follows step
// by step.
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
  // Where the next symbols are known: strings during which every answer says whether what was read
  // begins a string of the language, the last answer whether it is one; and valid strings of which
  // the whole set of next symbols is predicted after every symbol, where the model predicts them.
  std::int64_t followed = 0, predicted = 0;
  double accuracy() const { return static_cast<double>(correct()) / static_cast<double>(strings); }
};

struct AccuracyEvaluation {
  Accuracy all;
  std::vector<Accuracy> bins;       // [k width, (k + 1) width) without the empty ones, in order
  std::vector<std::int64_t> wrong;  // numbers of the strings classified wrongly, from 0
  bool follows = false, predicts = false;  // whether these were measured
  // Of EvaluationOptions::decisions, in their order, without what is measured step by step; and of
  // its thresholds, strings whose sets they predict.
  std::vector<AccuracyEvaluation> decided;
  std::vector<std::int64_t> predicted;
  // Shares of all strings and of the valid ones; nothing where not measured.
  std::optional<double> prefix_accuracy(const Accuracy& of) const;
  std::optional<double> next_symbol_accuracy(const Accuracy& of) const;
};

// `strings`: the numbers of those to be measured; all where null. Nothing when should_stop said so.
std::optional<AccuracyEvaluation> evaluate(const Recognizer& model, const LabelledDataset& dataset,
                                           const EvaluationOptions& options,
                                           const std::vector<std::int64_t>* strings = nullptr);

// accuracy, error (percent of the strings), strings, positives, missed, false_positives, bins;
// where measured prefix_accuracy, next_symbol_accuracy and next_symbol_accuracies, those of the
// further thresholds.
Json to_json(const AccuracyEvaluation& evaluation);

// std::invalid_argument when the data's alphabet is not the model's.
void check_alphabets(std::string_view where, const SequenceModel& model, const Alphabet& alphabet);

}  // namespace pushdown
