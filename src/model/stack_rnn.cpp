#include "model/stack_rnn.h"

#include "array/array_function.h"
#include "base/check.h"
#include "base/stopping.h"
#include "model/dropout.h"
#include "model/output_reading.h"
#include "model/state_place.h"

namespace pushdown {
namespace {

// The reading size is needed to create the controller, and the hidden size to create the stack.
// Every controller therefore has the hidden size as an option.
std::int64_t hidden_option(const Json& controller, const Kinds& kinds) {
  return resolve_kind("controller", kinds.controllers, controller).second.at("hidden");
}

std::pair<Tensor, ControllerState> advanced(const Controller& controller, const Tensor& input,
                                            const ControllerState& state,
                                            const std::vector<Tensor>& masks) {
  return controller.step(input, state, masks);
}
std::pair<Traced, TracedState> advanced(const Controller& controller, const Traced& input,
                                        const TracedState& state,
                                        const std::vector<Traced>& masks) {
  return controller.trace(input, state, masks);
}

// drawn : T x B x R, or undefined
Traced sequence_of(StepTrace& trace, const Tensor& drawn) {
  return drawn.defined() ? trace.sequence(drawn.transpose(0, 1).contiguous()) : Traced();
}

}  // namespace

StackRnn::StackRnn(const Json& controller, const Json& stack, std::int64_t input,
                   at::TensorOptions tensor_options, Random& random, const Recurrence& recurrence,
                   const Kinds& kinds)
    : recurrence_(recurrence),
      tensor_options_(tensor_options),
      input_(input),
      engine_(step_engine(tensor_options.device())) {
  ModuleContext context{hidden_option(controller, kinds), tensor_options, &random};
  stack_ = make_stack(stack, context, kinds.stacks);
  evaluated_ = stack_->evaluated();
  if (evaluated_ == nullptr) evaluated_ = stack_;
  const auto reading = stack_->reading_size();
  context.input = input + (recurrence_.coupled_state ? 0 : reading);
  controller_ = make_controller(controller, context, kinds.controllers);
  check(controller_->reads_hidden() || (!recurrence_.coupled_state && !recurrence_.noisy()),
        "model.recurrent",
        "coupling 'state' and noise change the old hidden vector, which the controller '{}' does "
        "not read: expected coupling 'input' and noise 0",
        controller["kind"].get<std::string>());
  if (recurrence_.coupled_state && reading > 0)
    coupling_weight_ = uniform_parameter({hidden_size(), reading}, -0.1, 0.1, context);
  if (recurrence_.learned_start)
    for (const Tensor& own : controller_->initial(1))
      initial_.push_back(uniform_parameter({own.size(1)}, -0.1, 0.1, context));
  check(!recurrence_.reading_out || reading > 0, "model.recurrent",
        "output 'hidden_and_reading' needs a stack with a reading, got '{}'",
        stack["kind"].get<std::string>());
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

Tensor StackRnn::run(const Tensor& inputs, Random* noise, const Tensor& words,
                     const std::vector<std::int64_t>& lengths) const {
  const Tensor hiddens = run_recorded(inputs, words, noise, 0, nullptr, {}, lengths);
  return hiddens.defined() ? hiddens : run_stepwise(inputs, noise);
}

Tensor StackRnn::run_recorded(const Tensor& inputs, const Tensor& words, Random* noise,
                              std::int64_t window, const StepEnginePtr& given,
                              const Refinement& refinement,
                              const std::vector<std::int64_t>& lengths,
                              const std::vector<std::int64_t>& sources) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  const StepEnginePtr& engine = given != nullptr ? given : engine_;
  if (engine == nullptr || inputs.dim() != 3 || inputs.size(1) == 0) return {};
  if (recurrence_.reading_out && window > 0) return {};
  const auto batch = inputs.size(0), steps = inputs.size(1), more = further_steps();
  StackRequest request{.batch = batch, .steps = steps + more, .cut = window > 0};
  if (!sources.empty()) request.sources = at::tensor(sources, at::kLong);
  const auto stack = recorded_stack(memory, request);
  if (stack == nullptr) return {};
  StepTrace trace;
  const Tensor drawn = draw_noise(batch, steps, noise);
  const Traced input = words.defined() ? trace.one_hot(repeated_last(words, 1, more),
                                                       inputs.size(2), inputs.options())
                                       : trace.sequence(repeated_last(inputs, 1, more));
  const Recorded recorded = record(trace, input, sequence_of(trace, repeated_last(drawn, 0, more)),
                                   *stack, beginning(batch), refinement);
  std::vector<std::int64_t> read = lengths;
  for (std::int64_t& length : read) length += more;
  const Tensor made = engine->run(trace.finish(recorded.output), batch, steps + more, window,
                                  buffers_, nullptr, read);
  if (!made.defined()) return {};
  if (recurrence_.reading_out)
    return with_readings(made, hidden_size(), refinement.passes, reading_mask(drawn));
  return at::cat({at::zeros({batch, 1, hidden_size()}, made.options()),
                  made.reshape({batch, steps * refinement.passes, hidden_size()})},
                 1);
}

Route StackRnn::route(const PassRequest& request) const {
  const bool out = recurrence_.reading_out;
  const bool with_steps = request.outcomes > 0 && request.outcomes <= kMostOutcomes && !out;
  // In the graph, only the log-likelihood that is computed with the steps has a plan.
  const bool plans =
      request.together || (tensor_options_.device().is_cpu() && (!request.graph || with_steps));
  if (const StepPlanPtr found = plans ? plan(request) : nullptr) {
    const auto batch = request.words.size(0), steps = request.words.size(1);
    PlannedBatch planned{
        found, repeated_last(request.words, 1, further_steps()), {}, request.window};
    planned.passes = request.refinement.passes;
    planned.reading = output_size() - hidden_size();
    planned.buffers = buffers_;
    if (const Tensor drawn = draw_noise(batch, steps, request.noise); drawn.defined()) {
      planned.supplied.push_back(repeated_last(drawn, 0, further_steps()).transpose(0, 1));
      planned.reading_mask = reading_mask(drawn);
    }
    return planned;
  }
  if (request.window == 0) return ByTensors();
  const Stack& memory = request.noise == nullptr ? *evaluated_ : *stack_;
  const StackRequest cut{
      .batch = request.words.size(0), .steps = request.words.size(1), .cut = true};
  if (engine_ == nullptr || out || recorded_stack(memory, cut) == nullptr) return ByPieces();
  return ByTensors();
}

std::vector<Tensor> StackRnn::selected_matrices() const {
  const StepPlanPtr plan = this->plan({.words = at::empty({1, 2}, at::kLong)});
  if (plan == nullptr) return {};
  const auto& matrices = plan->matrices();
  std::vector<char> looked_up(matrices.size());
  for (const StepTerm& term : plan->program()->terms)
    if (term.lookup) looked_up[term.matrix] = 1;
  // Whether a part of a parameter is its first columns, or has none of them.
  const auto fits = [&](const StepPlan::Part& part, bool lookup) {
    const Tensor& whole = part.parameter;
    if (whole.dim() != 2 || !whole.is_contiguous() || part.sizes.size() != 2 ||
        part.strides != whole.strides().vec())
      return false;
    const auto column = part.offset % whole.size(1);
    return lookup ? part.offset == 0 && part.sizes == std::vector{whole.size(0), input_}
                  : column >= input_;
  };
  std::vector<Tensor> found;
  for (std::size_t k = 0; k < matrices.size(); ++k) {
    const auto index = matrices[k].index;
    if (!looked_up[k] || !matrices[k].parameter.defined()) continue;
    bool alone = true;
    for (std::size_t other = 0; other < matrices.size(); ++other)
      if (matrices[other].parameter.defined() && matrices[other].index == index)
        alone = alone && fits(matrices[other], looked_up[other]);
    for (const auto* parts : {&plan->given(), &plan->initial()})
      for (const StepPlan::Part& part : *parts)
        alone = alone && !(part.parameter.defined() && part.index == index);
    if (alone) found.push_back(matrices[k].parameter);
  }
  return found;
}

StepPlanPtr StackRnn::plan(const PassRequest& request) const {
  // A run on a device copies the embeddings of all symbols.
  constexpr std::int64_t kMostEmbedded = 1 << 16;
  const bool training = request.noise != nullptr, cut = request.window > 0;
  const Stack& memory = training ? *stack_ : *evaluated_;
  const Tensor& embedding = recurrence_.embedding;
  const Refinement& refinement = request.refinement;
  if (request.words.size(1) < 1 || (cut && recurrence_.reading_out)) return nullptr;
  if (embedding.defined() && !embedding.is_cpu() && embedding.numel() > kMostEmbedded)
    return nullptr;
  const auto batch = request.words.size(0), steps = request.words.size(1) + further_steps();
  const auto stack = recorded_stack(memory, {.batch = batch, .steps = steps, .cut = cut});
  if (stack == nullptr) return nullptr;
  return plans_->find({batch, steps, refinement.passes, refinement.carry_first, training}, [&] {
    const at::AutoGradMode with_gradient(true);
    StepTrace trace(true);
    const Traced input = embedding.defined()
                             ? linear(trace.symbols(embedding.size(0)), embedding.t())
                             : trace.symbols(input_);
    const Traced drawn = training && recurrence_.random() ? trace.supplied(drawn_size()) : Traced();
    const Recorded recorded = record(trace, input, drawn, *stack, beginning(batch), refinement);
    ParameterList own = parameters();
    if (embedding.defined()) own.emplace_back("embedding", embedding);
    return StepPlan::make(trace.finish(recorded.output), own);
  });
}

RecordedStackPtr StackRnn::recorded_stack(const Stack& stack, const StackRequest& request) const {
  return controller_->recordable() ? stack.recorded(request) : nullptr;
}

template <class Vector>
Vector StackRnn::kept(const Vector& rested, Vector& resting) const {
  if (recurrence_.carry == CarryForward::soft) return rested;
  resting = rested * (resting + 1.0);
  return larger(resting, at::ones({1}, tensor_options_));
}

template <class Vector>
StackRnn::PassesOf<Vector> StackRnn::passes(const Symbol<Vector>& symbol,
                                            const std::vector<Vector>& state,
                                            const Refinement& refinement) const {
  const Drawn<Vector> drawn = drawn_parts(symbol.drawn);
  Vector x = drawn.input_mask.defined() ? symbol.input * drawn.input_mask : symbol.input, pull;
  if (symbol.reading.defined()) {
    if (recurrence_.coupled_state)
      pull = pushdown::linear(symbol.reading, coupling_weight_);
    else
      x = joined(std::vector<Vector>{x, symbol.reading});
  }
  PassesOf<Vector> made;
  std::vector<Vector> last = state;
  const StopCheck stop;
  for (std::int64_t pass = 0; pass < refinement.passes; ++pass) {
    stop();
    std::vector<Vector> old = last;
    if (pull.defined()) old[0] = old[0] + pull;
    if (pass == 0 && drawn.disturbance.defined()) old[0] = old[0] + drawn.disturbance;
    auto [hidden, next] = advanced(*controller_, x, old, drawn.layer_masks);
    if (symbol.kept.defined()) {
      const auto place = place_of(hidden, next);
      for (std::size_t i = 0; i < old.size(); ++i) next[i] = mix(symbol.kept, old[i], next[i]);
      hidden = next.at(place);
    }
    made.hiddens.push_back(hidden);
    made.outputs.push_back(drawn.output_mask.defined() ? hidden * drawn.output_mask : hidden);
    last = next;
    if (pass == 0 || !refinement.carry_first) made.state = last;
  }
  return made;
}

StackRnn::Recorded StackRnn::record(StepTrace& trace, const Traced& input, const Traced& drawn,
                                    RecordedStack& stack, const Beginning& beginning,
                                    const Refinement& refinement) const {
  TracedState states;
  for (const Tensor& own : beginning.controller) states.push_back(trace.state(own));
  Symbol<Traced> symbol{input, stack.reading(trace), drawn, {}};
  Recorded recorded;
  Traced rested;  // no_op of the last step, see kept()
  if (recurrence_.carry != CarryForward::none) {
    rested = trace.state(beginning.rested);
    const bool counter = recurrence_.carry == CarryForward::counter;
    Traced resting;
    if (counter) recorded.resting = resting = trace.state(beginning.resting);
    symbol.kept = kept(rested, recorded.resting);
    if (counter) trace.bind(resting, recorded.resting);
  }
  recorded.made = passes(symbol, states, refinement);
  const PassesOf<Traced>& made = recorded.made;
  for (std::size_t i = 0; i < states.size(); ++i) trace.bind(states[i], made.state[i]);
  std::vector<Traced> outputs = made.outputs;
  if (recurrence_.reading_out) outputs.push_back(symbol.reading);
  recorded.output = outputs.size() == 1 ? outputs[0] : joined(outputs);
  trace.begin_aftermath();
  const TracedNoOp no_op = stack.update(trace, made.hiddens[0], symbol.reading);
  if (recurrence_.carry == CarryForward::soft) trace.bind(rested, no_op.weight);
  if (recurrence_.carry == CarryForward::counter) trace.bind(rested, no_op.greatest);
  return recorded;
}

StackRnn::Beginning StackRnn::beginning(std::int64_t batch) const {
  const Tensor zero = at::zeros({batch, 1}, tensor_options_);
  return {initial_controller(batch), zero, zero};
}

Tensor StackRnn::run_stepwise(const Tensor& inputs, Random* noise, const Refinement& refinement,
                              const std::vector<std::int64_t>& sources) const {
  check(inputs.dim() == 3, "stack_rnn.run", "inputs must be B x n x I, got {}", shape_text(inputs));
  const auto batch = inputs.size(0);
  const Tensor first = first_output(batch).to(inputs.options()).unsqueeze(1);
  const StackRnnState state = initial(batch, inputs.size(1), sources);
  return at::cat({first, read(inputs, state, noise, refinement).first}, 1);
}

std::int64_t StackRnn::drawn_size() const {
  const std::int64_t masks = recurrence_.dropout == 0 ? 0 : controller_->layers();
  return ((recurrence_.noisy() ? 1 : 0) + masks) * hidden_size() +
         (masks > 0 && recurrence_.embedding.defined() ? input_ : 0) +
         (masks > 0 ? output_size() - hidden_size() : 0);
}

Tensor StackRnn::reading_mask(const Tensor& drawn) const {
  if (!drawn.defined() || !recurrence_.reading_out || recurrence_.dropout == 0) return {};
  const auto size = stack_->reading_size();
  return drawn.narrow(-1, drawn.size(-1) - size, size);
}

Tensor StackRnn::draw_noise(std::int64_t batch, std::int64_t steps, Random* noise) const {
  if (noise == nullptr || !recurrence_.random()) return {};
  const Tensor drawn = at::empty({steps, batch, drawn_size()}, at::kDouble);
  const std::int64_t normal = recurrence_.noisy() ? hidden_size() : 0, size = drawn.size(2);
  auto* row = drawn.data_ptr<double>();
  for (std::int64_t k = 0; k < steps * batch; ++k, row += size) {
    for (std::int64_t i = 0; i < normal; ++i)
      row[i] = recurrence_.noise_mean + recurrence_.noise * noise->normal();
    draw_mask(row + normal, size - normal, recurrence_.dropout, *noise);
  }
  return drawn.to(tensor_options_);
}

template <class Vector>
StackRnn::Drawn<Vector> StackRnn::drawn_parts(const Vector& numbers) const {
  Drawn<Vector> parts;
  if (!numbers.defined()) return parts;
  std::int64_t place = 0;
  const auto next = [&](std::int64_t size) {
    place += size;
    return numbers.narrow(1, place - size, size);
  };
  if (recurrence_.noisy()) parts.disturbance = next(hidden_size());
  if (recurrence_.dropout == 0) return parts;
  if (recurrence_.embedding.defined()) parts.input_mask = next(input_);
  for (std::int64_t k = 1; k < controller_->layers(); ++k)
    parts.layer_masks.push_back(next(hidden_size()));
  parts.output_mask = next(hidden_size());
  return parts;
}

StackRnnState StackRnn::step(const Tensor& input, const Tensor& drawn, const Stack& memory,
                             const StackRnnState& state, const Refinement& refinement,
                             std::vector<Tensor>& outputs) const {
  StackRnnState next = state;
  // A stack step is delayed until the next input, because the reading after the last input may
  // never be needed, unless the output layer reads it.
  const bool reading_out = recurrence_.reading_out;
  if (state.hidden.defined() && !reading_out) next.stack = memory.update(state.stack, state.hidden);
  Symbol<Tensor> symbol{input, {}, drawn, {}};
  if (memory.reading_size() > 0) symbol.reading = memory.reading(next.stack);
  // Before the first step there is no action.
  if (recurrence_.carry != CarryForward::none && state.hidden.defined()) {
    const NoOp no_op = *memory.no_op(state.hidden);
    const bool soft = recurrence_.carry == CarryForward::soft;
    if (!soft) next.resting = state.resting.detach();
    symbol.kept = kept(soft ? no_op.weight : no_op.greatest.to(input.scalar_type()), next.resting);
  }
  PassesOf<Tensor> made = passes(symbol, state.controller, refinement);
  next.controller = std::move(made.state);
  // The first pass drives the memory. Without a memory only the state matters.
  const bool first = memory.reading_size() > 0 || refinement.carry_first;
  next.hidden = first ? made.hiddens.front() : made.hiddens.back();
  if (reading_out) {
    next.stack = memory.update(next.stack, next.hidden);
    Tensor reading = memory.reading(next.stack);
    if (const Tensor mask = reading_mask(drawn); mask.defined()) reading = reading * mask;
    for (Tensor& output : made.outputs) output = at::cat({output, reading}, 1);
  }
  outputs.insert(outputs.end(), made.outputs.begin(), made.outputs.end());
  return next;
}

std::pair<Tensor, StackRnnState> StackRnn::read(const Tensor& inputs, StackRnnState state,
                                                Random* noise, const Refinement& refinement) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  const Tensor drawn = draw_noise(inputs.size(0), inputs.size(1), noise);
  std::vector<Tensor> outputs;
  const StopCheck stop;
  for (std::int64_t t = 0; t < inputs.size(1); ++t) {
    stop();
    state = step(inputs.select(1, t), drawn.defined() ? drawn[t] : Tensor(), memory, state,
                 refinement, outputs);
  }
  Tensor all = outputs.empty() ? at::empty({inputs.size(0), 0, output_size()}, inputs.options())
                               : at::stack(outputs, 1);
  return {std::move(all), std::move(state)};
}

