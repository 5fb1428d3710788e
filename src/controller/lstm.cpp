#include "controller/lstm.h"

#include "controller/kinds.h"
#include "controller/layered.h"

namespace pushdown {

Lstm::Lstm(const Json& options, const ModuleContext& context)
    : hidden_(options["hidden"]), layers_(make_cell_layers(4, options, context, parameters_)) {}

ControllerState Lstm::initial(std::int64_t batch) const {
  return ControllerState(2 * layers_.size(),
                         at::zeros({batch, hidden_}, layers_[0].weight_hh.options()));
}

std::pair<Tensor, ControllerState> Lstm::step(const Tensor& input,
                                              const ControllerState& state) const {
  ControllerState next;
  Tensor x = input;
  for (std::size_t k = 0; k < layers_.size(); ++k) {
    const CellLayer& layer = layers_[k];
    const Tensor &h = state[2 * k], &c = state[2 * k + 1];
    const auto gates = (at::linear(x, layer.weight_ih, layer.bias_ih) +
                        at::linear(h, layer.weight_hh, layer.bias_hh))
                           .chunk(4, 1);  // each B x H
    const Tensor cell = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
    x = gates[3].sigmoid() * cell.tanh();
    next.push_back(x);
    next.push_back(cell);
  }
  return {x, next};
}

ControllerKind lstm_controller() {
  return {"lstm", "Long short-term memory (Hochreiter and Schmidhuber 1997).", cell_options(),
          make_cell<Lstm>};
}

}  // namespace pushdown
