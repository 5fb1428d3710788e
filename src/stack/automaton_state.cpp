#include "stack/automaton_state.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::int64_t kExpectedSteps = 32;  // if the length is unknown

Tensor read_of(const NondeterministicShape& shape, const StackAutomaton& automaton) {
  return shape.vector > 0 ? vector_reading(automaton) : automaton.forward;
}

bool is_constant(const StackAutomaton& automaton) {
  return !automaton.edges.requires_grad() && !automaton.forward.requires_grad() &&
         !automaton.vectors.requires_grad();
}

// Returns a state of the plain version.
std::shared_ptr<AutomatonState> plain_state(const AutomatonState& old, StackAutomaton automaton) {
  auto state = std::make_shared<AutomatonState>();
  state->shape = old.shape;
  state->fast = old.fast;
  state->automaton = std::move(automaton);
  state->node = old.node;
  state->read = read_of(old.shape, state->automaton);
  return state;
}

// Returns the memory for the step after `old` and the node from which it starts; null for the plain
// version.
std::pair<AutomatonMemoryPtr, std::int64_t> memory_behind(const AutomatonState& old) {
  const auto renewed = [&](const StackAutomaton& automaton) {
    auto memory = std::make_shared<AutomatonMemory>(old.shape, automaton, kExpectedSteps);
    const auto head = memory->head();
    return std::pair(std::move(memory), head);
  };
  if (old.memory == nullptr) {
    if (old.fast && old.shape.window > 0 && is_constant(old.automaton))
      return renewed(old.automaton);
    return {nullptr, old.node};
  }
  // Long evaluation without gradients must not use a growing amount of memory.
  const auto most = 2 * old.shape.window + kExpectedSteps;
  if (old.shape.window > 0 && old.node > most && !old.read.requires_grad())
    return renewed(old.memory->automaton(old.node));
  if (old.memory->head() == old.node) return {old.memory, old.node};
  check(!at::GradMode::is_enabled(), "stack.update",
        "with gradients, a state of the nondeterministic stack can be continued only once; use "
        "fast = false or disable gradients");
  return {old.memory->rewound(old.node), old.node};
}

}  // namespace

StackStatePtr AutomatonState::detached() const {
  if (memory == nullptr || shape.window > 0)
    return plain_state(*this, memory ? memory->automaton(node) : pushdown::detached(automaton));
  auto copy = std::make_shared<AutomatonState>(*this);
  copy->read = read.detach();
  return copy;
}

std::size_t AutomatonState::bytes() const {
  return tensor_bytes(read) + (memory ? memory->bytes() : automaton_bytes(automaton));
}

std::vector<Tensor> AutomatonState::tensors() const {
  if (automaton.forward.defined()) return {automaton.edges, automaton.forward, automaton.vectors};
  check(shape.window > 0 && !read.requires_grad(), "stack.tensors",
        "the state of a nondeterministic stack is available as a list of tensors only with fast = "
        "false, or with a window and without gradients");
  const StackAutomaton own = memory->automaton(node);
  return {own.edges, own.forward, own.vectors};
}

StackStatePtr AutomatonState::with_tensors(const std::vector<Tensor>& given) const {
  check_state_tensors("stack.nondeterministic", tensors(), given);
  return plain_state(*this, {given[0], given[1], given[2]});
}

StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, std::int64_t batch,
                            std::int64_t length, at::TensorOptions options, const Tensor& bottom) {
  auto state = std::make_shared<AutomatonState>();
  state->shape = shape;
  state->fast = fast && has_fast_automaton(shape, options);
  if (state->fast)
    std::tie(state->memory, state->read) =
        fast_begin(shape, batch, length > 0 ? length : kExpectedSteps, options, bottom);
  if (!state->fast || shape.window > 0)
    state->automaton = initial_automaton(shape, batch, options,
                                         bottom.defined() ? bottom.expand({batch, -1}) : bottom);
  if (!state->fast) state->read = read_of(shape, state->automaton);
  return state;
}

StackStatePtr next_state(const NondeterministicShape& shape, const StackStatePtr& state,
                         const Tensor& scores, bool normalized, const Tensor& vectors) {
  const auto& old = static_cast<const AutomatonState&>(*state);
  const Tensor rows = scores.view({scores.size(0), shape.configurations(), shape.actions()});
  auto next = std::make_shared<AutomatonState>();
  next->shape = shape;
  next->fast = old.fast;
  std::tie(next->memory, next->node) = memory_behind(old);
  ++next->node;
  const Tensor logs = normalized ? rows.log_softmax(2) : rows;
  if (next->memory) {
    next->read = fast_step(next->memory, logs, vectors, old.read, true);
  } else {
    next->automaton =
        step_automaton(shape, old.automaton, scaled_exponential(logs, old.automaton), vectors);
    next->read = read_of(shape, next->automaton);
  }
  return next;
}

Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors, const Tensor& bottom) {
  const auto batch = weights.size(0), steps = weights.size(1);
  const auto vectors_of = [&](std::int64_t t) {
    return vectors.defined() ? vectors.select(1, t) : vectors;
  };
  if (fast && has_fast_automaton(shape, weights.options())) {
    auto [memory, first] = fast_begin(shape, batch, steps, weights.options(), bottom);
    std::vector<Tensor> readings{first};
    for (std::int64_t t = 0; t < steps; ++t)
      readings.push_back(
          fast_step(memory, weights.select(1, t), vectors_of(t), readings.back(), logs));
    return at::stack(readings, 1);
  }
  auto automaton = initial_automaton(shape, batch, weights.options(),
                                     bottom.defined() ? bottom.expand({batch, -1}) : bottom);
  std::vector<Tensor> readings{read_of(shape, automaton)};
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor given = weights.select(1, t);
    automaton = step_automaton(shape, automaton,
                               logs ? scaled_exponential(given, automaton) : given, vectors_of(t));
    readings.push_back(read_of(shape, automaton));
  }
  return at::stack(readings, 1);
}

