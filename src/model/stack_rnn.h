// A recurrent controller with a stack: the only class that sees both.
//   h_t = controller(x_t ++ reading_{t-1}),   stack_t = update(stack_{t-1}, h_t)
#pragma once
#include "base/buffer_pool.h"
#include "controller/controller.h"
#include "stack/stack.h"

namespace pushdown {

// Where the network stands in a batch of sequences.
struct StackRnnState {
  ControllerState controller;
  StackStatePtr stack;
  Tensor hidden;  // B x H, drives the stack's next step; undefined before the first input

  StackRnnState detached() const;
  std::size_t bytes() const;
  // See NetworkState: those of the controller and of the stack, and the hidden vector unless the
  // controller carries it itself.
  std::vector<Tensor> tensors() const;
  StackRnnState with_tensors(const std::vector<Tensor>& tensors) const;
};

class StackRnn {
 public:
  // `input` is the size of x_t; the controller is made for input + reading size.
  StackRnn(const Json& controller, const Json& stack, std::int64_t input,
           at::TensorOptions tensor_options, Random& random);

  const Controller& controller() const { return *controller_; }
  const Stack& stack() const { return *stack_; }
  std::int64_t hidden_size() const { return controller_->hidden_size(); }
  ParameterList parameters() const;  // controller.*, stack.*

  // inputs : B x n x I -> hidden vectors h_0 .. h_n : B x (n+1) x H, with h_0 = 0. On the CPU one
  // fused scan over the sequence, where there is one for the controller and the stack. `training`:
  // whether this is a training pass, for stacks that then differ (Stack::evaluated).
  Tensor run(const Tensor& inputs, bool training = false) const;
  // The same step by step: the definition.
  Tensor run_stepwise(const Tensor& inputs, bool training = false) const;
  // See fused_log_probabilities in model/fused.h; undefined where there is no fused kernel.
  Tensor log_probabilities(const Tensor& targets, const Tensor& output_weight,
                           const Tensor& output_bias) const;

  // `length`: how many inputs are expected, 0 where that is not known.
  StackRnnState initial(std::int64_t batch, std::int64_t length) const;
  // The inputs that follow, B x c x I -> their hidden vectors B x c x H, and where that leads.
  std::pair<Tensor, StackRnnState> read(const Tensor& inputs, StackRnnState state,
                                        bool training = false) const;

 private:
  ControllerPtr controller_;
  StackPtr stack_;
  std::shared_ptr<const Stack> evaluated_;  // what an evaluation uses: another view of stack_
  std::int64_t input_;
  BufferPoolPtr buffers_ = std::make_shared<BufferPool>();
};

}  // namespace pushdown
