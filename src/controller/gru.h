// Gated recurrent unit (Cho et al. 2014), in the form of torch.nn.GRU. Gate rows in the order
// r, z, n:
//   r = sigmoid(W_ir x + b_ir + W_hr h + b_hr),   z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//   n = tanh(W_in x + b_in + r (W_hn h + b_hn)),  h' = (1 - z) n + z h
#pragma once
#include "controller/cells.h"

namespace pushdown {

class Gru : public Controller {
 public:
  Gru(const Json& options, const ModuleContext& context);

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
