// Training updates of several language models of one form on a device: their log-likelihoods, the
// gradients of all parameters and the steps of their optimizers (kernel/update/device_update.h). An
// object is made once for models and sizes, and prepares everything that does not depend on a
// batch or on the values of parameters.
//
// Letters: M models, B sequences of each, T steps, H hidden, V outcomes, P numbers of a model.
#pragma once
#include <memory>

#include "kernel/update/device_update.h"
#include "recurrence/device/device.h"
#include "recurrence/program/step_plan.h"

namespace pushdown {

struct UpdateForm {
  std::vector<StepPlanPtr> plans;  // of each model, recorded for B and T
  // M x P: row m consists of the parameters of model m, in the same order for all.
  Tensor rows;
  Tensor weight, bias;                // the output layer of the first model: V x H, V
  std::int64_t batch = 0, steps = 0;  // maximum
};

// A batch of strings of each model.
struct UpdateBatch {
  std::vector<Tensor> words;        // B_m x n_m ids (int64) each
  std::optional<std::int64_t> end;  // the outcome that ends every string
  std::vector<double> shares;       // the loss is the sum of -share log p
};

class DeviceUpdates {
 public:
  virtual ~DeviceUpdates() = default;
  // Computes log p of all strings and the gradient of the loss, and waits for the sums of each
  // model. Strings have at most T symbols that are read.
  virtual std::vector<DeviceUpdateSums> differentiate(const UpdateBatch& batch) = 0;
  // Makes a step of the optimizers of these models with that gradient. slots : M x P each.
  virtual void step(const OptimizerMethod& method, const std::vector<Tensor>& slots,
                    const std::vector<DeviceStepMember>& members) = 0;
  // Of the last batch: M x B (0 if there is no string), and M x P.
  virtual Tensor log_probabilities() const = 0;
  virtual Tensor gradients() const = 0;
};

// Throws std::invalid_argument for models of different forms, and std::runtime_error if the device
// has not enough memory.
std::unique_ptr<DeviceUpdates> device_updates(UpdateForm form, DevicePtr device);

}  // namespace pushdown
