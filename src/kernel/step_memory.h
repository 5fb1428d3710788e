// The stacks of kernel/scan_stacks.h behind one table of functions, so that the step programs need
// no copy of themselves for every stack. For kernel files only.
#pragma once
#include <new>

#include "kernel/analog_scan.h"
#include "kernel/scan_stacks.h"
#include "kernel/shifted_scan.h"
#include "kernel/stratification_scan.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct StepMemory {
  Index object_size;
  void (*make)(void* object, const ScanShape& shape, F* tape, F* scratch);
  void (*begin)(void* object, const F* bottom, F* reading);
  void (*forward)(void* object, Index u, F* actions, F* reading);
  void (*begin_backward)(void* object);
  void (*backward)(void* object, Index u, const F* reading_gradient, F* actions_gradient);
  void (*cut)(void* object);  // nothing reaches further back; null where a stack has no such thing
  void (*end_backward)(void* object, const F* reading_gradient, F* bottom_gradient);
  Index (*tape_size)(const ScanShape& shape);
  Index (*scratch_size)(const ScanShape& shape);
};

template <class Stack>
constexpr auto cut_of() -> void (*)(void*) {
  if constexpr (requires(Stack & stack) { stack.cut(); })
    return [](void* object) { static_cast<Stack*>(object)->cut(); };
  else
    return nullptr;
}

template <class F, class Stack>
StepMemory<F> step_memory_of() {
  return {sizeof(Stack),
          [](void* object, const ScanShape& shape, F* tape, F* scratch) {
            ::new (object) Stack(shape, tape, scratch);
          },
          [](void* object, const F* bottom, F* reading) {
            static_cast<Stack*>(object)->begin(ScanParameters<F>{bottom}, reading);
          },
          [](void* object, Index u, F* actions, F* reading) {
            static_cast<Stack*>(object)->forward(u, actions, reading);
          },
          [](void* object) { static_cast<Stack*>(object)->begin_backward(); },
          [](void* object, Index u, const F* reading_gradient, F* actions_gradient) {
            static_cast<Stack*>(object)->backward(u, reading_gradient, actions_gradient);
          },
          cut_of<Stack>(),
          [](void* object, const F* reading_gradient, F* bottom_gradient) {
            static_cast<Stack*>(object)->end_backward(reading_gradient, bottom_gradient);
          },
          Stack::tape_size,
          Stack::scratch_size};
}

template <class F>
StepMemory<F> step_memory(ScanStack stack) {
  switch (stack) {
    case ScanStack::none: break;
    case ScanStack::superposition: return step_memory_of<F, SuperpositionScan<F>>();
    case ScanStack::stratification: return step_memory_of<F, StratificationScan<F>>();
    case ScanStack::nondeterministic: return step_memory_of<F, NondeterministicScan<F>>();
    case ScanStack::shifted: return step_memory_of<F, ShiftedScan<F>>();
    case ScanStack::analog: return step_memory_of<F, AnalogScan<F>>();
  }
  return step_memory_of<F, NoStack<F>>();
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
