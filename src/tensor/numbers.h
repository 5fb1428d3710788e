// Tensors as plain numbers.
#pragma once
#include <vector>

#include "tensor/torch.h"

namespace pushdown {

// All numbers of a tensor, row after row, copied to the processor.
std::vector<double> numbers_of(const Tensor& tensor);

}  // namespace pushdown
