// Runs recorded steps by the kernels for CUDA devices (kernel/step/device_step.h). See step_run.h.
#pragma once
#include <functional>
#include <limits>

#include "kernel/step/device_step.h"
#include "recurrence/step_plan.h"

namespace pushdown {

// What runs a program whose memory is that of the tensors: the kernels, on the stream that LibTorch
// uses; of tensors of the processor, teams of threads.
template <class F>
using DeviceStepLaunch = std::function<void(const DeviceStepProgram<F>&, bool backward)>;

// As run_steps(), of tensors that are all on one device and of type F. Values, gradients, tapes and
// scratch of all steps are tensors of that device, of at most `free_bytes`; std::runtime_error
// where that does not do: it says what is needed, what is free and what would take less.
template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes = std::numeric_limits<std::size_t>::max(),
                        Tensor* left = nullptr);

// The outputs of M networks that read symbols, in one launch: M x B x T x n, differentiable in the
// parameters of all. One plan each, of one program (same_program()) and on one device. words :
// M x B x T ids (int64, valid) on that device. lengths : M x B (int64), the steps of each sequence,
// 0 to T, behind which the output is 0; undefined: T.
template <class F>
Tensor run_device_plans(const std::vector<StepPlanPtr>& plans, const Tensor& words,
                        const Tensor& lengths, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes = std::numeric_limits<std::size_t>::max());

}  // namespace pushdown
