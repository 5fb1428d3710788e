// Second-order recurrent network (Giles et al. 1992):
//   h'_i = g(b_i + sum_jk W_ijk h_j x_k),   g = the logistic function, tanh or scaled_tanh,
// where x is the whole input, including the reading: the second-order cell of Sun, Giles, Chen and
// Lee (1998), equation 6. From h = 0 the network could not see the first symbol at all. The state
// therefore starts at (1, 0, ..., 0), as in their work; `start = 'zero'` starts it at 0. Weights
// and biases are drawn from U(-range, range); the range was 1 in their experiments. Cost H^2 I per
// step.
#include "controller/activation.h"
#include "controller/controller.h"
#include "controller/layered.h"

namespace pushdown {
namespace {

struct SecondOrderLayer {
  static constexpr std::size_t kStates = 1;
  Activation activation;
  Tensor weight;  // H x H x I: W_ijk
  Tensor bias;    // H

  SecondOrderLayer(const Json& options, const LayerParameters& make)
      : activation(parse_activation(options)),
        weight(make.uniform("weight", {make.hidden, make.hidden, make.input}, options["range"])),
        bias(make.uniform("bias", {make.hidden}, options["range"])) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V pairs = outer_product(*old, x);  // B x HI: h_j x_k
    return {activate(activation, pushdown::linear(pairs, weight.flatten(1), bias))};
  }
};

class SecondOrder : public Layered<SecondOrderLayer> {
 public:
  SecondOrder(const Json& options, const ModuleContext& context)
      : Layered(options, context), from_first_(options["start"] == "first") {}

  ControllerState initial(std::int64_t batch) const override {
    auto state = Layered::initial(batch);
    if (!from_first_) return state;
    const Tensor first =
        at::constant_pad_nd(at::ones({batch, 1}, state.front().options()), {0, hidden_size() - 1});
    return ControllerState(state.size(), first);
  }
  std::optional<HigherOrderNetwork> higher_order() const override {
    if (layers() > 1) return std::nullopt;
    const auto& [activation, weight, bias] = first_layer();
    HigherOrderShape shape;
    shape.states = hidden_size();
    shape.inputs = weight.size(2);
    shape.first_active = from_first_;
    if (activation != Activation::sigmoid) {
      const bool scaled = activation == Activation::scaled_tanh;
      shape.shift = 0;
      shape.scale = scaled ? kScaledTanhHeight : 1;
      shape.rate = scaled ? kScaledTanhRate : 1;
    }
    return HigherOrderNetwork{shape, {weight, bias}};
  }

 private:
  bool from_first_;
};

}  // namespace

ControllerKind second_order_controller() {
  auto activation = activation_option();
  activation.default_value = "sigmoid";
  std::erase(activation.choices, "relu");  // not among the loops of HigherOrderShape
  return {
      "second_order", "Second-order recurrent network (Giles et al. 1992).",
      cell_options_and(
          {activation,
           text_option("start", "first",
                       "initial state: 1 in the first unit and 0 in the others, or all 0",
                       {"first", "zero"}),
           number_option("range", 1.0, "initial weights are uniform in +-range", 0).trying(0.5)}),
      make_cell<SecondOrder>};
}

}  // namespace pushdown
