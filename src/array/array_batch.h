// Runs an array program of one step over a batch, forward and backward.
#pragma once
#include <vector>

#include "array/array_program.h"
#include "tensor/torch.h"

namespace pushdown {

struct ArrayGradients {
  Tensor output;               // B x n
  std::vector<Tensor> slopes;  // of the inputs: `scale` times the gradient of the sum of the output
};

// inputs: a tensor B x ... for each input of the program, contiguous, on the CPU, and of one type,
// float32 or float64; undefined if the program does not read it. wanted: whether its slope is
// needed; undefined otherwise.
ArrayGradients differentiate_array(const ArrayProgram& program, const std::vector<Tensor>& inputs,
                                   const std::vector<bool>& wanted, double scale);

}  // namespace pushdown
