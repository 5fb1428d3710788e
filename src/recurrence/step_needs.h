// What a run of a recorded step must keep.
#pragma once
#include "recurrence/step_trace.h"

namespace pushdown {

struct StepNeeds {
  // By node: whether its values at all steps are needed after the step, because they are looked at
  // by the backward pass or are the output, carried or given; and whether its gradients at all
  // steps are, because sums over the steps or the gradient of an input are made of them.
  std::vector<char> kept, recorded;
  // Whether its numbers are read at all: those of symbols may only be looked up.
  std::vector<char> read;
};
StepNeeds step_needs(const TracedProgram& program, bool gradients);

}  // namespace pushdown
