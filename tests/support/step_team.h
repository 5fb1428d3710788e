// Step programs by the source of the CUDA kernels, in teams of processor threads.
#pragma once
#include "kernel/step/device_step.h"

namespace pushdown::testing_support {

// Runs all sequences by teams of `size` threads in groups of `lanes`. F: float, double. In a
// library of its own, because the loops over all memories take the compiler half a minute.
template <class F>
void run_step_teams(const DeviceStepProgram<F>& program, bool backward, int size, int lanes);

}  // namespace pushdown::testing_support
