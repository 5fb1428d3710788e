// The joint objective of Mali et al. (2021), equation 1: after every pass t, the network predicts
// the next symbol and whether the whole string is valid,
//   loss = sum over t of  b_x (-log x_t[w_{t+1}])  +  b_y (y_t - y)^2 / 2
// where x_t = softmax of the next symbol's scores, y_t = logistic(score), and y is the label. b_x
// is symbol_weight, b_y validity_weight, both 1 in the paper.
//
// Timing: the paper predicts "x_t and y_t given x_<t" and computes both from z_t, which has read
// x_t. Here they are computed after a symbol was read, so x_t predicts the one that follows. The
// end symbol, if the model has one, is predicted after the last symbol; the pass that reads it has
// the second term alone because nothing follows. The first symbol is not predicted: nothing was
// read yet, so only the bias would learn from it.
//
// negatives = false omits the first term for invalid strings, so that the model learns the language
// alone; the paper sums over every string. average divides the sum by the number of passes.
#pragma once
#include "train/learning/objective.h"

namespace pushdown {

// Returns the objective with the options symbol_weight, validity_weight, negatives, average. A
// positive symbol_weight needs a recognizer with next_symbol.
ObjectiveKind joint_objective();

}  // namespace pushdown
