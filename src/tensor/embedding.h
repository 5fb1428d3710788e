// Looks up rows of tables, with gradients of the rows that were used.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Returns the rows of table : V x E that `ids` select, ids' shape x E. The gradient is that of
// LibTorch's embedding, a tensor of V x E.
Tensor embedded(const Tensor& table, const Tensor& ids);

// During its lifetime, backward passes through the look-ups of this thread add to the gradients of
// parameters in the used rows alone, whatever the number of rows. Such graphs must be
// differentiated by run_backward() (tensor/backward.h), which adds to these gradients anyway.
class RowGradients {
 public:
  RowGradients();
  ~RowGradients();
  RowGradients(const RowGradients&) = delete;
  RowGradients& operator=(const RowGradients&) = delete;
  static bool wanted();
};

}  // namespace pushdown
