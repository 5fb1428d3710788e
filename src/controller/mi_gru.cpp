// Gated recurrent unit whose gates and candidate are multiplicative integrations of input and state
// (Wu et al. 2016). With MI(a, b) = alpha a b + beta_hidden b + beta_input a + bias and rows in the
// order r, z, n:
//   r = sigmoid(MI(W_r x, U_r h)),   z = sigmoid(MI(W_z x, U_z h))
//   n = tanh(MI(W_n x, U_n (r h))),  h' = (1 - z) n + z h
// The paper leaves two points open. Here the reset gate acts on h before U_n, as in the GRU of Cho
// et al. (2014) and unlike `gru`; and z keeps the old state, as in `gru`.
#include "controller/controller.h"
#include "controller/multiplicative_integration.h"

namespace pushdown {
namespace {

struct MiGruLayer {
  static constexpr std::size_t kStates = 1;
  MultiplicativeIntegration sum;

  MiGruLayer(const Json& options, const LayerParameters& make)
      : sum(3 * make.hidden, options, make) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V& h = *old;
    const auto size = h.size(1);
    const V from_input = pushdown::linear(x, sum.weight_ih);  // B x 3H
    const auto gates = sum.rows(0, 2 * size, from_input.narrow(1, 0, 2 * size),
                                pushdown::linear(h, sum.weight_hh.narrow(0, 0, 2 * size)))
                           .sigmoid()
                           .chunk(2, 1);
    const V from_hidden = pushdown::linear(gates[0] * h, sum.weight_hh.narrow(0, 2 * size, size));
    const V candidate =
        sum.rows(2 * size, size, from_input.narrow(1, 2 * size, size), from_hidden).tanh();
    return {candidate + gates[1] * (h - candidate)};
  }
};

}  // namespace

ControllerKind mi_gru_controller() {
  return {"mi_gru", "Gated recurrent unit with multiplicative integration (Wu et al. 2016).",
          cell_options_and(multiplicative_integration_options()), make_cell<Layered<MiGruLayer>>};
}

}  // namespace pushdown
