// Dropout (Srivastava et al. 2014) with masks from the project's own generator.
#pragma once
#include "base/random.h"
#include "tensor/torch.h"

namespace pushdown {

// Each entry of x becomes 0 with probability `rate` and is divided by 1 - rate otherwise; x itself
// without `noise` or at rate 0, which takes no random numbers. One number for each entry, in order.
Tensor dropout(const Tensor& x, double rate, Random* noise);

}  // namespace pushdown
