// Long short-term memory (Hochreiter and Schmidhuber 1997), in the form of torch.nn.LSTM. Gate rows
// in the order i, f, g, o:
//   [i f g o] = W_ih x + b_ih + W_hh h + b_hh
//   c' = sigmoid(f) c + sigmoid(i) tanh(g),   h' = sigmoid(o) tanh(c')
// The state holds h and c of every layer: h_0, c_0, h_1, c_1, ...
#pragma once
#include "controller/cells.h"

namespace pushdown {

class Lstm : public Controller {
 public:
  Lstm(const Json& options, const ModuleContext& context);

  std::int64_t hidden_size() const override { return hidden_; }
  ControllerState initial(std::int64_t batch) const override;
  std::pair<Tensor, ControllerState> step(const Tensor& input,
                                          const ControllerState& state) const override;
  const std::vector<CellLayer>& layers() const { return layers_; }

 private:
  std::int64_t hidden_;
  std::vector<CellLayer> layers_;
};

}  // namespace pushdown
