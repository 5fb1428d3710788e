// The backward pass of a graph, which can be stopped (base/stopping.h) between any two of its
// nodes.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// root.backward(gradient, retain). Throws Stopped if asked; gradients of leaves may have been added
// to by then.
void run_backward(const Tensor& root, const Tensor& gradient = {}, bool retain = false);

// While one lives, what its thread computes can be differentiated twice: kernels, which have first
// derivatives alone, leave the work to tensor operations.
class SecondDerivatives {
 public:
  SecondDerivatives();
  ~SecondDerivatives();
  SecondDerivatives(const SecondDerivatives&) = delete;
  SecondDerivatives& operator=(const SecondDerivatives&) = delete;
  static bool wanted();
};

}  // namespace pushdown
