// Determines the data that a run of a recorded step must keep.
#pragma once
#include "recurrence/trace/step_trace.h"

namespace pushdown {

struct StepNeeds {
  // By node. kept: whether its values at all steps are needed after the step, because the backward
  // pass uses them or because they are the output, carried or given. recorded: whether its
  // gradients at all steps are needed for sums over the steps or for the gradient of an input.
  std::vector<char> kept, recorded;
  // Whether its numbers are read at all; symbols may be used only as indices.
  std::vector<char> read;
};
StepNeeds step_needs(const TracedProgram& program, bool gradients);

}  // namespace pushdown
