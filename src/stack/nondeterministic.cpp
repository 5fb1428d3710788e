// The nondeterministic stack as part of a network; see nondeterministic.h for the mathematics.
//
// Action layer: one affine map of the hidden vector to all transition weights, C rows of W,
// followed by a softmax over each row (normalized = true, Dusell and Chiang 2020) or by an
// exponential (normalized = false, 2022).
#include "stack/nondeterministic.h"

#include "stack/automaton_state.h"

namespace pushdown {
namespace {

class NondeterministicStack : public Stack {
 public:
  NondeterministicStack(const Json& options, const ModuleContext& context)
      : shape_(nondeterministic_shape(options)),
        normalized_(options["normalized"]),
        fast_(options["fast"].get<bool>() && has_automaton_kernels(shape_, context.tensor_options)),
        options_(context.tensor_options),
        action_(make_transition_layer(shape_, options, context, parameters_)) {}

  std::int64_t reading_size() const override { return shape_.reading_size(); }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return initial_state(shape_, fast_, batch, length, options_);
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return next_state(shape_, state, action_(hidden), normalized_);
  }
  Tensor reading(const StackStatePtr& state) const override {
    return reading_of_forward_weights(static_cast<const AutomatonState&>(*state).read, shape_);
  }

  Tensor log_transition_weights(const Tensor& hidden) const override {
    const Tensor scores =
        action_(hidden).view({hidden.size(0), shape_.configurations(), shape_.actions()});
    return normalized_ ? scores.log_softmax(2) : scores;
  }

  bool recordable() const override { return fast_; }
  bool can_be_cut() const override { return false; }
  TracedNoOp record(StepTrace& trace, const Traced& hidden, const Traced& reading,
                    std::int64_t steps) const override {
    trace.drive(reading, action_(hidden), automaton_memory(shape_, normalized_, steps));
    return {};
  }

 private:
  NondeterministicShape shape_;
  bool normalized_, fast_;
  at::TensorOptions options_;
  ActionLayer action_;
};

Tensor simulate_nondeterministic(const Json& options, const NamedTensors& inputs) {
  const auto shape = nondeterministic_shape(options);
  const auto [weights, logs] = simulated_weights("nondeterministic", shape, inputs);
  const Tensor forward = run_automaton(shape, options["fast"], weights, logs);
  return reading_of_forward_weights(forward.flatten(0, 1), shape)
      .view({forward.size(0), forward.size(1), -1});
}

}  // namespace

StackKind nondeterministic_stack() {
  StackKind kind;
  kind.name = "nondeterministic";
  kind.doc =
      "Simulates all runs of a weighted pushdown automaton at once (Dusell and Chiang 2020).";
  kind.options = nondeterministic_shape_options();
  kind.options.push_back(boolean_option("normalized", true,
                                        "normalize the transition weights by a softmax over the "
                                        "transitions out of a configuration; false: exp"));
  kind.options.push_back(initialization_option());
  kind.options.push_back(fast_option());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<NondeterministicStack>(options, context);
  };
  kind.inputs = {
      {"weights", "B x n x (Q*S) x (2*Q*S + Q): columns push r*S+y, replace r*S+y, pop r"},
      {"log_weights", "the same as logarithms, instead of weights"}};
  kind.simulate_options = nondeterministic_shape_options();
  kind.simulate_options.push_back(fast_option());
  kind.simulate = simulate_nondeterministic;
  return kind;
}

}  // namespace pushdown
