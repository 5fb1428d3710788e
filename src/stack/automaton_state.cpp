#include "stack/automaton_state.h"

#include "base/check.h"
#include "base/stopping.h"
#include "recurrence/execute/step_run.h"

namespace pushdown {
namespace {

// Returns for how many updates a new memory has room if the length is unknown.
std::int64_t room_of(const NondeterministicShape& shape) { return 32 + 2 * shape.window; }

Tensor read_of(const NondeterministicShape& shape, const StackAutomaton& automaton) {
  return shape.vector > 0 ? vector_reading(automaton) : automaton.forward;
}

// The memory of a program that reads u or the vectors, at `steps` steps.
MemoryShape memory_of(const NondeterministicShape& shape, bool normalized, const HeldMemory& held,
                      std::int64_t steps) {
  MemoryShape memory;
  memory.kind = MemoryKind::nondeterministic;
  memory.steps = steps;
  auto& automaton = memory.automaton;
  automaton.held = held.count;
  automaton.steps = held.updates(steps);
  automaton.states = static_cast<int>(shape.states);
  automaton.symbols = static_cast<int>(shape.symbols);
  automaton.channels = shape.vector;
  automaton.window = shape.window;
  automaton.reexposed = shape.reexposed;
  automaton.state_symbol = true;
  automaton.normalized = normalized;
  automaton.held_constant = held.constant;
  memory.goes_on = held.numbers.defined();
  memory.held = held.count;
  memory.reading = shape.configurations() * std::max<std::int64_t>(shape.vector, 1);
  memory.actions = shape.configurations() * shape.actions() + shape.vector;
  return memory;
}

bool is_constant(const StackAutomaton& automaton) {
  return !automaton.edges.requires_grad() && !automaton.forward.requires_grad() &&
         !automaton.vectors.requires_grad();
}

// The content of a stack with a window as a run takes it over (kernel/memory/automaton_content.h),
// without actions.
HeldMemory held_of(const StackAutomaton& automaton) {
  const Tensor edges = automaton.edges.permute({0, 1, 3, 5, 2, 4});
  return {at::cat({automaton.forward, automaton.vectors.flatten(1), edges.flatten(1)}, 1),
          automaton.edges.size(2), false, is_constant(automaton)};
}
// Returns how many of `count` nodes below the head are kept, and their numbers.
std::int64_t kept_of(const NondeterministicShape& shape, std::int64_t count) {
  return std::min(count, shape.window - 1);
}
std::int64_t held_size_of(const NondeterministicShape& shape, std::int64_t count) {
  const auto c = shape.configurations(), m = shape.vector, row = kept_of(shape, count) * c;
  return c + m * c + (1 + m) * row * row;
}
StackAutomaton automaton_of(const NondeterministicShape& shape, const Tensor& numbers,
                            std::int64_t count) {
  const auto c = shape.configurations(), m = shape.vector, head = c + m * c;
  const auto nodes = kept_of(shape, count), batch = numbers.size(0);
  const Tensor edges = numbers.narrow(1, head, numbers.size(1) - head)
                           .view({batch, 1 + m, nodes, c, nodes, c})
                           .permute({0, 1, 4, 2, 5, 3});
  return {edges, numbers.narrow(1, 0, c), numbers.narrow(1, c, m * c).view({batch, m, c})};
}

// Returns the automaton of a state, and a state of the same stack with another one.
StackAutomaton automaton_in(const AutomatonState& state) {
  if (state.memory == nullptr) return state.automaton;
  const auto count = state.held + state.updates;
  return automaton_of(state.shape,
                      state.memory->left(state.updates, held_size_of(state.shape, count)), count);
}
StackStatePtr state_with(const AutomatonState& old, StackAutomaton automaton) {
  auto state = std::make_shared<AutomatonState>(old);
  state->memory = nullptr;
  state->automaton = std::move(automaton);
  state->read = read_of(old.shape, state->automaton);
  return state;
}

}  // namespace

StackStatePtr AutomatonState::detached() const {
  if (memory == nullptr || shape.window > 0)
    return state_with(*this, pushdown::detached(automaton_in(*this)));
  auto copy = std::make_shared<AutomatonState>(*this);
  copy->read = read.detach();
  return copy;
}

std::size_t AutomatonState::bytes() const {
  return tensor_bytes(read) + (memory ? memory->bytes() : automaton_bytes(automaton));
}

std::vector<Tensor> AutomatonState::tensors() const {
  check(memory == nullptr || (shape.window > 0 && !read.requires_grad()), "stack.tensors",
        "the state of a nondeterministic stack is available as a list of tensors only with fast = "
        "false, or with a window and without gradients");
  const StackAutomaton own = automaton_in(*this);
  return {own.edges, own.forward, own.vectors};
}

StackStatePtr AutomatonState::with_tensors(const std::vector<Tensor>& given) const {
  check_state_tensors("stack.nondeterministic", tensors(), given);
  AutomatonState old = *this;
  // An algorithm that gives tensors with gradients asks for those of the next state.
  old.fast = fast && is_constant({given[0], given[1], given[2]});
  return state_with(old, {given[0], given[1], given[2]});
}

StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, bool normalized,
                            std::int64_t batch, std::int64_t length, at::TensorOptions options,
                            const Tensor& bottom) {
  auto state = std::make_shared<AutomatonState>();
  state->shape = shape;
  state->normalized = normalized;
  state->fast = fast && has_fast_automaton(shape, options);
  const Tensor bottoms = bottom.defined() ? bottom.expand({batch, -1}) : bottom;
  if (!state->fast || shape.window > 0)
    return state_with(*state, initial_automaton(shape, batch, options, bottoms));
  const auto steps = 1 + (length > 0 ? length : room_of(shape));
  std::tie(state->memory, state->read) =
      begin_memory(memory_of(shape, normalized, {}, steps), batch, options, bottoms);
  return state;
}

