// Simple recurrent network (Elman 1990): h' = f(W_ih x + b_ih + W_hh h + b_hh), f = tanh, the
// logistic function or scaled_tanh (activation.h).
#pragma once
#include "controller/activation.h"
#include "controller/cells.h"

namespace pushdown {

class Elman : public Controller {
 public:
  Elman(const Json& options, const ModuleContext& context);

  std::int64_t hidden_size() const override { return hidden_; }
  ControllerState initial(std::int64_t batch) const override;
  std::pair<Tensor, ControllerState> step(const Tensor& input,
                                          const ControllerState& state) const override;
  const std::vector<CellLayer>& layers() const { return layers_; }
  Activation activation() const { return activation_; }

 private:
  std::int64_t hidden_;
  Activation activation_;
  std::vector<CellLayer> layers_;
};

}  // namespace pushdown
