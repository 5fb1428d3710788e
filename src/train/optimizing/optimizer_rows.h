// Several optimizers that make their steps in one launch on a device: their parameters and running
// sums are rows of common tensors.
#pragma once
#include "recurrence/device/updates.h"
#include "tensor/common_rows.h"
#include "train/optimizing/optimizer.h"

namespace pushdown {

class OptimizerRows {
 public:
  // The optimizers have the same kind and options (except learning rates), have made the same
  // number of steps, and their parameters have the same shapes.
  explicit OptimizerRows(std::vector<Optimizer*> optimizers);

  const Tensor& parameters() const { return parameters_.all(); }  // M x P
  // Returns whether the tensors are still those of the optimizers.
  bool hold() const;

  // An optimizer by its row, the factor of its gradient, and its learning rate.
  struct Step {
    std::size_t row;
    double clip, rate;
  };
  // These optimizers make a step with the gradients of `updates`.
  void step(const std::vector<Step>& steps, DeviceUpdates& updates) const;

 private:
  std::vector<Optimizer*> optimizers_;
  CommonRows parameters_;
  std::vector<CommonRows> slots_;
};

}  // namespace pushdown
