// The backward pass of a graph, which can be stopped (base/stopping.h) between any two of its
// nodes.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// root.backward(gradient, retain). Throws Stopped if asked; gradients of leaves may have been added
// to by then.
void run_backward(const Tensor& root, const Tensor& gradient = {}, bool retain = false);

}  // namespace pushdown
