#include "model/stack_rnn.h"

#include "base/check.h"
#include "model/fused.h"

namespace pushdown {
namespace {

// The reading size is needed before the controller can be made, and the hidden size before the
// stack: the hidden size is an option of every controller.
std::int64_t hidden_option(const Json& controller) {
  return resolve_kind("controller", controller_kinds(), controller).second.at("hidden");
}

}  // namespace

StackRnn::StackRnn(const Json& controller, const Json& stack, std::int64_t input,
                   at::TensorOptions tensor_options, Random& random)
    : input_(input) {
  ModuleContext context{hidden_option(controller), tensor_options, &random};
  stack_ = make_stack(stack, context);
  context.input = input + stack_->reading_size();
  controller_ = make_controller(controller, context);
}

ParameterList StackRnn::parameters() const {
  ParameterList list;
  for (const auto& [name, tensor] : controller_->parameters())
    list.emplace_back("controller." + name, tensor);
  for (const auto& [name, tensor] : stack_->parameters())
    list.emplace_back("stack." + name, tensor);
  return list;
}

Tensor StackRnn::run(const Tensor& inputs) const {
  const Tensor fused = run_fused(*controller_, *stack_, inputs, buffers_);
  return fused.defined() ? fused : run_stepwise(inputs);
}

Tensor StackRnn::log_probabilities(const Tensor& targets, const Tensor& output_weight,
                                   const Tensor& output_bias) const {
  return fused_log_probabilities(*controller_, *stack_, input_, targets, output_weight, output_bias,
                                 buffers_);
}

Tensor StackRnn::run_stepwise(const Tensor& inputs) const {
  check(inputs.dim() == 3, "stack_rnn.run", "inputs must be B x n x I, got {}", shape_text(inputs));
  const auto batch = inputs.size(0), length = inputs.size(1);
  auto state = controller_->initial(batch);
  auto stack = stack_->initial(batch, length);
  std::vector<Tensor> hiddens{at::zeros({batch, hidden_size()}, inputs.options())};
  for (std::int64_t t = 0; t < length; ++t) {
    const Tensor x = stack_->reading_size() == 0
                         ? inputs.select(1, t)
                         : at::cat({inputs.select(1, t), stack_->reading(stack)}, 1);
    auto [hidden, next] = controller_->step(x, state);
    state = std::move(next);
    hiddens.push_back(hidden);
    // The stack's answer to the last input would never be read.
    if (t + 1 < length) stack = stack_->update(stack, hidden);
  }
  return at::stack(hiddens, 1);
}

}  // namespace pushdown
