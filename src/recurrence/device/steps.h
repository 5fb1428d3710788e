// Runs recorded steps on a device. See step_run.h.
#pragma once
#include "recurrence/device/device.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Like run_steps(), for tensors that are all on one device and of type F. Values, gradients, tapes
// and scratch of all steps are tensors on that device. If there is not enough memory, throws
// std::runtime_error that says what is needed, what is free and what would take less.
template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DevicePtr& device, Tensor* left = nullptr,
                        const std::vector<std::int64_t>& lengths = {});

}  // namespace pushdown
