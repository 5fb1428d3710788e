// A pass of a network over a batch that differentiates itself, without LibTorch's graph.
#pragma once
#include <memory>

#include "tensor/torch.h"

namespace pushdown {

class DirectPass {
 public:
  virtual ~DirectPass() = default;
  // What the network puts out after each step, B x T x n, on the processor; no gradient flows
  // through it.
  virtual const Tensor& output() const = 0;
  // Adds to the gradients of the parameters those of a sum whose gradient by the output this is,
  // B x T x n. Once.
  virtual void backward(const Tensor& slopes) = 0;
};
using DirectPassPtr = std::unique_ptr<DirectPass>;

}  // namespace pushdown
