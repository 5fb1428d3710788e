// A network of higher order, for algorithms that need the derivatives of its individual steps.
#pragma once
#include <optional>
#include <vector>

#include "kernel/state_pushdown/higher_order.h"
#include "tensor/torch.h"

namespace pushdown {

struct HigherOrderNetwork {
  HigherOrderShape shape;
  std::vector<Tensor> parameters;  // concatenated, they are the parameters of HigherOrderSteps
};

}  // namespace pushdown
