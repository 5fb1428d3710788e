// Runs recorded steps with the kernels for CUDA devices (kernel/step/device_step.h). See
// step_run.h.
#pragma once
#include <functional>
#include <limits>

#include "kernel/step/device_step.h"
#include "recurrence/trace/step_trace.h"

namespace pushdown {

// Runs a program in the memory of the tensors: with the kernels, on LibTorch's current stream; for
// tensors on the CPU, with teams of threads.
template <class F>
using DeviceStepLaunch = std::function<void(const DeviceStepProgram<F>&, bool backward)>;

// Like run_steps(), for tensors that are all on one device and of type F. Values, gradients, tapes
// and scratch of all steps are tensors on that device, at most `free_bytes` in total. If that is
// not enough, throws std::runtime_error that says what is needed, what is free and what would take
// less.
template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes = std::numeric_limits<std::size_t>::max(),
                        Tensor* left = nullptr, const std::vector<std::int64_t>& lengths = {});

}  // namespace pushdown
