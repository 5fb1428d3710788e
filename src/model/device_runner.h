// Runs the kernels of models (kernel/step/device_step.h, kernel/update/device_update.h) over
// LibTorch tensors on a CUDA device, or on a replacement in tests.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "kernel/step/device_step.h"
#include "kernel/update/device_update.h"
#include "tensor/torch.h"

namespace pushdown {

class DeviceRunner {
 public:
  virtual ~DeviceRunner() = default;
  virtual void run(const DeviceStepProgram<float>& program, bool backward) const = 0;
  virtual void run(const DeviceStepProgram<double>& program, bool backward) const = 0;
  virtual void run(const DeviceUpdate<float>& update, DeviceUpdatePart part) const = 0;
  virtual void run(const DeviceUpdate<double>& update, DeviceUpdatePart part) const = 0;
  virtual void run(const DeviceOptimizerStep<float>& step) const = 0;
  virtual void run(const DeviceOptimizerStep<double>& step) const = 0;
  // Returns whether there is compiled code of a network that contains this text.
  virtual bool runs_own(const std::string& text) const { return false; }
  // Returns the number of bytes available for further tensors.
  virtual std::size_t free_bytes() const = 0;
};
using DeviceRunnerPtr = std::shared_ptr<const DeviceRunner>;

// A runner whose functions are templates over the number type: steps(), update() and optimizers()
// of Runner.
template <class Runner>
class TypedDeviceRunner : public DeviceRunner {
 public:
  void run(const DeviceStepProgram<float>& program, bool backward) const final {
    self().steps(program, backward);
  }
  void run(const DeviceStepProgram<double>& program, bool backward) const final {
    self().steps(program, backward);
  }
  void run(const DeviceUpdate<float>& update, DeviceUpdatePart part) const final {
    self().update(update, part);
  }
  void run(const DeviceUpdate<double>& update, DeviceUpdatePart part) const final {
    self().update(update, part);
  }
  void run(const DeviceOptimizerStep<float>& step) const final { self().optimizers(step); }
  void run(const DeviceOptimizerStep<double>& step) const final { self().optimizers(step); }

 private:
  const Runner& self() const { return static_cast<const Runner&>(*this); }
};

// Returns the kernels on a CUDA device, on LibTorch's current stream there. Null for other devices,
// and if this build has no kernels or its LibTorch no CUDA.
DeviceRunnerPtr cuda_runner(at::Device device);

}  // namespace pushdown
