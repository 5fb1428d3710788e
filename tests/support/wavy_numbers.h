// Tensors for comparisons of two computations: sines, which have both signs and are all different.
#pragma once
#include "tensor/torch.h"

namespace pushdown::testing_support {

// Returns scale sin(0.7 i + shift) for i = 0, 1, ..., with requires_grad.
inline Tensor wavy_numbers(at::IntArrayRef shape, at::ScalarType type, double shift,
                           double scale = 1) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return at::sin(at::arange(count, at::kDouble) * 0.7 + shift)
      .mul(scale)
      .view(shape)
      .to(type)
      .set_requires_grad(true);
}

}  // namespace pushdown::testing_support
