// Training updates by the kernels of a device (recurrence/device/updates.h), of one model or of
// several of one form: gradients (model/likelihoods_together.h) and steps of the optimizers
// (optimizer_rows.h) in a fixed number of launches. What the launches need is kept from update to
// update.
#pragma once
#include <optional>

#include "model/likelihoods_together.h"
#include "train/optimizing/optimizer_rows.h"
#include "train/problems/problem.h"

namespace pushdown {

class CommonUpdates {
 public:
  struct Member {
    const LanguageModel* model;
    Optimizer* optimizer;
  };

  explicit CommonUpdates(StepEnginePtr engine) : engine_(std::move(engine)) {}

  // Computes the gradients of the members' batches, and waits for their sums. The members are those
  // of the last call, unless forget() was called.
  std::vector<DeviceUpdateSums> differentiate(const std::vector<Member>& members,
                                              std::vector<LikelihoodBatch> batches);
  // Makes the steps of these optimizers with the gradients.
  void step(const std::vector<OptimizerRows::Step>& steps) {
    rows_->step(steps, likelihoods_->updates());
  }
  // Frees the memory on the device.
  void forget();

 private:
  StepEnginePtr engine_;
  std::optional<OptimizerRows> rows_;
  std::optional<LikelihoodsTogether> likelihoods_;
};

}  // namespace pushdown
