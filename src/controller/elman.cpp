#include "controller/elman.h"

#include "controller/kinds.h"
#include "controller/layered.h"

namespace pushdown {

Elman::Elman(const Json& options, const ModuleContext& context)
    : hidden_(options["hidden"]),
      activation_(parse_activation(options)),
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
    x = activate(activation_, sum);
    next.push_back(x);
  }
  return {x, next};
}

ControllerKind elman_controller() {
  return {"elman", "Simple recurrent network (Elman 1990).",
          cell_options_and({activation_option()}), make_cell<Elman>};
}

}  // namespace pushdown
