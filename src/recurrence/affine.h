// An affine map of many vectors or with a large matrix, by the project's own kernel
// (kernel/dense/dense.h). Examples are the output layer over a vocabulary of words, and maps of the
// inputs of all steps. A plain BLAS, which LibTorch would use, takes several times as long.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Returns x W^T + b, differentiable in all three. x : ... x H, W : V x H, b : V or undefined -> ...
// x V. Uses the kernel on the CPU for float or double and at least 2^16 weights or 2^20
// multiply-adds, otherwise LibTorch's own linear map; both agree up to rounding. The result does
// not depend on the number of threads.
Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias);

// Returns whether the kernel is used for a map of x by this weight.
bool suits_kernel(const Tensor& x, const Tensor& weight);

// Computes the same by the kernel, whatever the size.
Tensor affine_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias);

}  // namespace pushdown
