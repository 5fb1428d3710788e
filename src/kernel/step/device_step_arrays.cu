// The launches of step programs with long code (DeviceStepProgram::has_long_code): array programs
// and functions of the mathematical library. They are in a file of their own so that both compile
// at once.
#include "kernel/step/device_step_launch.h"

namespace pushdown::device {

template <class F>
void launch_steps_with_long_code(const DeviceStepProgram<F>& program, bool backward, void* stream) {
  launch_steps<F, true>(program, backward, stream);
}

template void launch_steps_with_long_code(const DeviceStepProgram<float>&, bool, void*);
template void launch_steps_with_long_code(const DeviceStepProgram<double>&, bool, void*);

}  // namespace pushdown::device
