// The nondeterministic stacks of the CUDA kernels (device_nondeterministic_layout.h), and the one
// that a shape takes.
#pragma once
#include "kernel/memory/device_nondeterministic_backward.h"
#include "kernel/memory/device_nondeterministic_content.h"
#include "kernel/memory/device_nondeterministic_forward.h"

namespace pushdown::device {

template <class F, int kQ = 0, int kS = 0>
struct NondeterministicStack : NondeterministicLoops<F, kQ, kS, false> {
  using NondeterministicLoops<F, kQ, kS, false>::NondeterministicLoops;
};
template <class F>
struct LimitedNondeterministicStack : NondeterministicLoops<F, 0, 0, true> {
  using NondeterministicLoops<F, 0, 0, true>::NondeterministicLoops;
};

// Calls visit.operator()<Stack>() with the automaton of this shape.
template <class F, class Visit>
auto with_automaton(const MemoryShape& shape, const Visit& visit) {
  const auto is = [&](int states, int symbols) {
    return shape.automaton.states == states && shape.automaton.symbols == symbols;
  };
  if (LimitedNondeterministicStack<F>::window_of(shape) > 0)
    return visit.template operator()<LimitedNondeterministicStack<F>>();
  if (is(2, 2)) return visit.template operator()<NondeterministicStack<F, 2, 2>>();
  if (is(3, 3)) return visit.template operator()<NondeterministicStack<F, 3, 3>>();
  return visit.template operator()<NondeterministicStack<F>>();
}

}  // namespace pushdown::device
