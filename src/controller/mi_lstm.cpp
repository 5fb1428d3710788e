// Long short-term memory whose gates and candidate are multiplicative integrations of input and
// state (Wu et al. 2016). Rows in the order i, f, g, o:
//   [i f g o] = alpha (W x) (U h) + beta_hidden (U h) + beta_input (W x) + b
//   c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')
#include "controller/controller.h"
#include "controller/multiplicative_integration.h"

namespace pushdown {
namespace {

struct MiLstmLayer {
  static constexpr std::size_t kStates = 2;
  MultiplicativeIntegration sum;

  MiLstmLayer(const Json& options, const LayerParameters& make)
      : sum(4 * make.hidden, options, make) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const auto gates =
        sum(pushdown::linear(x, sum.weight_ih), pushdown::linear(old[0], sum.weight_hh))
            .chunk(4, 1);  // each B x H
    const V cell = gates[1].sigmoid() * old[1] + gates[0].sigmoid() * gates[2].tanh();
    return {gates[3].sigmoid() * cell.tanh(), cell};
  }
};

}  // namespace

ControllerKind mi_lstm_controller() {
  return {"mi_lstm", "Long short-term memory with multiplicative integration (Wu et al. 2016).",
          cell_options_and(multiplicative_integration_options()), make_cell<Layered<MiLstmLayer>>};
}

}  // namespace pushdown
