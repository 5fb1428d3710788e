#include "kernel/step/device_step.h"

#include <algorithm>

#include "base/check.h"
#include "kernel/step/device_step_loop.h"

namespace pushdown {

DeviceStepSizes device_step_sizes(const MemoryShape& memory) {
  return device::with_step_loop<float, false>(memory,
                                              [&]<class Loop>() { return Loop::sizes(memory); });
}

template <class F>
void check_device_step(const DeviceStepProgram<F>& program, bool backward) {
  constexpr auto kDeviceStepPlace = "device_step";
  check(program.steps >= 1 && program.batch >= 1, kDeviceStepPlace,
        "there must be a sequence and a step, got {} and {}", program.batch, program.steps);
  // The limit of the second axis of a grid.
  check(program.models >= 1 && program.models <= 65535, kDeviceStepPlace,
        "models must be 1 to 65535, got {}", program.models);
  check(program.count >= 1 && program.nodes != nullptr && program.places != nullptr,
        kDeviceStepPlace, "the program is empty");
  const bool has_memory = program.memory_node >= 0;
  check(has_memory == (program.memory.kind != MemoryKind::none), kDeviceStepPlace,
        "a node of a stack and a stack belong together");
  check(!has_memory ||
            (program.memory.actions > 0 && program.memory.reading > 0 &&
             (program.memory.steps == program.steps || program.memory.steps == program.steps + 1)),
        kDeviceStepPlace, "the stack has {} actions, a reading of {} and {} steps, of {}",
        program.memory.actions, program.memory.reading, program.memory.steps, program.steps);
  check(!has_memory || program.memory.kind != MemoryKind::nondeterministic || program.window == 0,
        kDeviceStepPlace,
        "gradients through the nondeterministic stack cannot end behind a window");
  const auto sizes = device_step_sizes(program.memory);
  const auto most = std::max({sizes.tape, sizes.scratch, program.parameters});
  check(most <= device::kMostNumbers, kDeviceStepPlace,
        "a sequence of {} steps takes {} numbers, the kernels {} at most", program.steps, most,
        device::kMostNumbers);
  check(!backward || (program.output >= 0 && program.given != nullptr), kDeviceStepPlace,
        "the output's gradient is missing");
  check(!backward || program.parameters == 0 ||
            (program.sequence_gradients != nullptr && program.gradients != nullptr),
        kDeviceStepPlace, "there is no memory for the gradients of the parameters");
}

template void check_device_step(const DeviceStepProgram<float>&, bool);
template void check_device_step(const DeviceStepProgram<double>&, bool);

}  // namespace pushdown
