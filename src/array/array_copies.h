// Removes copies from the instructions of a step.
#pragma once
#include "array/array_program.h"

namespace pushdown {

// An array in the step's own memory that is only copied to the output is computed in the place of
// the copy. `first`: the step's first instruction; `own`, `output`: the two buffers.
void move_copied(ArrayProgram& program, std::size_t first, int own, int output);

}  // namespace pushdown
