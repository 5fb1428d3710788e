#include "train/evaluation/next_symbol_accuracy.h"

#include <algorithm>

namespace pushdown {

std::vector<PredictedSets> predicted_sets(const Tensor& logits,
                                          const std::vector<std::int64_t>& strings,
                                          const NextSymbols& sets, std::int64_t first) {
  const auto steps = logits.size(1), outcomes = logits.size(2);
  const Tensor probabilities =
      logits.detach().softmax(2).to(at::kCPU, at::kDouble).contiguous();  // B x m x O
  const double* p = probabilities.data_ptr<double>();
  std::vector<PredictedSets> predicted;
  for (const auto string : strings) {
    PredictedSets of_string;
    for (std::int64_t t = 0; t < steps; ++t) {
      PredictedSets here;
      for (std::int64_t o = 0; o < outcomes; ++o, ++p) {
        if ((sets[string][first + t] >> o & 1) != 0)
          here.most = std::min(here.most, *p);
        else
          here.least = std::max(here.least, *p);
      }
      of_string.most = std::min(of_string.most, here.most);
      of_string.least = std::max(of_string.least, here.least);
      of_string.ranked = of_string.ranked && here.least < here.most;
    }
    predicted.push_back(of_string);
  }
  return predicted;
}

}  // namespace pushdown
