// Step programs and updates by the source of the CUDA kernels, in teams of processor threads.
#pragma once
#include "kernel/step/device_step.h"
#include "kernel/update/device_update.h"

namespace pushdown::testing_support {

// Runs all sequences by teams of `size` threads in groups of `lanes`. F: float, double. In a
// library of its own, because the loops over all memories take the compiler half a minute.
template <class F>
void run_step_teams(const DeviceStepProgram<F>& program, bool backward, int size, int lanes);

// The same for updates. What a part must write is NaN before.
template <class F>
void run_update_teams(const DeviceUpdate<F>& update, DeviceUpdatePart part, int size, int lanes);
template <class F>
void run_optimizer_teams(const DeviceOptimizerStep<F>& step);

}  // namespace pushdown::testing_support
