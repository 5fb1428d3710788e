// The fast twin of step_automaton(): the loops of kernel/nondeterministic.h with gradients, on CPU
// in float32 and float64.
#pragma once
#include "kernel/nondeterministic.h"
#include "stack/nondeterministic.h"

namespace pushdown {

// The stack automata of a batch, node by node. Steps extend it in place: `head` is the last node
// that has been made, and a step from an older node works on a copy.
class AutomatonMemory : public torch::CustomClassHolder {
 public:
  AutomatonMemory(const NondeterministicShape& shape, std::int64_t batch, std::int64_t steps,
                  at::TensorOptions options);
  // A copy that ends at `node`, to go on from there without touching this one.
  c10::intrusive_ptr<AutomatonMemory> rewound(std::int64_t node) const;

  const NondeterministicShape& shape() const { return shape_; }
  std::int64_t batch() const { return batch_; }
  std::int64_t head() const { return head_; }
  // u_j : B x C, a view.
  Tensor forward(std::int64_t node) const { return forward_.select(1, node); }

  // Makes node j = head + 1. weights : B x C x W, contiguous; with `logs` their logarithms.
  // Returns the weights that were used (see scaled_exponential), the same tensor without `logs`.
  Tensor step(const Tensor& weights, bool logs);
  // Gradient of the weights used for node j from that of u_j; from the last node to the first.
  Tensor step_backward(std::int64_t node, const Tensor& weights, const Tensor& forward_gradient);

  // All steps of the sequences at once, each sequence on one thread. weights : B x n x C x W.
  Tensor scan(const Tensor& weights, bool logs);
  // forward_gradients : B x (n+1) x C (u_1 .. u_{n+1}) -> gradient of the weights used.
  Tensor scan_backward(const Tensor& weights, const Tensor& forward_gradients);

 private:
  template <class F>
  NondeterministicMemory<F> memory(std::int64_t sequence) const;
  template <class F>
  void step_one(std::int64_t sequence, std::int64_t node, const F* given, F* used, bool logs) const;
  void begin_backward(std::int64_t last);

  NondeterministicShape shape_;
  NondeterministicSize size_;
  std::int64_t batch_;
  std::int64_t head_ = 1;
  std::vector<std::int64_t> column_start_;
  Tensor columns_, forward_, mass_, popped_;
  Tensor numerators_, forward_gradients_;
  std::int64_t next_backward_ = 0,
               last_backward_ = 0;  // where the backward pass is, where it began
};

using AutomatonMemoryPtr = c10::intrusive_ptr<AutomatonMemory>;

// Whether there is a kernel for these tensors.
bool has_fast_automaton(const at::TensorOptions& options);

// One differentiable step: u of the next node, B x C. `previous` is the u that the last step
// returned: it ties the backward steps into their order.
Tensor fast_step(const AutomatonMemoryPtr& memory, const Tensor& weights, const Tensor& previous,
                 bool logs);
// All steps: u_1 .. u_{n+1} : B x (n+1) x C, differentiable in weights : B x n x C x W.
Tensor fast_scan(const NondeterministicShape& shape, const Tensor& weights, bool logs);

}  // namespace pushdown
