// Long short-term memory with peepholes (Gers and Schmidhuber 2000; Gers, Schraudolph and
// Schmidhuber 2002). Gate rows in the order i, f, g, o:
//   [i f g o] = W_ih x + b_ih + W_hh h + b_hh
//   c' = sigmoid(f + p_f c) c + sigmoid(i + p_i c) tanh(g)
//   h' = sigmoid(o + p_o c') tanh(c')
// The peephole weights p are diagonal; the input and forget gates use the old cell, the output gate
// the new one. The state contains h and c of every layer.
#include "controller/controller.h"
#include "controller/layered.h"

namespace pushdown {
namespace {

struct PeepholeLayer : CellLayer {
  static constexpr std::size_t kStates = 2;
  Tensor peephole;  // 3 x H: p_i, p_f, p_o

  PeepholeLayer(const Json&, const LayerParameters& make)
      : CellLayer(4, make), peephole(make.weight("peephole", {3, make.hidden})) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V &h = old[0], &c = old[1];
    const auto gates =
        (pushdown::linear(x, weight_ih, bias_ih) + pushdown::linear(h, weight_hh, bias_hh))
            .chunk(4, 1);  // each B x H
    const auto p = peephole.unbind(0);
    const V cell =
        (gates[1] + p[1] * c).sigmoid() * c + (gates[0] + p[0] * c).sigmoid() * gates[2].tanh();
    return {(gates[3] + p[2] * cell).sigmoid() * cell.tanh(), cell};
  }
};

}  // namespace

ControllerKind lstm_peephole_controller() {
  return {"lstm_peephole", "Long short-term memory with peepholes (Gers et al. 2002).",
          cell_options(), make_cell<Layered<PeepholeLayer>>};
}

}  // namespace pushdown
