#include "kernel/step/device_step.h"

#include "kernel/memory/memories.h"

namespace pushdown {

DeviceStepSizes device_step_sizes(const MemoryShape& memory) {
  return device::with_memory<float>(memory, [&]<class Memory>() {
    DeviceStepSizes sizes{Memory::tape_size(memory), Memory::scratch_size(memory)};
    if constexpr (requires { Memory::fast_size(memory); }) sizes.fast = Memory::fast_size(memory);
    sizes.scratch += sizes.fast + memory.actions;
    return sizes;
  });
}

}  // namespace pushdown
