#include "controller/gru.h"

#include "controller/kinds.h"
#include "controller/layered.h"

namespace pushdown {

Gru::Gru(const Json& options, const ModuleContext& context)
    : hidden_(options["hidden"]), layers_(make_cell_layers(3, options, context, parameters_)) {}

ControllerState Gru::initial(std::int64_t batch) const {
  return ControllerState(layers_.size(),
                         at::zeros({batch, hidden_}, layers_[0].weight_hh.options()));
}

std::pair<Tensor, ControllerState> Gru::step(const Tensor& input,
                                             const ControllerState& state) const {
  ControllerState next;
  Tensor x = input;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const CellLayer& layer = layers_[k];
    const Tensor& h = state[k];
    const auto from_input = at::linear(x, layer.weight_ih, layer.bias_ih).chunk(3, 1);
    const auto from_hidden = at::linear(h, layer.weight_hh, layer.bias_hh).chunk(3, 1);
    const Tensor reset = (from_input[0] + from_hidden[0]).sigmoid();
    const Tensor update = (from_input[1] + from_hidden[1]).sigmoid();
    const Tensor candidate = (from_input[2] + reset * from_hidden[2]).tanh();
    x = candidate + update * (h - candidate);
    next.push_back(x);
  }
  return {x, next};
}

ControllerKind gru_controller() {
  return {"gru", "Gated recurrent unit (Cho et al. 2014).", cell_options(), make_cell<Gru>};
}

}  // namespace pushdown
