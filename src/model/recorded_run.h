// Runs a recorded step where its tensors are.
#pragma once
#include "model/device_runner.h"
#include "recurrence/step_run.h"

namespace pushdown {

// As run_steps(); by the runner where there is one, whose tensors they then are, else on the
// processor. Undefined where the program cannot be run so.
Tensor run_recorded_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                          const BufferPoolPtr& buffers, std::int64_t window,
                          const DeviceRunnerPtr& runner);

}  // namespace pushdown
