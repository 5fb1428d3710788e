// Training in stages: problems of one kind with one model, one after the other, each with its own
// data, learning rate and end. Lengths that grow from stage to stage make a curriculum. The
// optimizer keeps its state from stage to stage.
#pragma once
#include "train/problems/problem.h"

namespace pushdown {

// Returns the options of one stage: epochs, learning_rate, difference, accuracy.
const std::vector<OptionSpec>& stage_options();

// Returns the problem that trains these in turn. Its option `stages` is a list with the
// stage_options() of each. A stage ends with its epochs, when its validation strings reach
// `difference` or `accuracy`, or where early stopping would end the training. The best epoch is
// that of the current stage, because the validation strings of two stages differ. Throws
// std::invalid_argument for an end that the data of a stage cannot show, or a stage that has
// several phases of its own.
ProblemPtr staged(std::vector<ProblemPtr> stages);

}  // namespace pushdown
