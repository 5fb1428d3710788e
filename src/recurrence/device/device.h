// A CUDA device that runs the programs of recorded steps, or what a test puts in its place.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

#include "kernel/device.h"
#include "tensor/torch.h"

namespace pushdown {

class Device {
 public:
  virtual ~Device() = default;
  // Returns the loaded code of a printed text, for which the caller waits if it must be compiled
  // (kernel/compile/device_code.h). Throws std::runtime_error if that fails.
  virtual std::shared_ptr<const DeviceModule> module(const std::string& source) const = 0;
  // Returns the stream of launches (a cudaStream_t): LibTorch's current one.
  virtual void* stream() const = 0;
  // Returns the number of bytes available for further tensors.
  virtual std::size_t free_bytes() const = 0;
  // Returns the bytes of shared memory that a block may request.
  virtual std::size_t shared_bytes() const { return kDeviceSharedBytes; }
  // Returns the usual number of threads of a block.
  virtual int threads() const { return 256; }
};
using DevicePtr = std::shared_ptr<const Device>;

// Returns a CUDA device. Null for other devices, if this build has no kernels or its LibTorch no
// CUDA, and if there is no compiler (NVRTC), which a warning says once.
DevicePtr cuda_device(at::Device device);

}  // namespace pushdown
