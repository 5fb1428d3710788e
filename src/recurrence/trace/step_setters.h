// Finds the gradients that a step's backward pass can set, so that they need not be cleared first.
#pragma once
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Sets `sets_a`, `sets_b` and `set` of all nodes (StepNode). The gradients of the nodes must be
// known.
void find_setters(TracedProgram& program);

}  // namespace pushdown
