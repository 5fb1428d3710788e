// A memory (memories.h) behind a table of functions, so that its callers are not compiled once for
// every memory. kernel_for<MemoryFunctions<F>>(isa, shape) returns the table.
#pragma once
#include "kernel/memory/memory_shape.h"

namespace pushdown {

template <class F>
struct MemoryFunctions {
  std::int64_t object_size;  // in bytes; aligned to 64
  void (*make)(void* object, const MemoryShape& shape, F* tape, F* scratch);
  void (*begin)(void* object, const F* bottom, F* reading);
  void (*forward)(void* object, std::int64_t u, const F* actions, F* reading);
  void (*begin_backward)(void* object);
  void (*backward)(void* object, std::int64_t u, const F* reading_gradient, F* actions_gradient);
  // The others are null if a memory does not have them.
  void (*cut)(void* object);
  void (*end_backward)(void* object, const F* reading_gradient, F* bottom_gradient);
  void (*leave)(void* object, F* left);
  void (*begin_backward_from)(void* object, const F* left_gradient);
  void (*end_after)(void* object, std::int64_t updates);
  void (*repeat)(void* object, const void* other, std::int64_t updates);
  std::int64_t (*tape_size)(const MemoryShape& shape);
  std::int64_t (*scratch_size)(const MemoryShape& shape);
};

}  // namespace pushdown
