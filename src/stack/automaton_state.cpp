#include "stack/automaton_state.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::int64_t kExpectedSteps = 32;  // where nothing is known

Tensor read_of(const NondeterministicShape& shape, const StackAutomaton& automaton) {
  return shape.vector > 0 ? vector_reading(automaton) : automaton.forward;
}

}  // namespace

StackStatePtr AutomatonState::detached() const {
  auto copy = std::make_shared<AutomatonState>(*this);
  copy->read = read.detach();
  if (memory == nullptr) copy->automaton = pushdown::detached(automaton);
  return copy;
}

std::size_t AutomatonState::bytes() const {
  return tensor_bytes(read) + (memory ? memory->bytes() : automaton_bytes(automaton));
}

std::vector<Tensor> AutomatonState::tensors() const {
  check(memory == nullptr, "stack.tensors",
        "the state of a nondeterministic stack can be had as a list of tensors only with "
        "fast = false");
  return {automaton.edges, automaton.forward, automaton.vectors};
}

StackStatePtr AutomatonState::with_tensors(const std::vector<Tensor>& given) const {
  check_state_tensors("stack.nondeterministic", tensors(), given);
  auto copy = std::make_shared<AutomatonState>();
  copy->automaton = {given[0], given[1], given[2]};
  copy->node = node;
  copy->read = automaton.vectors.size(1) > 0 ? vector_reading(copy->automaton) : given[1];
  return copy;
}

StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, std::int64_t batch,
                            std::int64_t length, at::TensorOptions options, const Tensor& bottom) {
  auto state = std::make_shared<AutomatonState>();
  if (fast && has_fast_automaton(shape, options)) {
    std::tie(state->memory, state->read) =
        fast_begin(shape, batch, length > 0 ? length : kExpectedSteps, options, bottom);
  } else {
    state->automaton = initial_automaton(shape, batch, options,
                                         bottom.defined() ? bottom.expand({batch, -1}) : bottom);
    state->read = read_of(shape, state->automaton);
  }
  return state;
}

StackStatePtr next_state(const NondeterministicShape& shape, const StackStatePtr& state,
                         const Tensor& scores, bool normalized, const Tensor& vectors) {
  const auto& old = static_cast<const AutomatonState&>(*state);
  const Tensor rows = scores.view({scores.size(0), shape.configurations(), shape.actions()});
  auto next = std::make_shared<AutomatonState>();
  next->node = old.node + 1;
  if (old.memory) {
    next->memory = old.memory;
    if (old.memory->head() != old.node) {
      check(!at::GradMode::is_enabled(), "stack.update",
            "with gradients a state of the nondeterministic stack can be continued only once; "
            "use fast = false, or no gradients");
      next->memory = old.memory->rewound(old.node);
    }
    next->read = fast_step(next->memory, normalized ? rows.softmax(2) : rows, vectors, old.read,
                           !normalized);
  } else {
    const Tensor weights =
        normalized ? rows.softmax(2) : scaled_exponential(rows, old.automaton.forward);
    next->automaton = step_automaton(shape, old.automaton, weights, vectors);
    next->read = read_of(shape, next->automaton);
  }
  return next;
}

Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors, const Tensor& bottom) {
  if (fast && has_fast_automaton(shape, weights.options()))
    return fast_scan(shape, weights, logs, vectors, bottom);
  const auto batch = weights.size(0);
  auto automaton = initial_automaton(shape, batch, weights.options(),
                                     bottom.defined() ? bottom.expand({batch, -1}) : bottom);
  std::vector<Tensor> readings{read_of(shape, automaton)};
  for (std::int64_t t = 0; t < weights.size(1); ++t) {
    const Tensor given = weights.select(1, t);
    automaton = step_automaton(shape, automaton,
                               logs ? scaled_exponential(given, automaton.forward) : given,
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
                     "action layer: U(-0.1, 0.1) as the published code, or Xavier as the paper's "
                     "text",
                     {"uniform", "xavier"});
}

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

ScanShape automaton_memory(const NondeterministicShape& shape, bool normalized,
                           std::int64_t steps) {
  ScanShape memory;
  memory.stack = ScanStack::nondeterministic;
  memory.steps = steps;
  memory.automaton.steps = steps - 1;
  memory.automaton.states = static_cast<int>(shape.states);
  memory.automaton.symbols = static_cast<int>(shape.symbols);
  memory.automaton.channels = shape.vector;
  memory.reexposed = shape.reexposed;
  memory.state_symbol = shape.state_symbol;
  memory.normalized = normalized;
  return memory;
}

}  // namespace pushdown
