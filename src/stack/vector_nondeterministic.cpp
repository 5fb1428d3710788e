// The vector nondeterministic stack (Dusell and Chiang 2023): a nondeterministic stack whose
// elements carry vectors of size m; mathematics in nondeterministic.h.
//
// Reading: for each state r and top symbol y the expected vector of the top element times the
// probability of (r, y), Q*S*m numbers at (r*S + y)*m + k. Action layer: transition scores as in
// the nondeterministic stack, and the pushed vector sigmoid(W_v h + b_v), one for all transitions.
// The bottom symbol's vector is learned (a sigmoid), all 0 or all 1.
#include "base/check.h"
#include "stack/kinds.h"
#include "stack/nondeterministic.h"

namespace pushdown {
namespace {

std::vector<OptionSpec> shape_options() {
  std::vector<OptionSpec> specs;
  for (auto& spec : nondeterministic_shape_options()) {
    if (spec.name == "reading") continue;
    if (spec.name == "bottom") spec.default_value = "reexposed";
    specs.push_back(spec);
  }
  return specs;
}

NondeterministicShape shape_of(const Json& options, std::int64_t vector) {
  NondeterministicShape shape;
  shape.states = options["states"];
  shape.symbols = options["symbols"];
  shape.reexposed = options["bottom"] == "reexposed";
  shape.state_symbol = true;
  shape.vector = vector;
  return shape;
}

struct VectorState : StackState {
  StackAutomaton automaton;
  Tensor reading;  // B x C*m
};

class VectorNondeterministicStack : public Stack {
 public:
  VectorNondeterministicStack(const Json& options, const ModuleContext& context)
      : shape_(shape_of(options, options["size"])),
        normalized_(options["normalized"]),
        options_(context.tensor_options) {
    const auto rows = shape_.configurations() * shape_.actions();
    action_ = {uniform_parameter({rows, context.input}, -0.1, 0.1, context),
               uniform_parameter({rows}, -0.1, 0.1, context)};
    parameters_ = {{"action_weight", action_.weight}, {"action_bias", action_.bias}};
    vector_ = make_action_layer("vector", shape_.vector, 1.0, context, parameters_);
    if (options["bottom_vector"] == "learned") {
      bottom_ = uniform_parameter({shape_.vector}, -0.1, 0.1, context);
      parameters_.emplace_back("bottom_vector", bottom_);
    } else {
      fixed_bottom_ = options["bottom_vector"] == "one" ? 1 : 0;
    }
  }

  std::int64_t reading_size() const override { return shape_.configurations() * shape_.vector; }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    const Tensor bottom = initial_bottom().expand({batch, -1});
    auto state = std::make_shared<VectorState>();
    state->automaton = initial_automaton(shape_, batch, length, options_, bottom);
    // The initial bottom is read at first even where it can never be seen again.
    state->reading =
        at::constant_pad_nd(bottom, {0, (shape_.configurations() - 1) * shape_.vector});
    return state;
  }

  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const auto& old = static_cast<const VectorState&>(*state).automaton;
    const Tensor scores =
        action_(hidden).view({hidden.size(0), shape_.configurations(), shape_.actions()});
    auto next = std::make_shared<VectorState>();
    next->automaton = step_automaton(
        shape_, old,
        normalized_ ? scores.softmax(2) : scaled_exponential(scores, old.forward.back()),
        vector_(hidden).sigmoid());
    next->reading = vector_reading(shape_, next->automaton);
    return next;
  }

  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const VectorState&>(*state).reading;
  }

  Tensor log_transition_weights(const Tensor& hidden) const override {
    const Tensor scores =
        action_(hidden).view({hidden.size(0), shape_.configurations(), shape_.actions()});
    return normalized_ ? scores.log_softmax(2) : scores;
  }

  bool fused(FusedStack& plan) const override {
    plan.shape.stack = ScanStack::nondeterministic;
    plan.shape.automaton.states = static_cast<int>(shape_.states);
    plan.shape.automaton.symbols = static_cast<int>(shape_.symbols);
    plan.shape.automaton.channels = shape_.vector;
    plan.shape.reexposed = shape_.reexposed;
    plan.shape.normalized = normalized_;
    plan.action_weight = at::cat({action_.weight, vector_.weight});
    plan.action_bias = at::cat({action_.bias, vector_.bias});
    plan.bottom = initial_bottom();
    return shape_.vector <= kMaxNondeterministicChannels;
  }

 private:
  Tensor initial_bottom() const {  // m
    return bottom_.defined() ? bottom_.sigmoid()
                             : at::full({shape_.vector}, fixed_bottom_, options_);
  }

  NondeterministicShape shape_;
  bool normalized_;
  at::TensorOptions options_;
  ActionLayer action_, vector_;
  Tensor bottom_;
  double fixed_bottom_ = 0;
};

Tensor simulate(const Json& options, const NamedTensors& inputs) {
  constexpr auto kKind = "vector_nondeterministic";
  const bool logs = inputs.contains("log_weights");
  check(logs != inputs.contains("weights"), "stack.simulate vector_nondeterministic",
        "give either 'weights' or 'log_weights'");
  auto shape = shape_of(options, 0);
  const Tensor& weights = simulate_input(kKind, inputs, logs ? "log_weights" : "weights",
                                         {-1, -1, shape.configurations(), shape.actions()});
  if (!logs)
    check(weights.numel() == 0 || weights.detach().min().item<double>() >= 0,
          "stack.simulate vector_nondeterministic", "'weights' must not be negative");
  const auto batch = weights.size(0), steps = weights.size(1);
  const Tensor& vectors = simulate_input(kKind, inputs, "vectors", {batch, steps, -1});
  shape.vector = vectors.size(2);
  Tensor bottom = at::zeros({batch, shape.vector}, vectors.options());
  if (inputs.contains("bottom_vector"))
    bottom = simulate_input(kKind, inputs, "bottom_vector", {shape.vector}).expand({batch, -1});
  auto automaton = initial_automaton(shape, batch, steps, weights.options(), bottom);
  std::vector<Tensor> readings{
      at::constant_pad_nd(bottom, {0, (shape.configurations() - 1) * shape.vector})};
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor given = weights.select(1, t);
    automaton = step_automaton(shape, automaton,
                               logs ? scaled_exponential(given, automaton.forward.back()) : given,
                               vectors.select(1, t));
    readings.push_back(vector_reading(shape, automaton));
  }
  return at::stack(readings, 1);
}

}  // namespace

StackKind vector_nondeterministic_stack() {
  StackKind kind;
  kind.name = "vector_nondeterministic";
  kind.doc = "A nondeterministic stack whose elements carry vectors (Dusell and Chiang 2023).";
  kind.options = shape_options();
  kind.options.push_back(integer_option("size", 3, "size m of the vector of an element", 1));
  kind.options.push_back(boolean_option(
      "normalized", false, "softmax over the transitions out of a configuration; false: exp"));
  kind.options.push_back(text_option("bottom_vector", "learned",
                                     "vector of the initial bottom symbol",
                                     {"learned", "zero", "one"}));
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<VectorNondeterministicStack>(options, context);
  };
  kind.inputs = {
      {"weights", "B x n x (Q*S) x (2*Q*S + Q): columns push r*S+y, replace r*S+y, pop r"},
      {"log_weights", "the same as logarithms, instead of weights"},
      {"vectors", "B x n x m: the pushed vectors"},
      {"bottom_vector", "m: the vector of the initial bottom symbol; zeros if absent"}};
  kind.simulate_options = shape_options();
  kind.simulate = simulate;
  return kind;
}

}  // namespace pushdown
