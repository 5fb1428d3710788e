// A recorded plan with the numbers of one batch, which runs on the CPU and computes its own
// gradients: of a loss of the hidden vectors, or of the log-likelihood of strings.
//
// Dimension letters: B batch, T steps of the program, n symbols of a string, H hidden, R reading, K
// passes, V outcomes.
#pragma once
#include "recurrence/execute/log_likelihood.h"
#include "recurrence/execute/pass.h"
#include "recurrence/program/step_plan.h"

namespace pushdown {

struct PlannedBatch {
  StepPlanPtr plan;
  Tensor words;                       // B x T: the symbols that the steps read
  std::vector<Tensor> supplied = {};  // B x T x n each
  std::int64_t window = 0;            // gradients end after every `window` steps; 0: nowhere
  // How hidden vectors lie in the program's output. A step has those of K passes. With a reading,
  // the step's numbers end with the memory's reading before its move, which belongs to the hidden
  // vectors of the step before (model/output_reading.h); the program then has a step more than the
  // string. Without a begin symbol (TracedProgram), h_0 = 0 comes before the first step.
  std::int64_t passes = 1;   // K
  std::int64_t reading = 0;  // R
  Tensor reading_mask = {};  // n x B x R, a factor of the readings after each symbol; undefined: 1
  BufferPoolPtr buffers = {};
};

// The number of outcomes up to which the log-likelihood is computed with the steps. With more, one
// product for all hidden vectors is faster (log_likelihood.h).
inline constexpr std::int64_t kMostOutcomes = 256;

Pass run_plan(const PlannedBatch& batch);

// Return the sum of log softmax(W h_t + b)[targets_t] over t = 0 .. n, B, in LibTorch's graph; and
// without it, adding `scale` times the gradients of their sum to those of the plan's parameters, of
// W and of b, as far as these are trained. targets : B x (n+1) ids (int64, valid).
//
// Up to kMostOutcomes, and in the graph always, gradients that are wanted are computed immediately,
// one block of sequences after another, while the results of the forward pass are in the cache.
// This is possible because the backward pass is linear in the gradient of the result, so it only
// has to scale and sum. Memory holds the tapes of one block per thread. Threads share the blocks;
// results do not depend on their number. In the graph, the batch has no reading.
Tensor log_likelihoods(const PlannedBatch& batch, const SoftmaxLayer& layer, const Tensor& targets);
Tensor differentiate_log_likelihoods(const PlannedBatch& batch, const SoftmaxLayer& layer,
                                     const Tensor& targets, double scale);

}  // namespace pushdown
