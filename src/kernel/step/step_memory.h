// Memories (memory/memories.h) behind one table of functions, so that step programs are not
// compiled once for every memory. For kernel files only.
#pragma once
#include <new>

#include "kernel/memory/memories.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct StepMemory {
  Index object_size;
  void (*make)(void* object, const MemoryShape& shape, F* tape, F* scratch);
  void (*begin)(void* object, const F* bottom, F* reading);
  void (*forward)(void* object, Index u, const F* actions, F* reading);
  void (*begin_backward)(void* object);
  void (*backward)(void* object, Index u, const F* reading_gradient, F* actions_gradient);
  void (*cut)(void* object);  // null if a memory does not have it
  void (*end_backward)(void* object, const F* reading_gradient, F* bottom_gradient);  // the same
  void (*leave)(void* object, F* left);                                               // the same
  void (*begin_backward_from)(void* object, const F* left_gradient);                  // the same
  Index (*tape_size)(const MemoryShape& shape);
  Index (*scratch_size)(const MemoryShape& shape);
};

template <class F, class Memory>
StepMemory<F> step_memory_of() {
  StepMemory<F> table{
      sizeof(Memory),
      [](void* object, const MemoryShape& shape, F* tape, F* scratch) {
        ::new (object) Memory(shape, StackMemory<F>{tape, scratch});
      },
      [](void* object, const F* bottom, F* reading) {
        static_cast<Memory*>(object)->begin(LoneThread(), bottom, reading);
      },
      [](void* object, Index u, const F* actions, F* reading) {
        static_cast<Memory*>(object)->forward(LoneThread(), u, actions, reading);
      },
      [](void* object) { static_cast<Memory*>(object)->begin_backward(LoneThread()); },
      [](void* object, Index u, const F* reading_gradient, F* actions_gradient) {
        static_cast<Memory*>(object)->backward(LoneThread(), u, reading_gradient, actions_gradient);
      },
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      Memory::tape_size,
      Memory::scratch_size};
  if constexpr (requires(Memory & memory) { memory.cut(LoneThread()); })
    table.cut = [](void* object) { static_cast<Memory*>(object)->cut(LoneThread()); };
  if constexpr (requires(Memory & memory, F * to) { memory.end_backward(LoneThread(), to, to); })
    table.end_backward = [](void* object, const F* reading_gradient, F* bottom_gradient) {
      static_cast<Memory*>(object)->end_backward(LoneThread(), reading_gradient, bottom_gradient);
    };
  if constexpr (requires(Memory & memory, F * to) { memory.leave(LoneThread(), to); }) {
    table.leave = [](void* object, F* left) {
      static_cast<Memory*>(object)->leave(LoneThread(), left);
    };
    table.begin_backward_from = [](void* object, const F* left_gradient) {
      static_cast<Memory*>(object)->begin_backward(LoneThread(), left_gradient);
    };
  }
  return table;
}

template <class F>
StepMemory<F> step_memory(const MemoryShape& shape) {
  return with_memory<F>(shape, []<class Memory>() { return step_memory_of<F, Memory>(); });
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
