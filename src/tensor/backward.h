// Backward pass of a graph, with a check of the stop flag (base/stopping.h) between nodes.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Runs root.backward(gradient, retain). Throws Stopped if the flag is set; by then, gradients may
// already have been added to some leaves.
void run_backward(const Tensor& root, const Tensor& gradient = {}, bool retain = false);

// During its lifetime, the results computed by this thread can be differentiated twice. Kernels
// provide first derivatives only, so tensor operations replace them.
class SecondDerivatives {
 public:
  SecondDerivatives();
  ~SecondDerivatives();
  SecondDerivatives(const SecondDerivatives&) = delete;
  SecondDerivatives& operator=(const SecondDerivatives&) = delete;
  static bool wanted();
};

}  // namespace pushdown
