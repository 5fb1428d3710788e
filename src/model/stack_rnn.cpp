#include "model/stack_rnn.h"

#include "base/check.h"
#include "model/recorded_run.h"
#include "recurrence/step_likelihood.h"

namespace pushdown {
namespace {

// The reading size is needed before the controller can be made, and the hidden size before the
// stack: the hidden size is an option of every controller.
std::int64_t hidden_option(const Json& controller, const Kinds& kinds) {
  return resolve_kind("controller", kinds.controllers, controller).second.at("hidden");
}

// Where the controller's state holds the hidden vector; its size where it does not.
std::size_t carried(const StackRnnState& state) {
  const auto found = std::find_if(state.controller.begin(), state.controller.end(),
                                  [&](const Tensor& own) { return own.is_same(state.hidden); });
  return static_cast<std::size_t>(found - state.controller.begin());
}

}  // namespace

StackRnn::StackRnn(const Json& controller, const Json& stack, std::int64_t input,
                   at::TensorOptions tensor_options, Random& random, const Recurrence& recurrence,
                   const Kinds& kinds)
    : recurrence_(recurrence), tensor_options_(tensor_options), input_(input) {
  ModuleContext context{hidden_option(controller, kinds), tensor_options, &random};
  stack_ = make_stack(stack, context, kinds.stacks);
  evaluated_ = stack_->evaluated();
  if (evaluated_ == nullptr) evaluated_ = stack_;
  const auto reading = stack_->reading_size();
  context.input = input + (recurrence_.coupled_state ? 0 : reading);
  controller_ = make_controller(controller, context, kinds.controllers);
  if (recurrence_.coupled_state && reading > 0)
    coupling_weight_ = uniform_parameter({hidden_size(), reading}, -0.1, 0.1, context);
  if (recurrence_.learned_start)
    for (const Tensor& own : controller_->initial(1))
      initial_.push_back(uniform_parameter({own.size(1)}, -0.1, 0.1, context));
  if (recurrence_.carry == CarryForward::none) return;
  check(stack_->no_op(at::zeros({1, hidden_size()}, tensor_options)).has_value(), "model.recurrent",
        "carry_forward needs a stack that has the action no_op, got {} without it",
        stack["kind"].get<std::string>());
}

ParameterList StackRnn::parameters() const {
  ParameterList list;
  for (const auto& [name, tensor] : controller_->parameters())
    list.emplace_back("controller." + name, tensor);
  for (const auto& [name, tensor] : stack_->parameters())
    list.emplace_back("stack." + name, tensor);
  if (coupling_weight_.defined()) list.emplace_back("coupling.weight", coupling_weight_);
  for (std::size_t i = 0; i < initial_.size(); ++i)
    list.emplace_back(fmt::format("initial.{}", i), initial_[i]);
  return list;
}

ControllerState StackRnn::initial_controller(std::int64_t batch) const {
  if (initial_.empty()) return controller_->initial(batch);
  ControllerState state;
  for (const Tensor& own : initial_) state.push_back(own.expand({batch, own.size(0)}));
  return state;
}

Tensor StackRnn::run(const Tensor& inputs, Random* noise, const Tensor& words) const {
  const Tensor hiddens = run_recorded(inputs, words, noise);
  return hiddens.defined() ? hiddens : run_stepwise(inputs, noise);
}

Tensor StackRnn::run_recorded(const Tensor& inputs, const Tensor& words, Random* noise,
                              std::int64_t window, const DeviceRunnerPtr& runner,
                              const Refinement& refinement) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  const auto kernels = runner != nullptr ? runner : cuda_runner(inputs.device());
  if (inputs.dim() != 3 || inputs.size(1) == 0) return {};
  if (!memory.records(inputs.size(1)) || !controller_->recordable()) return {};
  if (!inputs.is_cpu() && kernels == nullptr) return {};
  if (window > 0 && !memory.can_be_cut()) return {};
  const auto batch = inputs.size(0), steps = inputs.size(1);
  StepTrace trace;
  const Traced input = words.defined() ? trace.one_hot(words, inputs.size(2), inputs.options())
                                       : trace.sequence(inputs);
  const Tensor drawn = draw_noise(batch, steps, noise);
  const Traced disturbance =
      drawn.defined() ? trace.sequence(drawn.transpose(0, 1).contiguous()) : Traced();
  const Tensor hiddens =
      run_recorded_steps(record(trace, input, disturbance, memory, batch, steps, refinement), batch,
                         steps, buffers_, window, kernels);
  if (!hiddens.defined()) return {};
  return at::cat({at::zeros({batch, 1, hidden_size()}, hiddens.options()),
                  hiddens.reshape({batch, steps * refinement.passes, hidden_size()})},
                 1);
}

