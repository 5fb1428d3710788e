// Products of matrices that can be stopped (base/stopping.h): long ones are made in parts of rows,
// a fraction of a second each. Which products these are depends on the sizes alone.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// at::matmul.
Tensor product(const Tensor& a, const Tensor& b);
// at::linear, x W^T + bias; `bias` may be undefined.
Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias = {});

}  // namespace pushdown
