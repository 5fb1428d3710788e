// Runs a recorded step by the kernels for CUDA devices (kernel/device_step.h). See step_run.h.
#pragma once
#include <functional>

#include "kernel/device_step.h"
#include "recurrence/step_trace.h"

namespace pushdown {

// Runs a program whose memory is that of the tensors: by the kernels, on the stream that LibTorch
// uses, or, of tensors of the processor, by teams of threads.
template <class F>
using DeviceStepLaunch = std::function<void(const DeviceStepProgram<F>&, bool backward)>;

// As run_steps(), of tensors that are all on one device and of type F. Values, gradients, tapes and
// scratch of all steps are one tensor of that device.
template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch);

}  // namespace pushdown
