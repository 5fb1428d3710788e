// Where a team of threads that runs a step program needs barriers.
#pragma once
#include <cstdint>
#include <vector>

#include "recurrence/step_trace.h"

namespace pushdown {

// By node, see DeviceStepProgram::waits. Between two steps there is a barrier anyway.
std::vector<std::uint8_t> step_barriers(const TracedProgram& program);

}  // namespace pushdown