namespace {

// Gives the state after `old` the memory that makes its update, if kernels do, and the reading
// before it.
void find_memory(AutomatonState& state, const AutomatonState& old) {
  // Long evaluation without gradients must not use a growing amount of memory.
  const bool full =
      old.shape.window > 0 && !old.read.requires_grad() && old.updates >= room_of(old.shape);
  if (old.memory == nullptr || full) {
    if (!old.fast) return;
    const HeldMemory held = held_of(automaton_in(old));
    state.held = held.count;
    state.updates = 0;
    std::tie(state.memory, state.read) =
        begin_memory(memory_of(old.shape, old.normalized, held, 1 + room_of(old.shape)),
                     held.numbers.size(0), held.numbers.options(), held.numbers);
    return;
  }
  if (old.memory->updates() == old.updates) return;
  check(!at::GradMode::is_enabled(), "stack.update",
        "with gradients, a state of the nondeterministic stack can be continued only once; use "
        "fast = false or disable gradients");
  state.memory = old.memory->rewound(old.updates);
}

}  // namespace

StackStatePtr next_state(const StackStatePtr& state, const Tensor& scores, const Tensor& vectors) {
  const auto& old = static_cast<const AutomatonState&>(*state);
  auto next = std::make_shared<AutomatonState>(old);
  find_memory(*next, old);
  if (next->memory != nullptr) {
    const Tensor actions = vectors.defined() ? at::cat({scores, vectors}, 1) : scores;
    next->automaton = {};
    next->read = update_memory(next->memory, actions, next->read);
    ++next->updates;
    return next;
  }
  const auto& shape = old.shape;
  const Tensor rows = scores.view({scores.size(0), shape.configurations(), shape.actions()});
  const Tensor logs = old.normalized ? rows.log_softmax(2) : rows;
  return state_with(
      old, step_automaton(shape, old.automaton, scaled_exponential(logs, old.automaton), vectors));
}

