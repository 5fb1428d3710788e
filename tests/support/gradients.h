// Random words and numbers, and gradients, for the tests that compare models.
#pragma once
#include "base/random.h"
#include "support/gradient.h"
#include "tensor/module_context.h"

namespace pushdown::testing_support {

// Returns B x n symbol ids below `symbols`.
inline Tensor random_words(std::int64_t batch, std::int64_t length, std::int64_t symbols = 3,
                           std::uint64_t seed = 5) {
  Random random(seed);
  Tensor words = at::empty({batch, length}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] =
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(symbols)));
  return words;
}

// Returns numbers of float64, uniform between `low` and `high`.
inline Tensor random_tensor(at::IntArrayRef shape, Random& random, double low = -1,
                            double high = 1) {
  Tensor values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i)
    values.data_ptr<double>()[i] = random.uniform(low, high);
  return values;
}
inline Tensor random_tensor(at::IntArrayRef shape, std::uint64_t seed, double low = -1,
                            double high = 1) {
  Random random(seed);
  return random_tensor(shape, random, low, high);
}
inline Tensor random_normal(at::IntArrayRef shape, std::uint64_t seed) {
  Random random(seed);
  Tensor values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i) values.data_ptr<double>()[i] = random.normal();
  return values;
}

// Returns the gradients of the parameters, 0 if there is none, and removes them.
inline std::vector<Tensor> taken_gradients(const ParameterList& parameters) {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : parameters) {
    all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor.detach()));
    tensor.mutable_grad() = Tensor();
  }
  return all;
}

}  // namespace pushdown::testing_support
