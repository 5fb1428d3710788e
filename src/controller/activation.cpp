#include "controller/activation.h"

namespace pushdown {

OptionSpec activation_option() {
  return text_option("activation", "tanh", "squashing function",
                     {"tanh", "sigmoid", "scaled_tanh"});
}

Activation parse_activation(const Json& options) {
  const std::string name = options["activation"];
  if (name == "sigmoid") return Activation::sigmoid;
  return name == "scaled_tanh" ? Activation::scaled_tanh : Activation::tanh;
}

Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::sigmoid: return x.sigmoid();
    case Activation::scaled_tanh: return 1.7519 * (x * (2.0 / 3.0)).tanh();
    case Activation::tanh: break;
  }
  return x.tanh();
}

}  // namespace pushdown
