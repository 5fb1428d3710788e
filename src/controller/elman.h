// Simple recurrent network (Elman 1990): h' = f(W_ih x + b_ih + W_hh h + b_hh), f = tanh, the
// logistic function, scaled_tanh or relu (activation.h).
#pragma once
#include "controller/activation.h"
#include "controller/layered.h"

namespace pushdown {

struct ElmanLayer : CellLayer {
  static constexpr std::size_t kStates = 1;
  Activation activation;

  ElmanLayer(const Json& options, const LayerParameters& make)
      : CellLayer(1, make), activation(parse_activation(options)) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    return {activate(activation, pushdown::linear(x, weight_ih, bias_ih) +
                                     pushdown::linear(*old, weight_hh, bias_hh))};
  }
};
using Elman = Layered<ElmanLayer>;

}  // namespace pushdown
