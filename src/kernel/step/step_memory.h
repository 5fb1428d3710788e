// The tables of the memories (kernel/memory/memory_functions.h). For kernel files only.
#pragma once
#include <new>

#include "kernel/memory/memories.h"
#include "kernel/memory/memory_functions.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F, class Memory>
MemoryFunctions<F> functions_of() {
  MemoryFunctions<F> table{
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
  if constexpr (requires(Memory & memory) { memory.repeat(memory, Index()); }) {
    table.end_after = [](void* object, Index updates) {
      static_cast<Memory*>(object)->end_after(updates);
    };
    table.repeat = [](void* object, const void* other, Index updates) {
      static_cast<Memory*>(object)->repeat(*static_cast<const Memory*>(other), updates);
    };
  }
  return table;
}

template <class F>
MemoryFunctions<F> memory_functions(const MemoryShape& shape) {
  return with_memory<F>(shape, []<class Memory>() { return functions_of<F, Memory>(); });
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
