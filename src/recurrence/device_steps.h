// Runs a recorded step by the kernels for CUDA devices (kernel/device_step.h). See step_run.h.
#pragma once
#include <functional>
#include <limits>

#include "kernel/device_step.h"
#include "recurrence/step_trace.h"

namespace pushdown {

// What runs a program whose memory is that of the tensors: the kernels, on the stream that LibTorch
// uses; of tensors of the processor, teams of threads.
template <class F>
using DeviceStepLaunch = std::function<void(const DeviceStepProgram<F>&, bool backward)>;

// As run_steps(), of tensors that are all on one device and of type F. Values, gradients, tapes and
// scratch of all steps are tensors of that device, of at most `free_bytes`; std::runtime_error
// where that does not do.
template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes = std::numeric_limits<std::size_t>::max());

}  // namespace pushdown
