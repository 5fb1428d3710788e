// Dropout (Srivastava et al. 2014) with masks from the project's own generator.
#pragma once
#include "base/random.h"
#include "tensor/torch.h"

namespace pushdown {

// Draws numbers of a mask, in order: 0 with probability `rate`, and 1 / (1 - rate) otherwise.
void draw_mask(double* numbers, std::int64_t count, double rate, Random& random);

// Returns x with each entry set to 0 with probability `rate` and divided by 1 - rate otherwise.
// Draws one number for each entry, in order. Without `noise` or at rate 0, returns x and draws no
// numbers.
Tensor dropout(const Tensor& x, double rate, Random* noise);

}  // namespace pushdown
