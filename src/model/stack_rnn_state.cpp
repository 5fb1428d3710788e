// The states of stack networks: the first one, what the output layer reads of one, their tensors.
#include "model/state_place.h"

namespace pushdown {

ControllerState StackRnn::initial_controller(std::int64_t batch) const {
  if (initial_.empty()) return controller_->initial(batch);
  ControllerState state;
  for (const Tensor& own : initial_) state.push_back(own.expand({batch, own.size(0)}));
  return state;
}

StackRnnState StackRnn::initial(std::int64_t batch, std::int64_t length,
                                const std::vector<std::int64_t>& sources) const {
  StackRnnState state{initial_controller(batch), stack_->initial(batch, length), {}, {}};
  if (!sources.empty())
    state.stack = stack_->with_sources(state.stack, at::tensor(sources, at::kLong));
  if (recurrence_.carry == CarryForward::counter)
    state.resting = at::zeros({batch, 1}, tensor_options_);
  return state;
}

Tensor StackRnn::first_output(std::int64_t batch) const {
  const Tensor first = at::zeros({batch, hidden_size()}, tensor_options_);
  if (!recurrence_.reading_out) return first;
  return at::cat({first, evaluated_->reading(evaluated_->initial(batch, 0))}, 1);
}

Tensor StackRnn::output(const StackRnnState& state) const {
  if (!recurrence_.reading_out) return state.hidden;
  return at::cat({state.hidden, evaluated_->reading(state.stack)}, 1);
}

StackRnnState StackRnnState::detached() const {
  const auto constant = [](const Tensor& own) { return own.defined() ? own.detach() : own; };
  StackRnnState copy{{}, stack->detached(), constant(hidden), constant(resting)};
  for (const Tensor& tensor : controller) copy.controller.push_back(tensor.detach());
  return copy;
}

std::vector<Tensor> StackRnnState::tensors() const {
  std::vector<Tensor> all = controller;
  for (const Tensor& tensor : stack->tensors()) all.push_back(tensor);
  if (hidden.defined() && place_of(hidden, controller) == controller.size()) all.push_back(hidden);
  if (resting.defined()) all.push_back(resting);
  return all;
}

StackRnnState StackRnnState::with_tensors(const std::vector<Tensor>& tensors) const {
  check_state_tensors("stack_rnn.state", this->tensors(), tensors);
  const auto own = controller.size(), of_stack = stack->tensors().size();
  const auto part = [&](std::size_t first, std::size_t count) {
    const auto begin = tensors.begin() + static_cast<std::ptrdiff_t>(first);
    return std::vector<Tensor>(begin, begin + static_cast<std::ptrdiff_t>(count));
  };
  StackRnnState copy{part(0, own), stack->with_tensors(part(own, of_stack)), {}, {}};
  if (hidden.defined()) {
    const auto place = place_of(hidden, controller);
    copy.hidden = place < own ? copy.controller[place] : tensors[own + of_stack];
  }
  if (resting.defined()) copy.resting = tensors.back();
  return copy;
}

std::size_t StackRnnState::bytes() const {
  std::size_t total = stack->bytes() + tensor_bytes(hidden) + tensor_bytes(resting);
  for (const Tensor& tensor : controller) total += tensor_bytes(tensor);
  return total;
}

}  // namespace pushdown