bool has_automaton_kernels(const NondeterministicShape& shape, const at::TensorOptions& options) {
  const auto dtype = c10::typeMetaToScalarType(options.dtype());
  return shape.vector <= kMaxNondeterministicChannels &&
         (dtype == at::kFloat || dtype == at::kDouble);
}
bool has_fast_automaton(const NondeterministicShape& shape, const at::TensorOptions& options) {
  return options.device().is_cpu() && has_automaton_kernels(shape, options);
}

Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors, const Tensor& bottom) {
  const auto batch = weights.size(0), steps = weights.size(1);
  auto automaton = initial_automaton(shape, batch, weights.options(),
                                     bottom.defined() ? bottom.expand({batch, -1}) : bottom);
  const Tensor first = read_of(shape, automaton);
  // The gradient of an impossible transition cannot go through its logarithm.
  const bool impossible =
      !logs && weights.requires_grad() && weights.detach().eq(0).any().item<bool>();
  if (fast && weights.numel() > 0 && !impossible && has_fast_automaton(shape, weights.options())) {
    StepTrace trace;
    const Traced reading = trace.reading(first.size(1));
    const Tensor scores = (logs ? weights : weights.log()).flatten(2);
    trace.drive(reading, trace.sequence(vectors.defined() ? at::cat({scores, vectors}, 2) : scores),
                memory_of(shape, false, {}, steps + 1),
                bottom.defined() ? trace.constant(bottom) : Traced());
    const Tensor read =
        run_steps(trace.finish(trace.read_now()), batch, steps, std::make_shared<BufferPool>());
    return at::cat({first.unsqueeze(1), read}, 1);
  }
  std::vector<Tensor> readings{first};
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor given = weights.select(1, t);
    automaton =
        step_automaton(shape, automaton, logs ? scaled_exponential(given, automaton) : given,
                       vectors.defined() ? vectors.select(1, t) : vectors);
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

// The shares of push, replace and pop are those of the weight of all runs over the string so far
// whose latest move is one. Depth counts the symbols above the initial bottom.
StackTrace AutomatonStack::trace(const Tensor& hiddens) const {
  NondeterministicShape shape = shape_;
  shape.vector = 0;
  const auto size = shape.configurations(), steps = hiddens.size(0), deepest = steps + 2;
  const auto options = at::TensorOptions().dtype(at::kDouble);
  auto automaton = initial_automaton(shape, 1, options);
  // The distribution over the number of edges below each node, given its configuration : C x D, of
  // the nodes l .. p. The edge of the initial bottom is one.
  std::vector<Tensor> heights;
  const auto first_height = [&](std::int64_t edges) {
    heights.push_back(at::zeros({size, deepest}, options));
    heights.back().select(1, edges).fill_(1);
  };
  if (automaton.edges.size(2) > 0) first_height(0);
  first_height(1);
  std::vector<Tensor> shares, depths;
  const StopCheck stop;
  for (const Tensor& hidden : hiddens.split(1)) {
    stop();
    const Tensor logs = log_transition_weights(hidden).to(at::kCPU, at::kDouble);
    const Tensor weights = scaled_exponential(logs, automaton);
    const auto [held, popped] = possible_shares(automaton);
    const Tensor weighted = automaton.forward.unsqueeze(2) * weights;  // 1 x C x W
    const auto sum = [&](std::int64_t first, std::int64_t count, const Tensor& possible) {
      return (weighted.narrow(2, first, count).sum(2) * possible).sum();
    };
    const Tensor masses = at::stack({sum(0, size, at::ones_like(held)), sum(size, size, held),
                                     sum(2 * size, shape.states, popped)});
    shares.push_back((masses / masses.sum()).nan_to_num(0));

    const Tensor numerators = step_numerators(shape, automaton, weights)[0][0];  // i x a x b
    Tensor height = at::zeros({size, deepest}, options);
    for (std::size_t i = 0; i < heights.size(); ++i)
      height = height + numerators[static_cast<std::int64_t>(i)].t().matmul(heights[i]);
    height = (height / height.sum(1, true)).nan_to_num(0).roll(1, 1);
    automaton = step_automaton(shape, automaton, weights);
    heights.push_back(height);
    while (std::ssize(heights) > automaton.edges.size(2) + 1) heights.erase(heights.begin());
    depths.push_back(automaton.forward[0].matmul(height));
  }
  StackTrace trace{{"push", "replace", "pop"}};
  if (steps == 0) {
    trace.weights = at::zeros({0, 1, 3}, options);
    trace.depths = at::zeros({0, 1, 1}, options);
    trace.depth = at::zeros({0, 1}, options);
    return trace;
  }
  trace.weights = at::stack(shares).unsqueeze(1);
  trace.depths = at::stack(depths).narrow(1, 1, steps + 1).unsqueeze(1);
  trace.depth = trace.depths.matmul(at::arange(steps + 1, options)) / trace.depths.sum(2);
  return trace;
}

std::int64_t AutomatonStack::held_size(std::int64_t count) const {
  return held_size_of(shape_, count);
}

HeldMemory AutomatonStack::held_after(const StackStatePtr& state, const Tensor& hidden) const {
  const auto& own = static_cast<const AutomatonState&>(*state);
  if (own.memory != nullptr && own.read.requires_grad()) return {};
  HeldMemory held = held_of(automaton_in(own));
  if (!hidden.defined()) return held;
  held.moves = true;
  std::vector<Tensor> parts{held.numbers, action_(hidden)};
  if (shape_.vector > 0) parts.push_back(pushed(hidden));
  held.numbers = at::cat(parts, 1);
  return held;
}

StackStatePtr AutomatonStack::after_held(const StackStatePtr& state, const Tensor& numbers,
                                         std::int64_t count) const {
  return state_with(static_cast<const AutomatonState&>(*state),
                    automaton_of(shape_, numbers, count));
}

MemoryShape AutomatonStack::memory_shape(const StepTrace& trace, std::int64_t steps) const {
  MemoryShape memory = memory_of(shape_, normalized_, trace.held(), steps);
  memory.automaton.state_symbol = shape_.state_symbol;
  return memory;
}

}  // namespace pushdown
