// Arranges a recorded step for the CPU, where work outside of the recurrence is done for many
// steps at once.
//
// - A map of an embedding W (E x), x one-hot, becomes a column of the matrix W E, which is computed
//   for the distinct symbols of a run.
// - The nodes are divided into segments (kernel/step/step_program.h). Terms of a loop that depend
//   on earlier segments alone move out of it. Their products then have as many rows as there are
//   steps, and a loop reads fewer matrices at each step.
#pragma once
#include "recurrence/trace/step_trace.h"

namespace pushdown {

TracedProgram arranged(TracedProgram program);

}  // namespace pushdown
