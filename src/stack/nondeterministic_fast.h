// The fast version of step_automaton(): the loops of kernel/memory/nondeterministic_kernel.h with
// gradients, on CPU in float32 and float64. The value read at a node is u_j : B x C, or for a
// vector stack the result of vector_reading() : B x C*m; R is the size of either.
#pragma once
#include <memory>
#include <set>

#include "kernel/memory/nondeterministic_kernel.h"
#include "stack/nondeterministic.h"

namespace pushdown {

// The stack automata of a batch, node by node. A step extends the memory in place after the last
// node, `head`; a step from an older node works on a copy.
class AutomatonMemory {
 public:
  // `steps`: the expected number of steps; the memory grows if there are more. bottom : m, for a
  // vector stack.
  AutomatonMemory(const NondeterministicShape& shape, std::int64_t batch, std::int64_t steps,
                  at::TensorOptions options, const Tensor& bottom = {});
  // Continues from an automaton with a window, which is treated as constant.
  AutomatonMemory(const NondeterministicShape& shape, const StackAutomaton& automaton,
                  std::int64_t steps);
  // Returns the part of the automaton at a node that later steps can see, as constants.
  StackAutomaton automaton(std::int64_t node) const;
  // Returns a copy that ends at `node` and can be continued without changing this memory.
  std::shared_ptr<AutomatonMemory> rewound(std::int64_t node) const;

  std::int64_t head() const { return head_; }
  std::size_t bytes() const;
  Tensor reading(std::int64_t node) const;  // B x R, a view

  // Computes node j = head + 1. weights : B x C x W, contiguous; their logarithms if `logs`;
  // vectors : B x m. Returns the weights that were used (see scaled_exponential); without `logs`,
  // the same tensor.
  Tensor step(const Tensor& weights, const Tensor& vectors, bool logs);
  // Makes later steps treat everything up to the head as constant.
  void cut() { cuts_.insert(head_); }

  // Gradients of the weights used and of the vectors.
  struct Gradients {
    Tensor weights, vectors;
  };
  // Computes them from the gradient of node j's reading. Call from the last node to the first.
  Gradients step_backward(std::int64_t node, const Tensor& weights, const Tensor& vectors,
                          const Tensor& reading_gradient);
  // Then returns the gradient of the initial bottom's vector : m.
  Tensor bottom_gradient(const Tensor& first_reading_gradient);

 private:
  template <class F>
  NondeterministicMemory<F> memory(std::int64_t sequence) const;
  template <class F>
  void step_one(std::int64_t sequence, std::int64_t node, const F* given, const F* vector, F* used,
                bool logs) const;
  template <class F>
  void step_back_one(std::int64_t sequence, std::int64_t node, const F* weights, const F* vector,
                     const F* reading_gradient, F* weight_gradient, F* vector_gradient) const;
  template <class F>
  std::vector<F> row_gradients(std::int64_t sequence, std::int64_t node, const F* given) const;
  void set_steps(std::int64_t steps);
  Tensor nothing_lost() const;
  // Returns P[i->j] and V[i->j] for i = from .. j-1, a view : B x (1+m) x (j-from) x C x C (a, b).
  Tensor edges(std::int64_t node, std::int64_t from) const;
  void begin_backward(std::int64_t last);

  NondeterministicShape shape_;
  NondeterministicSize size_;
  std::int64_t batch_;
  at::TensorOptions options_;
  std::int64_t head_ = 1;
  std::int64_t column_start(std::int64_t node) const {
    return size_.edge_rows() * row_start_[node];
  }
  std::vector<std::int64_t> row_start_;
  Tensor columns_, popped_, forward_, mass_;
  Tensor readings_;  // B x nodes x R, for a vector stack
  Tensor lost_;      // B x C, runs that the number type lost (kernel/memory/lost_runs.h)
  Tensor numerators_, forward_gradients_, popped_gradient_;
  std::set<std::int64_t> cuts_;
  std::int64_t next_backward_ = 0,
               last_backward_ = 0;  // current and first node of the backward pass
};

using AutomatonMemoryPtr = std::shared_ptr<AutomatonMemory>;

// Return whether kernels exist for whole sequences (on the CPU or on a device) and for single steps
// (on the CPU only).
bool has_automaton_kernels(const NondeterministicShape& shape, const at::TensorOptions& options);
bool has_fast_automaton(const NondeterministicShape& shape, const at::TensorOptions& options);

// Returns a new memory and the reading of its node 1, differentiable in bottom : m (undefined
// unless the stack has vectors).
std::pair<AutomatonMemoryPtr, Tensor> fast_begin(const NondeterministicShape& shape,
                                                 std::int64_t batch, std::int64_t steps,
                                                 at::TensorOptions options, const Tensor& bottom);
// Makes one differentiable step and returns the reading of the next node, B x R. `previous` is the
// reading that the last step returned; it enforces the order of the backward steps.
Tensor fast_step(const AutomatonMemoryPtr& memory, const Tensor& weights, const Tensor& vectors,
                 const Tensor& previous, bool logs);

}  // namespace pushdown
