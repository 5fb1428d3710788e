// The nondeterministic stacks of the CUDA kernels (device_nondeterministic_layout.h).
#pragma once
#include "kernel/memory/device_nondeterministic_backward.h"
#include "kernel/memory/device_nondeterministic_content.h"
#include "kernel/memory/device_nondeterministic_forward.h"

namespace pushdown::device {

// For with_memory(): printed code names the loops of its automaton itself.
template <class F, class Visit>
auto with_automaton(const MemoryShape&, const Visit& visit) {
  return visit.template operator()<NondeterministicSizes>();
}

}  // namespace pushdown::device
