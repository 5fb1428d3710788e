// What the output layer reads of a stack network whose output is 'hidden_and_reading'
// (stack_rnn.h): a recorded program reads the memory before it moves, so that the reading that
// belongs to a step is in the numbers of the next one.
//
// Dimension letters: B batch, n length, H hidden, R reading size, K passes.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

// Returns the tensor with `more` times its last entry of the dimension added; an undefined one as
// it is.
Tensor repeated_last(const Tensor& given, std::int64_t dimension, std::int64_t more);

// made : B x (n+1) x (KH + R), the hidden vectors of each step and the reading before it; mask : n
// x B x R, of the readings after each step, or undefined -> B x (nK+1) x (H+R), the rows h_t ++ r_t
// of the times 0 to n, with h_0 = 0.
Tensor with_readings(const Tensor& made, std::int64_t hidden, std::int64_t passes,
                     const Tensor& mask);

}  // namespace pushdown
