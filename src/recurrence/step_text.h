// A recorded step for people to read: what it computes, and what that costs.
#pragma once
#include <string>

#include "recurrence/step_trace.h"

namespace pushdown {

// One line for each operation, the instructions of array programs under theirs, those of steps that
// differ for each kind of step. `steps`: of the sequence.
std::string step_program_text(const TracedProgram& program, std::int64_t steps);
// The operations as a graph in the language of Graphviz; arrows that are dashed come from the step
// before.
std::string step_program_dot(const TracedProgram& program, std::int64_t steps);

}  // namespace pushdown