std::pair<Tensor, bool> simulated_weights(std::string_view kind, const NondeterministicShape& shape,
                                          const NamedTensors& inputs) {
  const auto where = fmt::format("stack.simulate {}", kind);
  const bool logs = inputs.contains("log_weights");
  check(logs != inputs.contains("weights"), where, "give either 'weights' or 'log_weights'");
  const Tensor weights = simulate_input(kind, inputs, logs ? "log_weights" : "weights",
                                        {-1, -1, shape.configurations(), shape.actions()});
  check(logs || weights.numel() == 0 || weights.detach().min().item<double>() >= 0, where,
        "'weights' must not be negative");
  return {weights, logs};
}

OptionSpec fast_option() {
  return boolean_option("fast", true, "use the compiled kernel (false: plain tensor operations)");
}

OptionSpec initialization_option() {
  return text_option("initialization", "uniform",
                     "initial weights of the action layer: U(-0.1, 0.1) as in the published code, "
                     "or Xavier as in the paper's text",
                     {"uniform", "xavier"});
}

namespace {

// Creates the action layer, which computes transition scores. Initialised with U(-0.1, 0.1), or
// with Xavier for the weight and U(-0.1, 0.1) for the bias.
ActionLayer make_transition_layer(const NondeterministicShape& shape, const Json& options,
                                  const ModuleContext& context, ParameterList& parameters) {
  const auto rows = shape.configurations() * shape.actions();
  const bool bias = options.value("bias", true);
  if (options["initialization"] == "xavier")
    return make_action_layer("action", rows, 1.0, context, parameters, bias);
  ActionLayer layer;
  layer.weight = uniform_parameter({rows, context.input}, -0.1, 0.1, context);
  parameters.emplace_back("action_weight", layer.weight);
  if (!bias) return layer;
  layer.bias = uniform_parameter({rows}, -0.1, 0.1, context);
  parameters.emplace_back("action_bias", layer.bias);
  return layer;
}

// Returns a state of the plain version, or null for a state of the fast version with a gradient.
StackStatePtr in_plain_form(const StackStatePtr& state) {
  const auto& old = static_cast<const AutomatonState&>(*state);
  if (old.automaton.forward.defined()) return plain_state(old, old.automaton);
  return old.read.requires_grad() ? nullptr : plain_state(old, old.memory->automaton(old.node));
}

}  // namespace

AutomatonStack::AutomatonStack(const NondeterministicShape& shape, const Json& options,
                               const ModuleContext& context)
    : shape_(shape),
      normalized_(options["normalized"]),
      fast_(options["fast"].get<bool>() && has_automaton_kernels(shape_, context.tensor_options)),
      options_(context.tensor_options),
      action_(make_transition_layer(shape_, options, context, parameters_)) {}

Tensor AutomatonStack::log_transition_weights(const Tensor& hidden) const {
  const Tensor scores =
      action_(hidden).view({hidden.size(0), shape_.configurations(), shape_.actions()});
  return normalized_ ? scores.log_softmax(2) : scores;
}

std::int64_t AutomatonStack::held_size(std::int64_t count) const {
  const auto c = shape_.configurations(), m = shape_.vector, row = kept(count) * c;
  return c + m * c + (1 + m) * row * row;
}

HeldMemory AutomatonStack::held_after(const StackStatePtr& state, const Tensor& hidden) const {
  const auto plain = in_plain_form(state);
  if (plain == nullptr) return {};
  const auto& own = static_cast<const AutomatonState&>(*plain).automaton;
  std::vector<Tensor> parts{own.forward, own.vectors.flatten(1),
                            own.edges.permute({0, 1, 3, 5, 2, 4}).flatten(1)};
  if (hidden.defined()) {
    parts.push_back(action_(hidden));
    if (shape_.vector > 0) parts.push_back(pushed(hidden));
  }
  return {at::cat(parts, 1), own.edges.size(2), hidden.defined(), is_constant(own)};
}

StackStatePtr AutomatonStack::after_held(const StackStatePtr& state, const Tensor& numbers,
                                         std::int64_t count) const {
  const auto c = shape_.configurations(), m = shape_.vector, batch = numbers.size(0);
  const auto nodes = kept(count), head = c + m * c;
  const Tensor edges = numbers.narrow(1, head, numbers.size(1) - head)
                           .view({batch, 1 + m, nodes, c, nodes, c})
                           .permute({0, 1, 4, 2, 5, 3});
  return plain_state(
      static_cast<const AutomatonState&>(*state),
      {edges, numbers.narrow(1, 0, c), numbers.narrow(1, c, m * c).view({batch, m, c})});
}

MemoryShape AutomatonStack::memory_shape(const StepTrace& trace, std::int64_t steps) const {
  MemoryShape memory;
  memory.kind = MemoryKind::nondeterministic;
  memory.steps = steps;
  memory.automaton.held = trace.held().count;
  memory.automaton.steps = trace.held().updates(steps);
  memory.automaton.states = static_cast<int>(shape_.states);
  memory.automaton.symbols = static_cast<int>(shape_.symbols);
  memory.automaton.channels = shape_.vector;
  memory.automaton.window = shape_.window;
  memory.automaton.reexposed = shape_.reexposed;
  memory.automaton.state_symbol = shape_.state_symbol;
  memory.automaton.normalized = normalized_;
  return memory;
}

}  // namespace pushdown
