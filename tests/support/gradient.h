// Gradients by finite differences, the oracle of every backward pass.
#pragma once
#include "tensor/finite_differences.h"

namespace pushdown::testing_support {

using pushdown::gradient_error;

}  // namespace pushdown::testing_support
