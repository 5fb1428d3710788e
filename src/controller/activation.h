// The activation functions of simple recurrent cells.
#pragma once
#include "base/options.h"
#include "tensor/torch.h"

namespace pushdown {

// scaled_tanh(x) = 1.7519 tanh(2x/3), as printed by Mali et al. (2021). LeCun et al. (2012), whom
// they cite, have 1.7159, with which the function is +-1 at +-1.
enum class Activation { tanh, sigmoid, scaled_tanh, relu };

inline constexpr double kScaledTanhHeight = 1.7519, kScaledTanhRate = 2.0 / 3.0;

// Returns the option `activation`: tanh, sigmoid, scaled_tanh or relu.
OptionSpec activation_option();
Activation parse_activation(const Json& options);

template <class V>
V activate(Activation activation, const V& x) {
  switch (activation) {
    case Activation::sigmoid: return x.sigmoid();
    case Activation::scaled_tanh: return kScaledTanhHeight * (x * kScaledTanhRate).tanh();
    case Activation::relu: return x.relu();
    case Activation::tanh: break;
  }
  return x.tanh();
}

}  // namespace pushdown
