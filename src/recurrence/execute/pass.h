// One pass of a network over the strings of a batch, whose gradient the caller starts.
#pragma once
#include <functional>

#include "tensor/torch.h"

namespace pushdown {

struct Pass {
  // The hidden vectors before the first symbol and after each pass over each one, B x (P + 1) x H.
  // No gradient flows through them.
  Tensor hiddens;
  Tensor weights;  // B x P, 1 for passes that were made, 0 for skipped ones; undefined: all 1
  // Adds to the gradients of the parameters, where `slopes`, B x (P + 1) x H, is the gradient of
  // the loss by the hidden vectors. May be called once.
  std::function<void(const Tensor& slopes)> backward;
};

}  // namespace pushdown
