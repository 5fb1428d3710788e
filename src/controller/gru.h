// Gated recurrent unit (Cho et al. 2014), in the form of torch.nn.GRU. Gate rows in the order
// r, z, n:
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr),   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n = tanh(W_in x + b_in + r (W_hn h + b_hn)),  h' = (1 - z) n + z h
#pragma once
#include "controller/layered.h"

namespace pushdown {

struct GruLayer : CellLayer {
  static constexpr std::size_t kStates = 1;

  GruLayer(const Json&, const LayerParameters& make) : CellLayer(3, make) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V& h = *old;
    const auto from_input = pushdown::linear(x, weight_ih, bias_ih).chunk(3, 1);
    const auto from_hidden = pushdown::linear(h, weight_hh, bias_hh).chunk(3, 1);
    const V reset = (from_input[0] + from_hidden[0]).sigmoid();
    const V update = (from_input[1] + from_hidden[1]).sigmoid();
    const V candidate = (from_input[2] + reset * from_hidden[2]).tanh();
    return {candidate + update * (h - candidate)};
  }
};
using Gru = Layered<GruLayer>;

}  // namespace pushdown
