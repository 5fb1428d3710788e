// The list of memories. Each is one struct for the CPU and for devices (loops.h), over the type of
// its numbers. U = T - 1 updates, u = 0 .. U-1.
//
//   tape_size(shape), scratch_size(shape)      numbers that a sequence needs
//   Memory(shape, StackMemory)
//   begin(team, bottom, reading)               the reading before any update
//   forward(team, u, actions, reading)         update u from the actions, and the reading after it
//   begin_backward(team)
//   backward(team, u, reading_gradient, actions)
//                                              gradient of the actions of update u, for
//                                              u = U-1 .. 0, given that of the reading after it
//   cut(team)                                  between two calls of backward(): gradients reach no
//                                              further back
// A memory with an initial content also has
//   end_backward(team, reading_gradient, bottom)
//                                              given that of the first reading: gradient of the
//                                              initial content
//   fast_size(shape)                           numbers of scratch that should be in fast memory
// A memory that a run can take over from a previous run (shape.held, shape.goes_on) starts with the
// numbers that the previous run left, and also has
//   leave(team, held)                          these numbers, after the last update
//   begin_backward(team, left_gradient)        the same, given their gradients
// A memory whose updates can be made outside of a program also has
//   end_after(updates)                         the run ends after so many, fewer than U or U
//   repeat(other, updates)                     instead of begin(): the first updates of a memory
//                                              with another U
// The actions are padded to a whole row. The caller puts a barrier before and after each function.
// Members are the same in all threads.
#pragma once
#include "kernel/memory/analog.h"
#include "kernel/memory/sections.h"
#include "kernel/memory/shifted.h"
#ifdef PUSHDOWN_ISA
#include "kernel/memory/nondeterministic.h"
#else
#include "kernel/memory/device_nondeterministic.h"
#endif

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct NoMemory {
  PUSHDOWN_DEVICE NoMemory(const MemoryShape&, const StackMemory<F>&) {}
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape&) { return 0; }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape&) { return 0; }
  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team&, const F*, F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team&, Index, const F*, F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team&, Index, const F*, F*) {}
};

// The nondeterministic stack has a separate source for each side. Its probabilities depend on all
// previous steps, so it cannot be cut.
#ifdef PUSHDOWN_ISA
template <class F, class Visit>
auto with_automaton(const MemoryShape&, const Visit& visit) {
  return visit.template operator()<NondeterministicStackMemory<F>>();
}
#endif

// Calls visit.operator()<Memory>() with the memory of the shape.
template <class F, class Visit>
auto with_memory(const MemoryShape& shape, const Visit& visit) {
  switch (shape.kind) {
    case MemoryKind::stratification: return visit.template operator()<SectionMemory<F>>();
    case MemoryKind::nondeterministic: return with_automaton<F>(shape, visit);
    case MemoryKind::shifted: return visit.template operator()<ShiftedMemory<F>>();
    case MemoryKind::analog: return visit.template operator()<AnalogMemory<F>>();
    case MemoryKind::none: break;
  }
  return visit.template operator()<NoMemory<F>>();
}

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
