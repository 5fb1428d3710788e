// Delta-RNN (Ororbia, Mikolov and Reitter 2017), in the form of the first author's program: with u
// = U h and w = W x,
//   g = tanh(alpha u w + beta_hidden u + beta_input w + b),   r = sigmoid(w + b_r)
//   h' = phi((1 - r) g + r h),   phi = identity, tanh, sigmoid or relu.
// The gate r shares W with the candidate g. The initial values of alpha and beta are the options of
// these names (2 for alpha in the paper's word-level language models). All other parameters are
// initialised uniformly as in the other cells or, with `initialization = 'normal'`, as in that
// program: weights N(0, 0.005^2) and biases 0.
#include "controller/controller.h"
#include "controller/multiplicative_integration.h"

namespace pushdown {
namespace {

struct DeltaLayer {
  static constexpr std::size_t kStates = 1;
  std::string phi;
  MultiplicativeIntegration sum;
  Tensor gate_bias;  // H: b_r

  DeltaLayer(const Json& options, const LayerParameters& make)
      : phi(options["phi"]),
        sum(make.hidden, options, make),
        gate_bias(make.bias("gate_bias", {make.hidden})) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V from_input = pushdown::linear(x, sum.weight_ih);
    const V candidate = sum(from_input, pushdown::linear(*old, sum.weight_hh)).tanh();
    const V mixed = candidate + (from_input + gate_bias).sigmoid() * (*old - candidate);
    if (phi == "tanh") return {mixed.tanh()};
    if (phi == "sigmoid") return {mixed.sigmoid()};
    return {phi == "relu" ? mixed.relu() : mixed};
  }
};

}  // namespace

ControllerKind delta_rnn_controller() {
  auto options = cell_options_and(multiplicative_integration_options());
  options.push_back(
      text_option("phi", "identity", "outer function", {"identity", "tanh", "sigmoid", "relu"}));
  options.push_back(
      text_option("initialization", "uniform",
                  "weights and biases uniform in +-0.1, or weights N(0, 0.005^2) and biases 0",
                  {"uniform", "normal"}));
  return {"delta_rnn", "Delta-RNN (Ororbia et al. 2017).", options, make_cell<Layered<DeltaLayer>>};
}

}  // namespace pushdown
