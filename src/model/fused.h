// The fused recurrence (kernel/scan.h) as one autograd function over a batch of sequences.
#pragma once
#include "controller/controller.h"
#include "stack/stack.h"

namespace pushdown {

// What StackRnn::run returns, or an undefined tensor when there is no fused kernel for this
// controller, stack, device or number type. Threads over the batch; results do not depend on them.
Tensor run_fused(const Controller& controller, const Stack& stack, const Tensor& inputs);

}  // namespace pushdown
