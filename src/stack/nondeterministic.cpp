// The nondeterministic stack as a network sees it; mathematics in nondeterministic.h.
//
// Action layer: one affine map of the hidden vector to all transition weights, C rows of W; a
// softmax over each row (normalized = true, Dusell and Chiang 2020) or an exponential
// (normalized = false, 2022).
#include "stack/nondeterministic.h"

#include "base/check.h"
#include "stack/kinds.h"
#include "stack/nondeterministic_fast.h"

namespace pushdown {
namespace {

struct AutomatonState : StackState {
  StackAutomaton automaton;   // of the plain version
  AutomatonMemoryPtr memory;  // of the fast version, shared by the states of a sequence
  std::int64_t node = 1;
  Tensor forward;  // u_node : B x C
};

class NondeterministicStack : public Stack {
 public:
  NondeterministicStack(const Json& options, const ModuleContext& context)
      : shape_(nondeterministic_shape(options)),
        normalized_(options["normalized"]),
        fast_(options["fast"].get<bool>() && has_fast_automaton(context.tensor_options)),
        options_(context.tensor_options) {
    const auto rows = shape_.configurations() * shape_.actions();
    if (options["initialization"] == "xavier") {
      action_ = make_action_layer("action", rows, 1.0, context, parameters_);
    } else {
      action_ = {uniform_parameter({rows, context.input}, -0.1, 0.1, context),
                 uniform_parameter({rows}, -0.1, 0.1, context)};
      parameters_ = {{"action_weight", action_.weight}, {"action_bias", action_.bias}};
    }
  }

  std::int64_t reading_size() const override { return shape_.reading_size(); }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    auto state = std::make_shared<AutomatonState>();
    if (fast_) {
      state->memory = c10::make_intrusive<AutomatonMemory>(shape_, batch, length, options_);
      state->forward = state->memory->forward(1).clone();
    } else {
      state->automaton = initial_automaton(shape_, batch, length, options_);
      state->forward = state->automaton.forward.back();
    }
    return state;
  }

  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    const auto& old = static_cast<const AutomatonState&>(*state);
    const Tensor scores =
        action_(hidden).view({hidden.size(0), shape_.configurations(), shape_.actions()});
    auto next = std::make_shared<AutomatonState>();
    next->node = old.node + 1;
    if (fast_) {
      next->memory = old.memory;
      if (old.memory->head() != old.node) {
        check(!at::GradMode::is_enabled(), "stack.update",
              "with gradients a state of the nondeterministic stack can be continued only once; "
              "use fast = false, or no gradients");
        next->memory = old.memory->rewound(old.node);
      }
      next->forward = fast_step(next->memory, normalized_ ? scores.softmax(2) : scores, old.forward,
                                !normalized_);
    } else {
      const Tensor weights =
          normalized_ ? scores.softmax(2) : scaled_exponential(scores, old.forward);
      next->automaton = step_automaton(shape_, old.automaton, weights);
      next->forward = next->automaton.forward.back();
    }
    return next;
  }

  Tensor reading(const StackStatePtr& state) const override {
    return reading_of_forward_weights(static_cast<const AutomatonState&>(*state).forward, shape_);
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
    plan.shape.reexposed = shape_.reexposed;
    plan.shape.state_symbol = shape_.state_symbol;
    plan.shape.normalized = normalized_;
    plan.action_weight = action_.weight;
    plan.action_bias = action_.bias;
    return fast_;
  }

 private:
  NondeterministicShape shape_;
  bool normalized_, fast_;
  at::TensorOptions options_;
  ActionLayer action_;
};

Tensor simulate(const Json& options, const NamedTensors& inputs) {
  constexpr auto kKind = "nondeterministic";
  const auto shape = nondeterministic_shape(options);
  const bool logs = inputs.contains("log_weights");
  check(logs != inputs.contains("weights"), "stack.simulate nondeterministic",
        "give either 'weights' or 'log_weights'");
  const Tensor& weights = simulate_input(kKind, inputs, logs ? "log_weights" : "weights",
                                         {-1, -1, shape.configurations(), shape.actions()});
  if (!logs)
    check(weights.numel() == 0 || weights.detach().min().item<double>() >= 0,
          "stack.simulate nondeterministic", "'weights' must not be negative");
  const auto batch = weights.size(0), steps = weights.size(1);
  Tensor forward;  // B x (n+1) x C
  if (options["fast"].get<bool>() && has_fast_automaton(weights.options())) {
    forward = fast_scan(shape, weights, logs);
  } else {
    auto automaton = initial_automaton(shape, batch, steps, weights.options());
    for (std::int64_t t = 0; t < steps; ++t) {
      const Tensor given = weights.select(1, t);
      automaton = step_automaton(
          shape, automaton, logs ? scaled_exponential(given, automaton.forward.back()) : given);
    }
    automaton.forward.erase(automaton.forward.begin());
    forward = at::stack(automaton.forward, 1);
  }
  return reading_of_forward_weights(forward.flatten(0, 1), shape).view({batch, steps + 1, -1});
}

}  // namespace

StackKind nondeterministic_stack() {
  const auto fast =
      boolean_option("fast", true, "use the compiled kernel (false: plain tensor operations)");
  StackKind kind;
  kind.name = "nondeterministic";
  kind.doc = "All runs of a weighted pushdown automaton at once (Dusell and Chiang 2020).";
  kind.options = nondeterministic_shape_options();
  kind.options.push_back(boolean_option(
      "normalized", true, "softmax over the transitions out of a configuration; false: exp"));
  kind.options.push_back(
      text_option("initialization", "uniform",
                  "action layer: U(-0.1, 0.1) as the published code, or Xavier as the paper's text",
                  {"uniform", "xavier"}));
  kind.options.push_back(fast);
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<NondeterministicStack>(options, context);
  };
  kind.inputs = {
      {"weights", "B x n x (Q*S) x (2*Q*S + Q): columns push r*S+y, replace r*S+y, pop r"},
      {"log_weights", "the same as logarithms, instead of weights"}};
  kind.simulate_options = nondeterministic_shape_options();
  kind.simulate_options.push_back(fast);
  kind.simulate = simulate;
  return kind;
}

}  // namespace pushdown
