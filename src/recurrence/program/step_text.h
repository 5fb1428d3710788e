// Prints a recorded step in readable form: its computations and their cost.
#pragma once
#include <string>

#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Returns the name of an operation in these texts.
const char* operation_name(const StepNode& node);
// Returns one line for each operation, with the instructions of array programs below theirs. If the
// steps of a program differ, every kind of step is listed. `steps`: length of the sequence.
std::string step_program_text(const TracedProgram& program, std::int64_t steps);
// Returns the operations as a graph in the language of Graphviz; dashed arrows come from the
// previous step.
std::string step_program_dot(const TracedProgram& program, std::int64_t steps);

}  // namespace pushdown
