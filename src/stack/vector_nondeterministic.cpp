// The vector nondeterministic stack (DuSell and Chiang 2023): a nondeterministic stack whose
// elements carry vectors of size m; see nondeterministic.h for the mathematics.
//
// Reading: for each state r and top symbol y, the expected vector of the top element times the
// probability of (r, y), Q*S*m numbers at (r*S + y)*m + k. Action layer: transition scores as in
// the nondeterministic stack, and the pushed vector sigmoid(W_v h + b_v), shared by all
// transitions. The vector of the bottom symbol is learned (a sigmoid), all 0 or all 1.
#include "stack/automaton_state.h"

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
  auto shape = nondeterministic_shape(options);
  shape.vector = vector;
  return shape;
}

class VectorNondeterministicStack : public AutomatonStack {
 public:
  VectorNondeterministicStack(const Json& options, const ModuleContext& context)
      : AutomatonStack(shape_of(options, options["size"]), options, context),
        vector_(options, shape_.vector, context, parameters_) {
    if (options["bottom_vector"] == "learned") {
      bottom_ = uniform_parameter({shape_.vector}, -0.1, 0.1, context);
      parameters_.emplace_back("bottom_vector", bottom_);
    } else {
      fixed_bottom_ = options["bottom_vector"] == "one" ? 1 : 0;
    }
  }

  std::int64_t reading_size() const override { return shape_.configurations() * shape_.vector; }

  StackStatePtr initial(std::int64_t batch, std::int64_t length) const override {
    return initial_state(shape_, fast_, normalized_, batch, length, options_, initial_bottom());
  }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const AutomatonState&>(*state).read;
  }

 protected:
  TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                   const StackRequest& request) const override {
    trace.drive(
        reading, joined({action_(hidden), vector_(hidden)}), memory_shape(trace, request.steps),
        bottom_.defined() ? trace.logistic_constant(bottom_) : trace.constant(initial_bottom()));
    return {};
  }

 private:
  Tensor pushed(const Tensor& hidden) const override { return vector_(hidden); }
  Tensor initial_bottom() const {  // m
    return bottom_.defined() ? bottom_.sigmoid()
                             : at::full({shape_.vector}, fixed_bottom_, options_);
  }

  PushedVector vector_;
  Tensor bottom_;
  double fixed_bottom_ = 0;
};

Tensor simulate_vector_nondeterministic(const Json& options, const NamedTensors& inputs) {
  constexpr auto kKind = "vector_nondeterministic";
  auto shape = shape_of(options, 0);
  const auto [weights, logs] = simulated_weights(kKind, shape, inputs);
  const Tensor vectors =
      simulate_input(kKind, inputs, "vectors", {weights.size(0), weights.size(1), -1});
  shape.vector = vectors.size(2);
  const Tensor bottom = inputs.contains("bottom_vector")
                            ? simulate_input(kKind, inputs, "bottom_vector", {shape.vector})
                            : at::zeros({shape.vector}, vectors.options());
  return run_automaton(shape, options["fast"], weights, logs, vectors, bottom);
}

}  // namespace

StackKind vector_nondeterministic_stack() {
  StackKind kind;
  kind.name = "vector_nondeterministic";
  kind.doc = "A nondeterministic stack whose elements carry vectors (DuSell and Chiang 2023).";
  kind.options = shape_options();
  kind.options.push_back(integer_option("size", 3, "size m of the vector of an element", 1)
                             .between(1, 1 << 16)
                             .trying(5));
  kind.options.push_back(boolean_option("normalized", false,
                                        "normalize the transition weights by a softmax over the "
                                        "transitions out of a configuration; false: exp"));
  kind.options.push_back(text_option("bottom_vector", "learned",
                                     "vector of the initial bottom symbol",
                                     {"learned", "zero", "one"}));
  kind.options.push_back(initialization_option());
  for (const auto& spec : pushed_vector_options()) kind.options.push_back(spec);
  kind.options.push_back(fast_option());
  kind.make = [](const Json& options, const ModuleContext& context) -> StackPtr {
    return std::make_shared<VectorNondeterministicStack>(options, context);
  };
  kind.inputs = {
      {"weights", "B x n x (Q*S) x (2*Q*S + Q): columns push r*S+y, replace r*S+y, pop r"},
      {"log_weights", "the same as logarithms, instead of weights"},
      {"vectors", "B x n x m: the pushed vectors"},
      {"bottom_vector", "m: the vector of the initial bottom symbol; zeros if absent"}};
  kind.simulate_options = shape_options();
  kind.simulate_options.push_back(fast_option());
  kind.simulate = simulate_vector_nondeterministic;
  return kind;
}

}  // namespace pushdown
