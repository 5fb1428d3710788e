// Places where a team of threads that runs a step program needs barriers.
#pragma once
#include <cstdint>
#include <vector>

#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Returns the barriers by node, see DeviceStepProgram::waits. There is always a barrier between two
// steps.
std::vector<std::uint8_t> step_barriers(const TracedProgram& program);

}  // namespace pushdown
