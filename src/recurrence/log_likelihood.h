// The logarithms of the probabilities that a softmax over a vocabulary gives what follows, by one
// kernel (kernel/dense/vocabulary.h) for scores, softmax and gradients: the scores, a number for
// every word of the vocabulary at every place of a text, are made once and passed over as few times
// as can be.
#pragma once
#include "base/buffer_pool.h"
#include "tensor/torch.h"

namespace pushdown {

// log softmax(W x + b)[target] for each vector, 0 where the target is negative; differentiable in
// x, W and b. x : ... x H, W : V x H, b : V, targets : ... (int64, below V) -> ... On the CPU, for
// float or double and at least 2^16 weights or 2^20 multiply-adds, by the kernel; else by
// LibTorch's operations, with which it agrees but for rounding. Does not depend on the number of
// threads.
Tensor log_likelihoods(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Tensor& targets, const BufferPoolPtr& buffers);

// The same by LibTorch's operations, and by the kernel, whatever the size.
Tensor log_likelihoods_composed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                const Tensor& targets);
Tensor log_likelihoods_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Tensor& targets, const BufferPoolPtr& buffers);

}  // namespace pushdown
