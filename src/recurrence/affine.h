// An affine map of many vectors or with a large matrix, such as the output layer over a vocabulary
// of words or what depends on the inputs of all steps alone, by the
// project's own kernel (kernel/dense/dense.h): a plain BLAS, which LibTorch then uses for it, takes
// several times as long.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// x W^T + b, differentiable in all three. x : ... x H, W : V x H, b : V or undefined -> ... x V. On
// the CPU, for float or double and at least 2^16 weights or 2^20 multiply-adds, by the kernel; else
// by LibTorch's own linear map, with which it agrees but for rounding. Does not depend on the
// number of threads.
Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

// Whether the kernel takes a map of x by this weight.
bool suits_kernel(const Tensor& x, const Tensor& weight);

// The same by the kernel, whatever the size.
Tensor affine_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace pushdown
