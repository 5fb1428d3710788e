// Precompiled for the code that the program prints for devices, which tests compile for the
// processor (tests/support/stand_in_device.cpp): the replacement for the CUDA runtime, the headers
// of printed code, and what such code has besides its kernels.
#pragma once
#include <limits>

#include "cuda_runtime.h"
#define PUSHDOWN_KERNEL extern "C"
#define PUSHDOWN_BARRIER(number) ::cuda_stand_in::wait_at(number)
#include "device_headers.h"

namespace pushdown::device {

// Fills the memory of a pass that is not an input with NaN, so that what is read must have been
// written.
template <class F>
void spoil(F* numbers, Count count) {
  for (Count i = 0; i < count; ++i) numbers[i] = std::numeric_limits<F>::quiet_NaN();
}
template <class Memory, class F>
void spoil_memory(const DeviceSteps<F>& p, const MemoryShape& shape, bool backward) {
  const Count sequences = p.models * p.batch;
  if (!backward) spoil(p.tape, sequences * Memory::tape_size(shape));
  spoil(p.scratch, sequences * (Memory::scratch_size(shape) + fast_size_of<Memory>(shape) +
                                Count{shape.actions}));
}
template <class F>
void spoil_results(const DeviceSteps<F>& p, bool backward) {
  const Count sequences = p.models * p.batch;
  spoil(p.array_room, sequences * 2 * p.array_memory);
  if (backward) spoil(p.sequence_gradients, sequences * p.parameters);
}

}  // namespace pushdown::device

// kernel: its name. After the kernels of a text, in the namespace device.
#define PUSHDOWN_PRINTED_KERNEL(kernel, backward)                  \
  extern "C" void run_##kernel(const void* argument) {             \
    kernel(*static_cast<const DeviceSteps<F>*>(argument));         \
  }                                                                \
  extern "C" void begin_##kernel(const void* argument) {           \
    const auto& p = *static_cast<const DeviceSteps<F>*>(argument); \
    spoil_results(p, backward);                                    \
    PUSHDOWN_SPOIL_MEMORY(backward);                               \
  }
