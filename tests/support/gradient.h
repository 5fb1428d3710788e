// Gradients by finite differences, the oracle of every backward pass.
#pragma once
#include <torch/csrc/autograd/autograd.h>

#include <functional>

#include "base/torch.h"

namespace pushdown::testing_support {

// Largest deviation between autograd and central differences of a scalar function of float64
// leaves, relative to gradients above one. At most `samples` entries of each leaf are checked.
inline double gradient_error(const std::vector<Tensor>& leaves,
                             const std::function<Tensor()>& function, std::int64_t samples = 1000) {
  for (const auto& leaf : leaves) leaf.mutable_grad() = Tensor();
  function().backward();
  std::vector<Tensor> gradients;
  for (const auto& leaf : leaves)
    gradients.push_back(leaf.grad().defined() ? leaf.grad().clone() : at::zeros_like(leaf));
  double worst = 0;
  at::NoGradGuard guard;
  for (std::size_t k = 0; k < leaves.size(); ++k) {
    auto* values = leaves[k].data_ptr<double>();
    const Tensor flat = gradients[k].contiguous();
    const auto count = leaves[k].numel();
    const auto stride = std::max<std::int64_t>(1, count / samples);
    for (std::int64_t i = 0; i < count; i += stride) {
      const double old = values[i], h = 1e-6;
      values[i] = old + h;
      const double above = function().item<double>();
      values[i] = old - h;
      const double below = function().item<double>();
      values[i] = old;
      const double slope = (above - below) / (2 * h), got = flat.data_ptr<double>()[i];
      const double error = std::abs(slope - got) / std::max(1.0, std::abs(slope));
      worst = std::isnan(error) ? 1e300 : std::max(worst, error);
    }
  }
  return worst;
}

}  // namespace pushdown::testing_support
