// The log-likelihood of strings by a recorded step and an output layer, as one autograd function:
// what a language model learns from.
#pragma once
#include "recurrence/step_plan.h"

namespace pushdown {

// The sum of log softmax(W h_t + b)[targets_t] over t = 0 .. T, B. h_0 = 0, and h_t is the plan's
// output after reading the first t targets. targets : B x (T+1) ids (int64, valid), T >= 1, as many
// as the plan was recorded for; W : V x H, b : V; supplied : B x T x n each. On the processor.
//
// Gradients, where they are wanted, are taken at once, block after block of sequences, while what
// the forward pass left is in the cache: the function is linear in the gradient of its result, so
// that its backward pass only sums up. Memory holds the tapes of one block a thread. Threads share
// the blocks; results do not depend on their number.
Tensor run_log_likelihoods(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                           const Tensor& bias, std::vector<Tensor> supplied,
                           const BufferPoolPtr& buffers);

}  // namespace pushdown
