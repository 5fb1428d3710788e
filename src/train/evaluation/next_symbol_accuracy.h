// How a softmax predicts the sets of symbols that may follow (task/next_symbols.h). A threshold is
// correct for a string if, after every symbol, the outcomes with a probability above the threshold
// are exactly the set. A string is ranked if, after every symbol, each symbol that may follow is
// more probable than every other one: one threshold for each place, instead of one for all.
#pragma once
#include <limits>

#include "task/next_symbols.h"
#include "tensor/torch.h"

namespace pushdown {

// The correct thresholds t, least <= t < most: from the greatest probability of a symbol that
// cannot follow to the smallest one of a symbol that can.
struct PredictedSets {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool ranked = true;
  bool contains(double threshold) const { return least <= threshold && threshold < most; }
};

// Returns the prediction of each string, B. logits : B x m x O, after `first` .. first + m - 1
// symbols of the strings with these indices; bits of the sets from O upwards are ignored.
std::vector<PredictedSets> predicted_sets(const Tensor& logits,
                                          const std::vector<std::int64_t>& strings,
                                          const NextSymbols& sets, std::int64_t first);

// 0 means 1 / (2 O), half of the uniform probability.
inline double threshold_of(double threshold, std::int64_t outcomes) {
  return threshold > 0 ? threshold : 0.5 / static_cast<double>(outcomes);
}

}  // namespace pushdown
