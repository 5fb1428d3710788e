// Runs recorded steps on the CPU, or on a device with its kernels.
//
// Dimension letters: M models, B batch, T steps, n numbers of the program's output.
#pragma once
#include "base/buffer_pool.h"
#include "recurrence/device/updates.h"

namespace pushdown {

class StepEngine {
 public:
  virtual ~StepEngine() = default;
  // Returns the program's output after each step, B x T x n, differentiable
  // (recurrence/execute/step_run.h). Undefined if the engine cannot run the program, or if
  // SecondDerivatives are requested (tensor/backward.h). `left` receives the final content of its
  // memory, B x m. `lengths`: see run_steps().
  virtual Tensor run(TracedProgram program, std::int64_t batch, std::int64_t steps,
                     std::int64_t window, const BufferPoolPtr& buffers, Tensor* left = nullptr,
                     const std::vector<std::int64_t>& lengths = {}) const = 0;
  // Whether the engine has training updates of several models in common launches.
  virtual bool together() const { return false; }
  virtual std::unique_ptr<DeviceUpdates> updates(UpdateForm form) const { return nullptr; }
};
using StepEnginePtr = std::shared_ptr<const StepEngine>;

// Returns the engine of a device; null if this build has no kernels for it.
StepEnginePtr step_engine(at::Device device);
StepEnginePtr device_engine(DevicePtr device);

}  // namespace pushdown
