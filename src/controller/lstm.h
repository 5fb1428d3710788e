// Long short-term memory (Hochreiter and Schmidhuber 1997), in the form of torch.nn.LSTM. Gate rows
// in the order i, f, g, o:
//   [i f g o] = W_ih x + b_ih + W_hh h + b_hh
//   c' = sigmoid(f) c + sigmoid(i) a(g),   h' = sigmoid(o) a(c')
// where a is tanh or, by option, the logistic function, scaled_tanh or relu (activation.h), as in
// Mali et al. (2021), equations 15 and 16. The state contains h and c of every layer: h_0, c_0,
// h_1, c_1,
// ...
#pragma once
#include "controller/activation.h"
#include "controller/layered.h"

namespace pushdown {

struct LstmLayer : CellLayer {
  static constexpr std::size_t kStates = 2;

  Activation activation;

  LstmLayer(const Json& options, const LayerParameters& make)
      : CellLayer(4, make), activation(parse_activation(options)) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V &h = old[0], &c = old[1];
    const auto gates =
        (pushdown::linear(x, weight_ih, bias_ih) + pushdown::linear(h, weight_hh, bias_hh))
            .chunk(4, 1);  // each B x H
    const V cell = gates[1].sigmoid() * c + gates[0].sigmoid() * activate(activation, gates[2]);
    return {gates[3].sigmoid() * activate(activation, cell), cell};
  }
};
using Lstm = Layered<LstmLayer>;

}  // namespace pushdown
