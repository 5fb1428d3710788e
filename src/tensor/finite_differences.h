// Gradients by finite differences, the reference for every backward pass, and the comparison of
// results.
#pragma once
#include <cmath>
#include <functional>
#include <limits>

#include "tensor/torch.h"

namespace pushdown {

// Returns the largest deviation: relative for numbers above one, absolute below. A mismatch in NaN
// counts as a deviation.
inline double deviation(const Tensor& got, const Tensor& wanted) {
  if (got.sizes() != wanted.sizes()) return std::numeric_limits<double>::infinity();
  if (got.numel() == 0) return 0;
  const Tensor a = got.detach().to(at::kDouble), b = wanted.detach().to(at::kDouble);
  const double worst = ((a - b).abs() / b.abs().clamp_min(1)).max().item<double>();
  return std::isnan(worst) ? std::numeric_limits<double>::infinity() : worst;
}

// Returns the largest deviation between autograd and central differences of a scalar function of
// float64 leaves, relative for gradients above one. Checks at most `samples` entries of each leaf.
// If `worst_leaf` is not null, it receives the index of the leaf with the largest deviation.
inline double gradient_error(const std::vector<Tensor>& leaves,
                             const std::function<Tensor()>& function, std::int64_t samples = 1000,
                             std::size_t* worst_leaf = nullptr) {
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
      double error = std::abs(slope - got) / std::max(1.0, std::abs(slope));
      if (std::isnan(error)) error = 1e300;
      if (error > worst && worst_leaf != nullptr) *worst_leaf = k;
      worst = std::max(worst, error);
    }
  }
  return worst;
}

}  // namespace pushdown
