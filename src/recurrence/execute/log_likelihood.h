// Log-probabilities of target words under a softmax over a vocabulary. One kernel
// (kernel/dense/vocabulary.h) computes scores, softmax and gradients. The scores, one number for
// every vocabulary word at every position of a text, are computed once and traversed as few times
// as possible.
#pragma once
#include "base/buffer_pool.h"
#include "tensor/torch.h"

namespace pushdown {

// The affine layer of a softmax over outcomes: W : V x H, b : V.
struct SoftmaxLayer {
  Tensor weight, bias;
};

// Returns log softmax(W x + b)[target] for each vector, 0 if the target is negative; differentiable
// in x, W and b. x : ... x H, W : V x H, b : V, targets : ... (int64, below V) -> ... Uses the
// kernel on the CPU for float or double and at least 2^16 weights or 2^20 multiply-adds, otherwise
// LibTorch's operations; both agree up to rounding. The result does not depend on the number of
// threads.
Tensor log_likelihoods(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Tensor& targets, const BufferPoolPtr& buffers);

// Returns the same log-probabilities and, like x, `scale` times the gradient of their sum by x, and
// adds `scale` times those by W and b to the gradients of these parameters, as far as they are
// trained. Without a graph, by the kernel.
std::pair<Tensor, Tensor> log_likelihood_gradients(const Tensor& x, const SoftmaxLayer& layer,
                                                   const Tensor& targets,
                                                   const BufferPoolPtr& buffers, double scale);

// log_likelihoods() by LibTorch's operations, and by the kernel, whatever the size.
Tensor log_likelihoods_composed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                const Tensor& targets);
Tensor log_likelihoods_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Tensor& targets, const BufferPoolPtr& buffers);

}  // namespace pushdown
