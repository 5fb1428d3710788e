// Who runs the passes of kernel/step/device_step.h over tensors of LibTorch: a CUDA device, or what
// a test puts in its place.
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
  // Bytes that further tensors can take, at most.
  virtual std::size_t free_bytes() const = 0;
};
using DeviceRunnerPtr = std::shared_ptr<const DeviceRunner>;

// The kernels on a CUDA device, on LibTorch's current stream there. Null for other devices and
// where this build has no kernels or a LibTorch without CUDA.
DeviceRunnerPtr cuda_runner(at::Device device);

}  // namespace pushdown
