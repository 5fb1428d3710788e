// The loss of language models by the fused recurrence (kernel/scan.h), as an autograd function over
// a batch of sequences. Threads over the batch; results do not depend on them.
#pragma once
#include "model/fused_network.h"

namespace pushdown {

// log p of each sequence, B, when its first symbol is predicted from h_0 = 0, and each later one by
// softmax(W h_t + b) after reading those before it one-hot. targets : B x (T+1) symbol ids, valid,
// T >= 1; all but the last symbol are read. `network` has an output layer and T steps. Undefined
// where there is no fused kernel for its device.
//
// On the processor gradients, where they are wanted, are taken at once, sequence by sequence, while
// what the forward pass left is in the cache: the function is linear in the gradient of its result,
// so that the backward pass only sums up. Memory therefore holds one sequence's tape a thread. On a
// CUDA device both passes are launches over the batch (model/device_fused.h).
Tensor fused_log_probabilities(const FusedNetworkPtr& network, const Tensor& targets,
                               const BufferPoolPtr& buffers);

}  // namespace pushdown
