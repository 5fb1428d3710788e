#include "controller/cells.h"

namespace pushdown {

std::vector<OptionSpec> cell_options() {
  return {
      integer_option("hidden", 20, "number of hidden units in each layer", 1).between(1, 1 << 20),
      integer_option("layers", 1, "number of layers, each reading the one below", 1)
          .between(1, 1000)};
}

std::vector<CellLayer> make_cell_layers(std::int64_t gates, const Json& options,
                                        const ModuleContext& context, ParameterList& parameters) {
  const std::int64_t hidden = options["hidden"], layers = options["layers"];
  std::vector<CellLayer> result;
  for (std::int64_t k = 0; k < layers; ++k) {
    const std::int64_t input = k == 0 ? context.input : hidden;
    const auto draw = [&](at::IntArrayRef shape) {
      return uniform_parameter(shape, -0.1, 0.1, context);
    };
    CellLayer layer{draw({gates * hidden, input}), draw({gates * hidden, hidden}),
                    draw({gates * hidden}), draw({gates * hidden})};
    const auto add = [&](const char* name, const Tensor& tensor) {
      parameters.emplace_back(fmt::format("{}_l{}", name, k), tensor);
    };
    add("weight_ih", layer.weight_ih);
    add("weight_hh", layer.weight_hh);
    add("bias_ih", layer.bias_ih);
    add("bias_hh", layer.bias_hh);
    result.push_back(std::move(layer));
  }
  return result;
}

}  // namespace pushdown
