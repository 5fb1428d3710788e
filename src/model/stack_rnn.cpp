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
  evaluated_ = stack_->evaluated();
  if (evaluated_ == nullptr) evaluated_ = stack_;
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

Tensor StackRnn::run(const Tensor& inputs, bool training) const {
  const Tensor fused = run_fused(*controller_, *stack_, inputs, buffers_);
  return fused.defined() ? fused : run_stepwise(inputs, training);
}

Tensor StackRnn::log_probabilities(const Tensor& targets, const Tensor& output_weight,
                                   const Tensor& output_bias) const {
  return fused_log_probabilities(*controller_, *stack_, input_, targets, output_weight, output_bias,
                                 buffers_);
}

Tensor StackRnn::run_stepwise(const Tensor& inputs, bool training) const {
  check(inputs.dim() == 3, "stack_rnn.run", "inputs must be B x n x I, got {}", shape_text(inputs));
  const auto batch = inputs.size(0);
  const Tensor first = at::zeros({batch, 1, hidden_size()}, inputs.options());
  return at::cat({first, read(inputs, initial(batch, inputs.size(1)), training).first}, 1);
}

StackRnnState StackRnn::initial(std::int64_t batch, std::int64_t length) const {
  return {controller_->initial(batch), stack_->initial(batch, length), {}};
}

std::pair<Tensor, StackRnnState> StackRnn::read(const Tensor& inputs, StackRnnState state,
                                                bool training) const {
  const Stack& memory = training ? *stack_ : *evaluated_;
  std::vector<Tensor> hiddens;
  for (const Tensor& input : inputs.unbind(1)) {
    // A stack step waits for the input that reads it: the answer to the last one may never be read.
    if (state.hidden.defined()) state.stack = memory.update(state.stack, state.hidden);
    const Tensor x =
        memory.reading_size() == 0 ? input : at::cat({input, memory.reading(state.stack)}, 1);
    std::tie(state.hidden, state.controller) = controller_->step(x, state.controller);
    hiddens.push_back(state.hidden);
  }
  Tensor all = hiddens.empty() ? at::empty({inputs.size(0), 0, hidden_size()}, inputs.options())
                               : at::stack(hiddens, 1);
  return {std::move(all), std::move(state)};
}

StackRnnState StackRnnState::detached() const {
  StackRnnState copy{{}, stack->detached(), hidden.defined() ? hidden.detach() : hidden};
  for (const Tensor& tensor : controller) copy.controller.push_back(tensor.detach());
  return copy;
}

namespace {

// Where the controller's state holds the hidden vector; its size where it does not.
std::size_t carried(const StackRnnState& state) {
  const auto found = std::find_if(state.controller.begin(), state.controller.end(),
                                  [&](const Tensor& own) { return own.is_same(state.hidden); });
  return static_cast<std::size_t>(found - state.controller.begin());
}

}  // namespace

std::vector<Tensor> StackRnnState::tensors() const {
  std::vector<Tensor> all = controller;
  for (const Tensor& tensor : stack->tensors()) all.push_back(tensor);
  if (hidden.defined() && carried(*this) == controller.size()) all.push_back(hidden);
  return all;
}

StackRnnState StackRnnState::with_tensors(const std::vector<Tensor>& tensors) const {
  check_state_tensors("stack_rnn.state", this->tensors(), tensors);
  const auto own = controller.size(), of_stack = stack->tensors().size();
  const auto part = [&](std::size_t first, std::size_t count) {
    const auto begin = tensors.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<Tensor>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  StackRnnState copy{part(0, own), stack->with_tensors(part(own, of_stack)), {}};
  if (!hidden.defined()) return copy;
  const auto place = carried(*this);
  copy.hidden = place < own ? copy.controller[place] : tensors.back();
  return copy;
}

std::size_t StackRnnState::bytes() const {
  std::size_t total = stack->bytes() + tensor_bytes(hidden);
  for (const Tensor& tensor : controller) total += tensor_bytes(tensor);
  return total;
}

}  // namespace pushdown
