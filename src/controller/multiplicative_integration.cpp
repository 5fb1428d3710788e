#include "controller/multiplicative_integration.h"

namespace pushdown {

MultiplicativeIntegration::MultiplicativeIntegration(std::int64_t rows, const Json& options,
                                                     const LayerParameters& make)
    : weight_ih(make.weight("weight_ih", {rows, make.input})),
      weight_hh(make.weight("weight_hh", {rows, make.hidden})),
      alpha(make.constant("alpha", {rows}, options["alpha"])),
      beta_hidden(make.constant("beta_hidden", {rows}, options["beta"])),
      beta_input(make.constant("beta_input", {rows}, options["beta"])),
      bias(make.bias("bias", {rows})) {}

std::vector<OptionSpec> multiplicative_integration_options() {
  return {
      number_option("alpha", 1.0, "initial value of the weights of the product").trying(0.5),
      number_option("beta", 1.0, "initial value of the weights of the two summands").trying(0.5)};
}

}  // namespace pushdown
