// The launches of the CUDA kernels on the replacement for the CUDA runtime.
#pragma once
#include "kernel/device.h"
#include "model/device_runner.h"

namespace pushdown::testing_support {

class Launches final : public TypedDeviceRunner<Launches> {
 public:
  template <class F>
  void steps(const DeviceStepProgram<F>& program, bool backward) const {
    if (backward)
      device_step_backward(program, nullptr);
    else
      device_step_forward(program, nullptr);
  }
  template <class F>
  void update(const DeviceUpdate<F>& update, DeviceUpdatePart part) const {
    device_update(update, part, nullptr);
  }
  template <class F>
  void optimizers(const DeviceOptimizerStep<F>& step) const {
    device_optimizer_step(step, nullptr);
  }
  std::size_t free_bytes() const override { return cuda_memory(0).free_bytes; }
};

}  // namespace pushdown::testing_support
