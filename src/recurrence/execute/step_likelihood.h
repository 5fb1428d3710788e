// The log-likelihood of strings under a recorded step and an output layer, the training objective
// of a language model: as one autograd function, or with its gradients and without a graph.
#pragma once
#include "recurrence/program/step_plan.h"

namespace pushdown {

// The number of outcomes up to which this is faster than one product for all hidden vectors
// (log_likelihood.h).
inline constexpr std::int64_t kMostOutcomes = 256;

// Returns the sum of log softmax(W h_t + b)[targets_t] over t = 0 .. T, B. h_0 = 0, and h_t is the
// plan's output after reading the first t targets. targets : B x (T+1) ids (int64, valid), T >= 1,
// as many as the plan was recorded for; W : V x H, b : V; supplied : B x T x n each. Runs on the
// CPU.
//
// If gradients are wanted, they are computed immediately, one block of sequences after another,
// while the results of the forward pass are in the cache. This is possible because the backward
// pass is linear in the gradient of the result, so it only has to scale and sum. Memory holds the
// tapes of one block per thread. Threads share the blocks; results do not depend on their number.
Tensor run_log_likelihoods(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                           const Tensor& bias, std::vector<Tensor> supplied,
                           const BufferPoolPtr& buffers);

// Returns the same values and adds `scale` times the gradients of their sum to those of the plan's
// parameters, of W and of b, as far as these are trained.
Tensor differentiate_log_likelihoods(const StepPlanPtr& plan, const Tensor& targets,
                                     const Tensor& weight, const Tensor& bias,
                                     const std::vector<Tensor>& supplied,
                                     const BufferPoolPtr& buffers, double scale);

}  // namespace pushdown
