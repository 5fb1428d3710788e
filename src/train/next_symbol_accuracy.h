// By which thresholds a softmax predicts the sets of symbols that may follow (task/next_symbols.h):
// the outcomes whose probability is above the threshold are the set, after every symbol of the
// string.
#pragma once
#include <limits>

#include "task/next_symbols.h"
#include "tensor/torch.h"

namespace pushdown {

// The thresholds t with least <= t < most: from the greatest probability of a symbol that cannot
// follow to the least one of a symbol that can.
struct ThresholdRange {
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool contains(double threshold) const { return least <= threshold && threshold < most; }
};

// Of each string, B. logits : B x m x O, after `first` .. first + m - 1 symbols of the strings of
// these numbers; bits of the sets from O on do not count.
std::vector<ThresholdRange> predicting_thresholds(const Tensor& logits,
                                                  const std::vector<std::int64_t>& strings,
                                                  const NextSymbols& sets, std::int64_t first);

// 0 stands for 1 / (2 O), half of what a uniform distribution has.
inline double threshold_of(double threshold, std::int64_t outcomes) {
  return threshold > 0 ? threshold : 0.5 / static_cast<double>(outcomes);
}

}  // namespace pushdown
