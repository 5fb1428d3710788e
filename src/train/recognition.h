// Training a recognizer on labelled strings: the loss of a batch is the mean over its strings of an
// objective (objective.h), its gradient is found by a learning algorithm (learning.h), the strings
// come in the order of a curriculum (task/curriculum.h), and an epoch is judged by the share of the
// misclassified validation strings, or of the training strings where there are none.
#pragma once
#include "model/recognizer.h"
#include "task/labelled_dataset.h"
#include "train/objective.h"
#include "train/problem.h"

namespace pushdown {

// `valid` may be null. Dead ends that the training strings know are ObjectiveBatch::viable. With
// the language's grammar, which may be null, epochs have prefix_accuracy and next_symbol_accuracy
// of the validation strings (accuracy.h).
// std::invalid_argument: no data, an alphabet that is not the model's, a grammar that contradicts a
// label of the validation strings.
ProblemPtr recognition(RecognizerPtr model, LabelledDatasetPtr train, LabelledDatasetPtr valid,
                       const std::vector<ObjectiveKind>& objectives = objective_kinds(),
                       GrammarPtr grammar = nullptr);

// objective, learning, curriculum, stop_accuracy.
const std::vector<OptionSpec>& recognition_options();

}  // namespace pushdown
