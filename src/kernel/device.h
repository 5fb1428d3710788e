// The CUDA devices of this machine and their memory, without LibTorch. There are two
// implementations: device.cu with a CUDA toolkit, nocuda.cpp without.
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
  double clock_hz = 0, memory_clock_hz = 0;  // maximum
  int memory_bus_bits = 0;
  std::size_t shared_bytes = 0;  // that a block may request

  // Computed from these attributes: two transfers per memory clock; one multiply-add, counted as
  // two operations, per clock of each float32 lane.
  double peak_bytes_per_second() const;
  double peak_flops() const;
};

// Return whether the CUDA kernels were compiled into this build, by which toolkit ("13.0") and for
// which architectures ("75-virtual 90-real"); empty without.
bool built_with_cuda();
std::string cuda_toolkit();
std::string cuda_architectures();
// Returns the devices; if there are none, `reason` says why.
std::vector<CudaDevice> cuda_devices(std::string& reason);

// Makes a device the current one for this thread's launches and DeviceMemory. Throws
// std::runtime_error if there is no device of this number.
void use_cuda_device(int index);
struct CudaMemory {
  std::size_t free_bytes = 0, total_bytes = 0;
};
CudaMemory cuda_memory(int index);
// Waits for the current device and reports its errors.
void wait_for_cuda_device();

// The shared memory that every device gives a block by default. A launch with more asks for it.
inline constexpr std::size_t kDeviceSharedBytes = 48 * 1024;

// Memory of the current device, freed on destruction. Throws std::runtime_error, with the requested
// and the free amount if there is too little.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  void* data() const { return data_; }
  // Copy all of it to or from the CPU's memory, after waiting for earlier work of the device.
  void upload(const void* from);
  void download(void* to) const;

 private:
  std::size_t bytes_;
  void* data_ = nullptr;
};

// Machine code that was compiled at run time (kernel/compile/device_code.h), for all devices of its
// architecture. Throws std::runtime_error if the devices cannot load or launch it.
class DeviceModule {
 public:
  explicit DeviceModule(const std::string& code);
  ~DeviceModule();
  DeviceModule(const DeviceModule&) = delete;
  DeviceModule& operator=(const DeviceModule&) = delete;

  // Launches a kernel of one argument with columns x rows blocks on a stream (a cudaStream_t), and
  // does not wait for it.
  void launch(const char* kernel, std::int64_t columns, std::int64_t rows, int threads,
              std::size_t shared_bytes, void* stream, const void* argument) const;

 private:
  void* library_ = nullptr;
};

}  // namespace pushdown
