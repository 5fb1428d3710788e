// The CUDA devices of this machine and their memory, without LibTorch. Twin files: device.cu with a
// CUDA toolkit, nocuda.cpp without.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pushdown {

struct CudaDevice {
  std::string name;
  std::int64_t memory_bytes = 0;
  int compute_major = 0, compute_minor = 0;
};

// Whether the CUDA kernels were compiled into this build.
bool built_with_cuda();
// The devices; when there are none, `reason` says why.
std::vector<CudaDevice> cuda_devices(std::string& reason);

// Memory of the current device, for as long as it lives. Errors: std::runtime_error, with what was
// asked for and what is free where there is too little.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  // All of it, to and from the processor's memory; waits for what the device has to do before.
  void upload(const void* from);
  void download(void* to) const;

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

}  // namespace pushdown
