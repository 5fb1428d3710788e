#include "controller/elman.h"

namespace pushdown {

Elman::Elman(const Json& options, const ModuleContext& context)
    : hidden_(options["hidden"]),
      sigmoid_(options["activation"] == "sigmoid"),
      layers_(make_cell_layers(1, options, context, parameters_)) {}

ControllerState Elman::initial(std::int64_t batch) const {
  return ControllerState(layers_.size(),
                         at::zeros({batch, hidden_}, layers_[0].weight_hh.options()));
}

std::pair<Tensor, ControllerState> Elman::step(const Tensor& input,
                                               const ControllerState& state) const {
  ControllerState next;
  Tensor x = input;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const CellLayer& layer = layers_[k];
    const Tensor sum = at::linear(x, layer.weight_ih, layer.bias_ih) +
                       at::linear(state[k], layer.weight_hh, layer.bias_hh);
    x = sigmoid_ ? sum.sigmoid() : sum.tanh();
    next.push_back(x);
  }
  return {x, next};
}

}  // namespace pushdown
