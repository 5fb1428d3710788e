// Conversion of tensors to plain numbers.
#pragma once
#include <vector>

#include "tensor/torch.h"

namespace pushdown {

// Returns all numbers of a tensor in row-major order, copied to the CPU.
std::vector<double> numbers_of(const Tensor& tensor);

}  // namespace pushdown
