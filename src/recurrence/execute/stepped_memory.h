// A memory of recorded steps (kernel/memory/memories.h) whose updates are made one by one, outside
// of a program, with gradients. On the CPU, for memories that can repeat another one's updates.
//
// Dimension letters: B batch, A actions, R reading, m numbers of the initial content.
#pragma once
#include <memory>
#include <set>

#include "kernel/memory/memory_shape.h"
#include "tensor/torch.h"

namespace pushdown {

class SteppedMemory;
using SteppedMemoryPtr = std::shared_ptr<SteppedMemory>;

// The memories of a batch. An update extends them in place after the last one.
class SteppedMemory {
 public:
  // `shape`: of a program for the expected number of updates; there is always room for more.
  SteppedMemory(const MemoryShape& shape, std::int64_t batch, at::TensorOptions options);

  std::int64_t updates() const { return updates_; }  // made so far
  std::size_t bytes() const;
  // Returns a copy after the first `updates`, which goes on without changing this memory.
  SteppedMemoryPtr rewound(std::int64_t updates) const;
  // Makes later updates treat everything so far as constant.
  void cut() { cuts_.insert(updates_ - 1); }

  // Return the reading before any update and after the next one, B x R. initial : B x m, or
  // undefined; actions : B x A.
  Tensor begin(const Tensor& initial);
  Tensor update(const Tensor& actions);
  // Returns the content after the first `updates` that another run takes over, B x `size`, as a
  // constant; for a memory that took over its content.
  Tensor left(std::int64_t updates, std::int64_t size) const;
  // Return the gradient of the actions of update u from that of the reading after it, called from
  // the last update to the first, and then that of the initial content, B x `size`.
  Tensor backward(std::int64_t u, const Tensor& slopes);
  Tensor end_backward(const Tensor& slopes, std::int64_t size);

 private:
  std::int64_t room() const { return shape_.steps - 1; }
  void repeat(const SteppedMemory& other, std::int64_t updates);
  // Calls body(functions, object, b) for all sequences.
  template <class Body>
  void in_sequences(const Body& body) const;
  bool begins_backward(std::int64_t u);

  MemoryShape shape_;
  std::vector<std::int64_t> row_start_;
  std::int64_t batch_;
  at::TensorOptions options_;
  Tensor objects_, tape_, scratch_;
  std::int64_t updates_ = 0;
  std::set<std::int64_t> cuts_;  // the last updates before a cut
  std::int64_t next_ = -2;       // update of the backward pass; -1: what comes before the first
};

// The same as parts of the graph. `previous`: the reading before the update, which enforces the
// order of the backward pass; without a gradient, everything before it is constant.
std::pair<SteppedMemoryPtr, Tensor> begin_memory(const MemoryShape& shape, std::int64_t batch,
                                                 at::TensorOptions options, const Tensor& initial);
Tensor update_memory(const SteppedMemoryPtr& memory, const Tensor& actions, const Tensor& previous);

}  // namespace pushdown
