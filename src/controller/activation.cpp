#include "controller/activation.h"

namespace pushdown {

OptionSpec activation_option() {
  return text_option("activation", "tanh", "squashing function",
                     {"tanh", "sigmoid", "scaled_tanh", "relu"});
}

Activation parse_activation(const Json& options) {
  const std::string name = options["activation"];
  if (name == "sigmoid") return Activation::sigmoid;
  if (name == "relu") return Activation::relu;
  return name == "scaled_tanh" ? Activation::scaled_tanh : Activation::tanh;
}

}  // namespace pushdown
