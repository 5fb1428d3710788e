// Runs the passes of kernel/step/device_step.h over LibTorch tensors on a CUDA device, or on a
// replacement in tests.
#pragma once
#include <cstddef>
#include <memory>

#include "kernel/step/device_step.h"
#include "tensor/torch.h"

namespace pushdown {

class DeviceRunner {
 public:
  virtual ~DeviceRunner() = default;
  virtual void run(const DeviceStepProgram<float>& program, bool backward) const = 0;
  virtual void run(const DeviceStepProgram<double>& program, bool backward) const = 0;
  // Returns the number of bytes available for further tensors.
  virtual std::size_t free_bytes() const = 0;
};
using DeviceRunnerPtr = std::shared_ptr<const DeviceRunner>;

// Returns the kernels on a CUDA device, on LibTorch's current stream there. Null for other devices,
// and if this build has no kernels or its LibTorch no CUDA.
DeviceRunnerPtr cuda_runner(at::Device device);

}  // namespace pushdown
