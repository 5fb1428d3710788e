// Training a recognizer on labelled strings. The loss of a batch is the mean of an objective
// (objective.h) over its strings; a learning algorithm (learning.h) computes its gradient. A
// curriculum (task/curriculum.h) orders the strings. An epoch is evaluated by the error rate on the
// validation strings, or on the training strings if there are none.
#pragma once
#include "model/recognizer.h"
#include "task/labelled_dataset.h"
#include "train/learning/objective.h"
#include "train/problems/problem.h"

namespace pushdown {

// `valid` may be null. Dead ends known for the training strings become ObjectiveBatch::viable. If
// the language's grammar is given (it may be null), epochs report prefix_accuracy and
// next_symbol_accuracy on the validation strings (accuracy.h). Throws std::invalid_argument for no
// data, an alphabet that is not the model's, or a grammar that contradicts a label of the
// validation strings.
ProblemPtr recognition(RecognizerPtr model, LabelledDatasetPtr train, LabelledDatasetPtr valid,
                       const std::vector<ObjectiveKind>& objectives = objective_kinds(),
                       GrammarPtr grammar = nullptr);

// Returns the options objective, learning, curriculum, stop_accuracy, batch_symbols, best_by.
const std::vector<OptionSpec>& recognition_options();

}  // namespace pushdown