std::optional<std::pair<Tensor, StackRnnState>> StackRnn::read_recorded(
    const Tensor& inputs, const Tensor& words, const StackRnnState& state, Random* noise,
    const Refinement& refinement, const StepEnginePtr& given) const {
  const Stack& memory = noise == nullptr ? *evaluated_ : *stack_;
  const StepEnginePtr& engine = given != nullptr ? given : engine_;
  const auto batch = inputs.size(0), steps = inputs.size(1), passes_of = refinement.passes;
  if (steps < 2) return {};  // not worth recording
  if (engine == nullptr) return {};
  const bool has_stack = memory.reading_size() > 0, reading_out = recurrence_.reading_out;
  const auto more = further_steps();
  // The stack's move by the hidden vector is delayed, see step().
  const auto stack = recorded_stack(memory, {.batch = batch,
                                             .steps = steps + more,
                                             .from = state.stack,
                                             .driven_by = reading_out ? Tensor() : state.hidden});
  if (stack == nullptr) return {};
  Beginning from{state.controller, at::zeros({batch, 1}, tensor_options_), state.resting};
  if (state.hidden.defined() && recurrence_.carry != CarryForward::none) {
    const NoOp no_op = *memory.no_op(state.hidden);
    from.rested = recurrence_.carry == CarryForward::soft ? no_op.weight
                                                          : no_op.greatest.to(inputs.scalar_type());
  }
  StepTrace trace;
  const Tensor drawn = draw_noise(batch, steps, noise);
  const Traced input = words.defined() ? trace.one_hot(repeated_last(words, 1, more),
                                                       inputs.size(2), inputs.options())
                                       : trace.sequence(repeated_last(inputs, 1, more));
  const Recorded recorded = record(trace, input, sequence_of(trace, repeated_last(drawn, 0, more)),
                                   *stack, from, refinement);
  const PassesOf<Traced>& made = recorded.made;
  // The hidden vector that drives the next move, if it is not part of the controller's state.
  const Traced& driving =
      has_stack || refinement.carry_first ? made.hiddens.front() : made.hiddens.back();
  const auto carried = place_of(driving, made.state);
  const bool apart = carried == made.state.size();
  std::vector<Traced> outputs{recorded.output};
  outputs.insert(outputs.end(), made.state.begin(), made.state.end());
  if (recorded.resting.defined()) outputs.push_back(recorded.resting);
  if (apart) outputs.push_back(driving);
  // The stack before the last update, which is delayed.
  const Traced stack_state = stack->state();
  if (stack_state.defined()) outputs.push_back(stack_state);
  Tensor left;
  const bool in_memory = has_stack && !stack_state.defined();
  const Tensor all = engine->run(trace.finish(joined(outputs)), batch, steps + more, 0, buffers_,
                                 in_memory ? &left : nullptr);
  if (!all.defined()) return {};

  StackRnnState next = state;
  const auto own = recorded.output.size();
  auto place = own;
  const auto taken = [&](std::int64_t size, std::int64_t step) {
    place += size;
    return all.select(1, step).narrow(1, place - size, size);
  };
  const auto last = steps - 1;
  for (Tensor& tensor : next.controller) tensor = taken(tensor.size(1), last);
  if (recorded.resting.defined()) next.resting = taken(1, last).detach();
  next.hidden = apart ? taken(hidden_size(), last) : next.controller[carried];
  next.stack = stack->left(stack_state.defined() ? taken(stack_state.size(), last + more) : left);
  const Tensor read = all.narrow(2, 0, own);
  if (!reading_out)
    return std::pair{read.reshape({batch, steps * passes_of, hidden_size()}), std::move(next)};
  const Tensor with = with_readings(read, hidden_size(), passes_of, reading_mask(drawn));
  return std::pair{with.narrow(1, 1, steps * passes_of), std::move(next)};
}

NamedTensors StackRnn::strengths(const Tensor& inputs) const {
  const Tensor hiddens = run(inputs);
  return evaluated_->strengths(hiddens.narrow(1, 1, inputs.size(1)).narrow(2, 0, hidden_size()));
}

}  // namespace pushdown