DirectPassPtr StackRnn::direct_pass(const Tensor& words, Random& noise, std::int64_t window,
                                    const Refinement& refinement) const {
  if (window > 0 && !stack_->can_be_cut()) return nullptr;
  auto [plan, supplied] = planned(words.size(0), words.size(1), &noise, refinement);
  if (plan == nullptr) return nullptr;
  return run_plan(plan, words, std::move(supplied), window, buffers_);
}

Tensor StackRnn::log_probabilities(const Tensor& targets, const Tensor& output_weight,
                                   const Tensor& output_bias, Random* noise) const {
  auto [plan, supplied] = planned(targets.size(0), targets.size(1) - 1, noise, {});
  if (plan == nullptr) return {};
  return run_log_likelihoods(plan, targets, output_weight, output_bias, supplied, buffers_);
}

StepPlanPtr StackRnn::plan(std::int64_t batch, std::int64_t steps) const {
  return planned(batch, steps, nullptr, {}).plan;
}

StackRnn::PlannedRun StackRnn::planned(std::int64_t batch, std::int64_t steps, Random* noise,
                                       const Refinement& refinement) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  if (steps < 1 || !memory.records(steps) || !controller_->recordable()) return {};
  const bool noisy = noise != nullptr && recurrence_.noisy();
  PlannedRun run;
  run.plan = plans_->find(
      {batch, steps, refinement.passes, refinement.carry_first, noise != nullptr}, [&] {
        const at::AutoGradMode with_gradient(true);
        StepTrace trace(true);
        const Traced input = trace.symbols(input_);
        const Traced disturbance = noisy ? trace.supplied(hidden_size()) : Traced();
        return StepPlan::make(record(trace, input, disturbance, memory, batch, steps, refinement),
                              parameters());
      });
  if (run.plan != nullptr && noisy)
    run.supplied.push_back(draw_noise(batch, steps, noise).transpose(0, 1));
  return run;
}

TracedProgram StackRnn::record(StepTrace& trace, const Traced& input, const Traced& disturbance,
                               const Stack& memory, std::int64_t batch, std::int64_t steps,
                               const Refinement& refinement) const {
  TracedState states;
  for (const Tensor& initial : initial_controller(batch)) states.push_back(trace.state(initial));
  const auto zero = [&] { return trace.state(at::zeros({batch, 1}, tensor_options_)); };

  // See step().
  Traced x = input, reading, pull;
  if (memory.reading_size() > 0) {
    reading = memory.record_reading(trace, batch, steps);
    if (recurrence_.coupled_state)
      pull = linear(reading, coupling_weight_);
    else
      x = joined({input, reading});
  }
  Traced rested, kept;  // no_op's weight at the last step, or whether it was the greatest
  if (recurrence_.carry != CarryForward::none) {
    rested = zero();
    kept = rested;
    if (recurrence_.carry == CarryForward::counter) {
      const Tensor one = at::ones({1}, tensor_options_);
      const Traced resting = zero(), counted = rested * (resting + 1.0);
      trace.bind(resting, counted);
      kept = larger(counted, trace.constant(one));
    }
  }
  TracedState next = states;
  std::vector<Traced> made;
  for (std::int64_t pass = 0; pass < refinement.passes; ++pass) {
    TracedState old = next;
    if (pull.defined()) old[0] = old[0] + pull;
    if (pass == 0 && disturbance.defined()) old[0] = old[0] + disturbance;
    auto [hidden, after] = controller_->trace(x, old);
    const auto place = static_cast<std::size_t>(
        std::find_if(after.begin(), after.end(),
                     [&, &hidden = hidden](const Traced& own) { return own.is_same(hidden); }) -
        after.begin());
    if (kept.defined()) {
      for (std::size_t i = 0; i < old.size(); ++i) after[i] = mix(kept, old[i], after[i]);
      hidden = after.at(place);
    }
    made.push_back(hidden);
    next = after;
    if (pass == (refinement.carry_first ? 0 : refinement.passes - 1))
      for (std::size_t i = 0; i < states.size(); ++i) trace.bind(states[i], next[i]);
  }
  const Traced output = made.size() == 1 ? made[0] : joined(made);  // B x KH
  trace.begin_aftermath();
  if (memory.reading_size() > 0) {
    const TracedNoOp no_op = memory.record(trace, made[0], reading, steps);
    if (recurrence_.carry == CarryForward::soft) trace.bind(rested, no_op.weight);
    if (recurrence_.carry == CarryForward::counter) trace.bind(rested, no_op.greatest);
  }
  return trace.finish(output);
}

