// Accuracy of a recognizer: the number of strings for which its decision (Decision) equals the
// label. If the symbols that may follow are known (task/next_symbols.h), also the number of strings
// for which it is correct at every step.
#pragma once
#include <optional>

#include "model/recognizer.h"
#include "task/labelled_dataset.h"
#include "train/evaluation/evaluation_options.h"

namespace pushdown {

// Counts over the strings whose length is in [shortest, longest].
struct Accuracy {
  std::int64_t shortest = 0, longest = 0;  // of the strings themselves, or the bin's edges
  std::int64_t strings = 0, positives = 0;
  std::int64_t missed = 0;           // valid strings classified as invalid
  std::int64_t false_positives = 0;  // invalid strings classified as valid
  std::int64_t correct() const { return strings - missed - false_positives; }
  // If the next symbols are known: followed counts the strings during which every answer is correct
  // about whether the prefix begins a string of the language, and the last answer about whether the
  // string is in it. predicted counts the valid strings for which the model, if it predicts
  // symbols, predicts the whole set of next symbols after every symbol, and ranked those during
  // which each symbol that may follow is always more probable than every other one.
  std::int64_t followed = 0, predicted = 0, ranked = 0;
  double label_loss = 0;  // sum of -log p(label) of the answers after the last symbol, in nats
  double accuracy() const { return static_cast<double>(correct()) / static_cast<double>(strings); }
};

struct AccuracyEvaluation {
  Accuracy all;
  std::vector<Accuracy> bins;       // [k width, (k + 1) width), without empty bins, in order
  std::vector<std::int64_t> wrong;  // indices of the misclassified strings, from 0
  // Whether Accuracy::followed, predicted and label_loss were measured.
  bool follows = false, predicts = false, probable = false;
  // For EvaluationOptions::decisions, in order, without stepwise measurements; and for its
  // thresholds, the number of strings whose sets they predict.
  std::vector<AccuracyEvaluation> decided;
  std::vector<std::int64_t> predicted;
  // Fractions of all strings and of the valid ones; nothing if not measured.
  std::optional<double> prefix_accuracy(const Accuracy& of) const;
  std::optional<double> next_symbol_accuracy(const Accuracy& of) const;
  std::optional<double> next_symbol_ranking(const Accuracy& of) const;
  // Nats per string; nothing if the answers are no probabilities.
  std::optional<double> label_cross_entropy(const Accuracy& of) const;
};

// `strings`: the indices of the strings to evaluate; all if null. Returns nothing if should_stop
// returned true.
std::optional<AccuracyEvaluation> evaluate(const Recognizer& model, const LabelledDataset& dataset,
                                           const EvaluationOptions& options,
                                           const std::vector<std::int64_t>* strings = nullptr);

// Returns accuracy, error (percent of the strings), strings, positives, missed, false_positives,
// bins; if measured, also label_cross_entropy, prefix_accuracy, next_symbol_accuracy,
// next_symbol_ranking and next_symbol_accuracies, the latter for the additional thresholds.
Json to_json(const AccuracyEvaluation& evaluation);

// Throws std::invalid_argument if the data's alphabet is not the model's.
void check_alphabets(std::string_view where, const SequenceModel& model, const Alphabet& alphabet);

}  // namespace pushdown
