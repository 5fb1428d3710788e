#include "train/next_symbol_accuracy.h"

namespace pushdown {

std::vector<bool> predicts_next_symbols(const Tensor& logits,
                                        const std::vector<std::int64_t>& strings,
                                        const NextSymbols& sets, std::int64_t first,
                                        double threshold) {
  const auto steps = logits.size(1), outcomes = logits.size(2);
  const double least = threshold > 0 ? threshold : 0.5 / static_cast<double>(outcomes);
  const Tensor probabilities =
      logits.detach().softmax(2).to(at::kCPU, at::kDouble).contiguous();  // B x m x O
  const double* p = probabilities.data_ptr<double>();
  const SymbolSet counted = ~SymbolSet{0} >> (64 - outcomes);  // of 1 to 64 outcomes
  std::vector<bool> right;
  for (const auto string : strings) {
    bool all = true;
    for (std::int64_t t = 0; t < steps; ++t) {
      SymbolSet predicted = 0;
      for (std::int64_t o = 0; o < outcomes; ++o)
        if (*p++ > least) predicted |= SymbolSet{1} << o;
      all = all && predicted == (sets[string][first + t] & counted);
    }
    right.push_back(all);
  }
  return right;
}

}  // namespace pushdown
