// Multiplicative long short-term memory (Krause et al. 2016): an LSTM in which the old hidden
// vector is replaced by its product with a linear map of the input,
//   m = (W_mx x) (W_mh h)
//   [i f g o] = W_ih x + W_hm m + b,   rows in this order
//   c' = sigmoid(f) c + sigmoid(i) a(g)
//   h' = sigmoid(o) a(c')     output = 'gate_outside', the published programs
//   h' = a(sigmoid(o) c')     output = 'gate_inside', the paper
// with a = tanh or another activation (activation.h).
#include "controller/activation.h"
#include "controller/controller.h"
#include "controller/multiplicative_state.h"

namespace pushdown {
namespace {

struct MlstmLayer {
  static constexpr std::size_t kStates = 2;
  bool gate_outside;
  Activation activation;
  MultiplicativeState state;
  Tensor weight_ih, weight_hm, bias;  // 4H x I, 4H x F, 4H

  MlstmLayer(const Json& options, const LayerParameters& make)
      : gate_outside(options["output"] == "gate_outside"),
        activation(parse_activation(options)),
        state(options, make),
        weight_ih(make.weight("weight_ih", {4 * make.hidden, make.input})),
        weight_hm(make.weight("weight_hm", {4 * make.hidden, state.factors()})),
        bias(make.bias("bias", {4 * make.hidden})) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const auto gates =
        (pushdown::linear(x, weight_ih, bias) + pushdown::linear(state(x, old[0]), weight_hm))
            .chunk(4, 1);
    const V cell =
        gates[1].sigmoid() * old[1] + gates[0].sigmoid() * activate(activation, gates[2]);
    const V gate = gates[3].sigmoid();
    return {gate_outside ? gate * activate(activation, cell) : activate(activation, gate * cell),
            cell};
  }
};

}  // namespace

ControllerKind mlstm_controller() {
  return {"mlstm", "Multiplicative long short-term memory (Krause et al. 2016).",
          cell_options_and({factors_option(), activation_option(),
                            text_option("output", "gate_outside",
                                        "gate_outside: h = o tanh(c); gate_inside: h = tanh(o c)",
                                        {"gate_outside", "gate_inside"})}),
          make_cell<Layered<MlstmLayer>>};
}

}  // namespace pushdown