Tensor StackRnn::run_stepwise(const Tensor& inputs, Random* noise,
                              const Refinement& refinement) const {
  check(inputs.dim() == 3, "stack_rnn.run", "inputs must be B x n x I, got {}", shape_text(inputs));
  const auto batch = inputs.size(0);
  const Tensor first = at::zeros({batch, 1, hidden_size()}, inputs.options());
  return at::cat({first, read(inputs, initial(batch, inputs.size(1)), noise, refinement).first}, 1);
}

StackRnnState StackRnn::initial(std::int64_t batch, std::int64_t length) const {
  StackRnnState state{initial_controller(batch), stack_->initial(batch, length), {}, {}};
  if (recurrence_.carry == CarryForward::counter)
    state.resting = at::zeros({batch, 1}, tensor_options_);
  return state;
}

Tensor StackRnn::draw_noise(std::int64_t batch, std::int64_t steps, Random* noise) const {
  if (noise == nullptr || !recurrence_.noisy()) return {};
  const Tensor drawn = at::empty({steps, batch, hidden_size()}, at::kDouble);
  auto* values = drawn.data_ptr<double>();
  for (std::int64_t i = 0; i < drawn.numel(); ++i)
    values[i] = recurrence_.noise_mean + recurrence_.noise * noise->normal();
  return drawn.to(tensor_options_);
}

StackRnnState StackRnn::step(const Tensor& input, const Tensor& disturbance, const Stack& memory,
                             const StackRnnState& state, const Refinement& refinement,
                             std::vector<Tensor>& hiddens) const {
  StackRnnState next = state;
  // A stack step waits for the input that reads it: the answer to the last one may never be read.
  if (state.hidden.defined()) next.stack = memory.update(state.stack, state.hidden);
  Tensor x = input, pull;
  if (memory.reading_size() > 0) {
    const Tensor reading = memory.reading(next.stack);
    if (recurrence_.coupled_state)
      pull = at::linear(reading, coupling_weight_);
    else
      x = at::cat({input, reading}, 1);
  }
  Tensor kept, weight;  // the state is kept: whether, or how much of it
  // The first step has no action before it.
  if (recurrence_.carry != CarryForward::none && state.hidden.defined()) {
    const NoOp no_op = *memory.no_op(state.hidden);
    weight = no_op.weight;
    if (recurrence_.carry == CarryForward::counter) {
      const Tensor counted = state.resting.detach();
      next.resting = at::where(no_op.greatest, counted + 1, at::zeros_like(counted));
      kept = at::gt(next.resting, 1);
    }
  }
  const auto pass = [&](const StackRnnState& from, const Tensor& moved) {
    StackRnnState to = from;
    ControllerState old = from.controller;
    if (pull.defined()) old[0] = old[0] + pull;
    if (moved.defined()) old[0] = old[0] + moved;
    std::tie(to.hidden, to.controller) = controller_->step(x, old);
    if (!weight.defined()) return to;
    const auto place = carried(to);
    for (std::size_t i = 0; i < old.size(); ++i)
      to.controller[i] = kept.defined() ? at::where(kept, old[i], to.controller[i])
                                        : to.controller[i] + weight * (old[i] - to.controller[i]);
    to.hidden = to.controller.at(place);
    return to;
  };
  next = pass(next, disturbance);
  hiddens.push_back(next.hidden);
  StackRnnState last = next;
  for (std::int64_t k = 1; k < refinement.passes; ++k) {
    last = pass(last, {});
    hiddens.push_back(last.hidden);
  }
  if (refinement.carry_first) return next;
  // The first pass drives the memory.
  if (memory.reading_size() > 0) last.hidden = next.hidden;
  return last;
}

std::pair<Tensor, StackRnnState> StackRnn::read(const Tensor& inputs, StackRnnState state,
                                                Random* noise, const Refinement& refinement) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  const Tensor drawn = draw_noise(inputs.size(0), inputs.size(1), noise);
  std::vector<Tensor> hiddens;
  for (std::int64_t t = 0; t < inputs.size(1); ++t)
    state = step(inputs.select(1, t), drawn.defined() ? drawn[t] : Tensor(), memory, state,
                 refinement, hiddens);
  Tensor all = hiddens.empty() ? at::empty({inputs.size(0), 0, hidden_size()}, inputs.options())
                               : at::stack(hiddens, 1);
  return {std::move(all), std::move(state)};
}

NamedTensors StackRnn::strengths(const Tensor& inputs) const {
  const Tensor hiddens = run(inputs);
  return evaluated_->strengths(hiddens.narrow(1, 1, inputs.size(1)));
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
  if (hidden.defined() && carried(*this) == controller.size()) all.push_back(hidden);
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
    const auto place = carried(*this);
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
