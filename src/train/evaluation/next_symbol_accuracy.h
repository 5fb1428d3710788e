// Thresholds at which a softmax predicts the sets of symbols that may follow (task/next_symbols.h).
// A threshold is correct for a string if, after every symbol, the outcomes with a probability above
// the threshold are exactly the set.
#pragma once
#include <limits>

#include "task/next_symbols.h"
#include "tensor/torch.h"

namespace pushdown {

// The thresholds t with least <= t < most: from the greatest probability of a symbol that cannot
// follow to the smallest one of a symbol that can.
struct ThresholdRange {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool contains(double threshold) const { return least <= threshold && threshold < most; }
};

// Returns the range of each string, B. logits : B x m x O, after `first` .. first + m - 1 symbols
// of the strings with these indices; bits of the sets from O upwards are ignored.
std::vector<ThresholdRange> predicting_thresholds(const Tensor& logits,
                                                  const std::vector<std::int64_t>& strings,
                                                  const NextSymbols& sets, std::int64_t first);

// 0 means 1 / (2 O), half of the uniform probability.
inline double threshold_of(double threshold, std::int64_t outcomes) {
  return threshold > 0 ? threshold : 0.5 / static_cast<double>(outcomes);
}

}  // namespace pushdown
