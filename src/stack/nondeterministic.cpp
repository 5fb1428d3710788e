// The nondeterministic stack as part of a network; see nondeterministic.h for the mathematics.
//
// Action layer: one affine map of the hidden vector to all transition weights, C rows of W,
// followed by a softmax over each row (normalized = true, DuSell and Chiang 2020) or by an
// exponential (normalized = false, 2022).
#include "stack/nondeterministic.h"

#include "stack/automaton_state.h"

namespace pushdown {
namespace {

class NondeterministicStack : public AutomatonStack {
 public:
  NondeterministicStack(const Json& options, const ModuleContext& context)
      : AutomatonStack(nondeterministic_shape(options), options, context) {}

  std::int64_t reading_size() const override { return shape_.reading_size(); }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return initial_state(shape_, fast_, normalized_, batch, length, options_);
  }
  Tensor reading(const StackStatePtr& state) const override {
    return reading_of_forward_weights(static_cast<const AutomatonState&>(*state).read, shape_);
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    trace.drive(reading, action_(hidden), memory_shape(trace, request.steps));
    return {};
  }
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
      "Simulates all runs of a weighted pushdown automaton at once (DuSell and Chiang 2020).";
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
