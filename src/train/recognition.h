// Training a recognizer on labelled strings: the loss of a batch is the mean over its strings of an
// objective (objective.h), its gradient is found by a learning algorithm (learning.h), the strings
// come in the order of a curriculum (task/curriculum.h), and an epoch is judged by the share of the
// validation strings told wrong, or of the training strings where there are none.
#pragma once
#include "model/recognizer.h"
#include "task/labelled_dataset.h"
#include "train/objective.h"
#include "train/problem.h"

namespace pushdown {

// `valid` may be null. Dead ends that the training strings know are ObjectiveBatch::viable.
// std::invalid_argument: no data, or an alphabet that is not the model's.
ProblemPtr recognition(RecognizerPtr model, LabelledDatasetPtr train, LabelledDatasetPtr valid,
                       const std::vector<ObjectiveKind>& objectives = objective_kinds());

// objective, learning, curriculum, stop_accuracy.
const std::vector<OptionSpec>& recognition_options();

}  // namespace pushdown
