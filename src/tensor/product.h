// Matrix products that can be stopped (base/stopping.h). A long product is computed in blocks of
// rows that take a fraction of a second each. The sizes alone decide which products are split.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Computes at::matmul.
Tensor product(const Tensor& a, const Tensor& b);
// Computes at::linear, x W^T + bias; `bias` may be undefined.
Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace pushdown
