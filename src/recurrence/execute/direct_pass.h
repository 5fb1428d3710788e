// A pass of a network over a batch that differentiates itself, without LibTorch's graph.
#pragma once
#include <memory>

#include "tensor/torch.h"

namespace pushdown {

class DirectPass {
 public:
  virtual ~DirectPass() = default;
  // Returns the network's output after each step, B x T x n, on the CPU; no gradient flows through
  // it.
  virtual const Tensor& output() const = 0;
  // Adds to the gradients of the parameters, where `slopes`, B x T x n, is the gradient of the loss
  // with respect to the output. May be called once.
  virtual void backward(const Tensor& slopes) = 0;
};
using DirectPassPtr = std::unique_ptr<DirectPass>;

}  // namespace pushdown
