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
  int multiprocessors = 0;
  double clock_hz = 0, memory_clock_hz = 0;  // greatest
  int memory_bus_bits = 0;

  // By these attributes: two transfers a memory clock; one multiply-add, counted as two, a clock
  // of each lane for float32.
  double peak_bytes_per_second() const;
  double peak_flops() const;
};

// Whether the CUDA kernels were compiled into this build, by which toolkit ("13.0") and for which
// architectures ("75-virtual 90-real"); empty without.
bool built_with_cuda();
std::string cuda_toolkit();
std::string cuda_architectures();
// The devices; when there are none, `reason` says why.
std::vector<CudaDevice> cuda_devices(std::string& reason);

// Makes a device the one that this thread's launches and DeviceMemory go to; std::runtime_error
// where there is none of this number.
void use_cuda_device(int index);
struct CudaMemory {
  std::size_t free_bytes = 0, total_bytes = 0;
};
CudaMemory cuda_memory(int index);
// Waits for what the current device has to do, and reports what went wrong there.
void wait_for_cuda_device();

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
