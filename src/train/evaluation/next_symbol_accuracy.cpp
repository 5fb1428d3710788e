#include "train/evaluation/next_symbol_accuracy.h"

#include <algorithm>

namespace pushdown {

std::vector<ThresholdRange> predicting_thresholds(const Tensor& logits,
                                                  const std::vector<std::int64_t>& strings,
                                                  const NextSymbols& sets, std::int64_t first) {
  const auto steps = logits.size(1), outcomes = logits.size(2);
  const Tensor probabilities =
      logits.detach().softmax(2).to(at::kCPU, at::kDouble).contiguous();  // B x m x O
  const double* p = probabilities.data_ptr<double>();
  std::vector<ThresholdRange> ranges;
  for (const auto string : strings) {
    ThresholdRange range;
    for (std::int64_t t = 0; t < steps; ++t)
      for (std::int64_t o = 0; o < outcomes; ++o, ++p) {
        if ((sets[string][first + t] >> o & 1) != 0)
          range.most = std::min(range.most, *p);
        else
          range.least = std::max(range.least, *p);
      }
    ranges.push_back(range);
  }
  return ranges;
}

}  // namespace pushdown
