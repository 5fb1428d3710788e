// Simple recurrent network (Elman 1990): h' = f(W_ih x + b_ih + W_hh h + b_hh), f = tanh or the
// logistic function.
#pragma once
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
  bool is_sigmoid() const { return sigmoid_; }

 private:
  std::int64_t hidden_;
  bool sigmoid_;
  std::vector<CellLayer> layers_;
};

}  // namespace pushdown
