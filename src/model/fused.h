// The loss of language models by the fused recurrence (kernel/scan.h), as an autograd function over
// a batch of sequences. Threads over the batch; results do not depend on them.
#pragma once
#include "base/buffer_pool.h"
#include "controller/controller.h"
#include "stack/stack.h"

namespace pushdown {

// log p of each sequence, B, when its first symbol is predicted from h_0 = 0, and each later one by
// softmax(W h_t + b) after reading those before it one-hot. targets : B x (T+1) symbol ids, valid,
// T >= 1; all but the last symbol are read. Undefined where there is no fused
// kernel for this controller, stack, device or type of number.
//
// Where gradients are wanted they are taken at once, sequence by sequence, while what the forward
// pass left is in the cache: the function is linear in the gradient of its result, so that the
// backward pass only sums up. Memory therefore holds one sequence's tape a thread.
Tensor fused_log_probabilities(const Controller& controller, const Stack& stack,
                               std::int64_t symbols, const Tensor& targets,
                               const Tensor& output_weight, const Tensor& output_bias,
                               const BufferPoolPtr& buffers);

}  // namespace pushdown
