// The list of memories. Each is one struct for the processor and for devices (loops.h), over the
// type of its numbers. U = T - 1 updates, u = 0 .. U-1.
//
//   tape_size(shape), scratch_size(shape)      numbers that a sequence needs
//   Memory(shape, StackMemory)
//   begin(team, bottom, reading)               the reading before any update
//   forward(team, u, actions, reading)         update u from the actions, and the reading after it
//   begin_backward(team)
//   backward(team, u, reading_gradient, actions)
//                                              gradient of the actions of update u, for
//                                              u = U-1 .. 0, given that of the reading after it
//   cut(team)                                  between two calls of backward(): nothing reaches
//                                              further back
// and, where it starts with something,
//   end_backward(team, reading_gradient, bottom)
//                                              given that of the first reading: gradient of what it
//                                              starts with
//   fast_size(shape)                           numbers of scratch that should be near
// Behind the actions there are numbers to a whole padded row. The caller puts a barrier before and
// behind each function. Members are the same in all threads.
#pragma once
#include "kernel/memory/analog.h"
#include "kernel/memory/sections.h"
#include "kernel/memory/shifted.h"
#ifdef PUSHDOWN_ISA
#include "kernel/scan_stacks.h"
#else
#include "kernel/device_nondeterministic.h"
#endif

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct NoMemory {
  PUSHDOWN_DEVICE NoMemory(const ScanShape&, const StackMemory<F>&) {}
  PUSHDOWN_HOST_DEVICE static Count tape_size(const ScanShape&) { return 0; }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const ScanShape&) { return 0; }
  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team&, const F*, F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team&, Index, const F*, F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team&, Index, const F*, F*) {}
};

// The nondeterministic stack has a source for each side. Its probabilities depend on all steps
// before, so it cannot be cut.
#ifdef PUSHDOWN_ISA
template <class F>
struct NondeterministicStackMemory : NondeterministicScan<F> {
  using Base = NondeterministicScan<F>;
  NondeterministicStackMemory(const ScanShape& shape, const StackMemory<F>& memory)
      : Base(shape, memory.tape, memory.scratch) {}
  template <class Team>
  void begin(const Team&, const F* bottom, F* reading) {
    ScanParameters<F> parameters{};
    parameters.bottom = bottom;
    Base::begin(parameters, reading);
  }
  template <class Team>
  void forward(const Team&, Index u, const F* given, F* reading) {
    Base::forward(u, const_cast<F*>(given), reading);
  }
  template <class Team>
  void begin_backward(const Team&) {
    Base::begin_backward();
  }
  template <class Team>
  void backward(const Team&, Index u, const F* reading_gradient, F* out) {
    Base::backward(u, reading_gradient, out);
  }
  template <class Team>
  void end_backward(const Team&, const F* reading_gradient, F* out) {
    Base::end_backward(reading_gradient, out);
  }
};
template <class F, class Visit>
auto with_nondeterministic(const ScanShape&, const Visit& visit) {
  return visit.template operator()<NondeterministicStackMemory<F>>();
}
#else
template <class F, class Stack>
struct NondeterministicStackMemory : Stack {
  using Stack::Stack;
  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F*, F*) {
    Stack::begin(team);
  }
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given, F*) {
    Stack::forward(team, u, given);
  }
};
template <class F, class Visit>
auto with_nondeterministic(const ScanShape& shape, const Visit& visit) {
  return with_automaton<F>(shape, [&]<class Stack>() {
    return visit.template operator()<NondeterministicStackMemory<F, Stack>>();
  });
}
#endif

// visit.operator()<Memory>() with the memory of the shape.
template <class F, class Visit>
auto with_memory(const ScanShape& shape, const Visit& visit) {
  switch (shape.stack) {
    case ScanStack::stratification: return visit.template operator()<SectionMemory<F>>();
    case ScanStack::nondeterministic: return with_nondeterministic<F>(shape, visit);
    case ScanStack::shifted: return visit.template operator()<ShiftedMemory<F>>();
    case ScanStack::analog: return visit.template operator()<AnalogMemory<F>>();
    case ScanStack::superposition:  // a shifted memory in step programs
    case ScanStack::none: break;
  }
  return visit.template operator()<NoMemory<F>>();
}

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
