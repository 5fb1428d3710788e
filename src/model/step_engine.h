// Where recorded steps run: on the processor, or on a device by its kernels.
//
// Dimension letters: M models, B batch, T steps, n numbers of the program's output.
#pragma once
#include "base/buffer_pool.h"
#include "model/device_runner.h"
#include "recurrence/step_plan.h"

namespace pushdown {

class StepEngine {
 public:
  virtual ~StepEngine() = default;
  // The program's output after each step, B x T x n, differentiable (recurrence/step_run.h);
  // undefined where the program cannot be run so, or where SecondDerivatives are wanted
  // (tensor/backward.h). `left` gets what its memory leaves, B x m.
  virtual Tensor run(TracedProgram program, std::int64_t batch, std::int64_t steps,
                     std::int64_t window, const BufferPoolPtr& buffers,
                     Tensor* left = nullptr) const = 0;
  // A pass that differentiates itself (recurrence/step_plan.h); null where the engine has none.
  virtual DirectPassPtr direct_pass(const StepPlanPtr& plan, const Tensor& words,
                                    std::vector<Tensor> supplied, std::int64_t window,
                                    const BufferPoolPtr& buffers) const {
    return nullptr;
  }
  // Log-likelihoods in one go (recurrence/step_likelihood.h); undefined where the engine has none.
  virtual Tensor log_likelihoods(const StepPlanPtr& plan, const Tensor& targets,
                                 const Tensor& weight, const Tensor& bias,
                                 std::vector<Tensor> supplied, const BufferPoolPtr& buffers) const {
    return {};
  }
  // The outputs of several models as one, M x B x T x n (recurrence/device_steps.h), and whether
  // the engine gains by that. words : M x B x T; lengths : M x B, the steps of each sequence,
  // behind which the output is 0.
  virtual bool together() const { return false; }
  virtual Tensor run_together(const std::vector<StepPlanPtr>& plans, const Tensor& words,
                              const Tensor& lengths) const {
    return {};
  }
};
using StepEnginePtr = std::shared_ptr<const StepEngine>;

// That of a device; null where this build has no kernels for it.
StepEnginePtr step_engine(at::Device device);
// By a runner of its own: what a test puts in the place of a device.
StepEnginePtr device_engine(DeviceRunnerPtr runner);

}  // namespace pushdown
