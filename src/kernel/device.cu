// The CUDA devices of this machine (see device.h).
#include <cuda_runtime.h>

#include <stdexcept>

#include "kernel/device.h"

namespace pushdown {
namespace {

void check_cuda(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  const std::string text = cudaGetErrorString(error);
  cudaGetLastError();  // clears the error for the next call
  throw std::runtime_error("[device] cannot " + what + ": " + text);
}

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, index) == cudaSuccess ? value : 0;
}

// Returns the float32 lanes of a multiprocessor.
int lanes_of(int major, int minor) { return major < 8 || (major == 8 && minor == 0) ? 64 : 128; }

}  // namespace

double CudaDevice::peak_bytes_per_second() const {
  return 2 * memory_clock_hz * memory_bus_bits / 8;
}
double CudaDevice::peak_flops() const {
  return 2 * clock_hz * multiprocessors * lanes_of(compute_major, compute_minor);
}

bool built_with_cuda() { return true; }
std::string cuda_toolkit() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}
std::string cuda_architectures() { return PUSHDOWN_CUDA_ARCHITECTURES; }

std::vector<CudaDevice> cuda_devices(std::string& reason) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    cudaGetLastError();  // clears the error for the next call
    reason = cudaGetErrorString(error);
    return {};
  }
  if (count == 0) reason = "the CUDA driver reports no device";
  std::vector<CudaDevice> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    CudaDevice device;
    device.name = properties.name;
    device.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    device.compute_major = properties.major;
    device.compute_minor = properties.minor;
    device.multiprocessors = properties.multiProcessorCount;
    device.clock_hz = 1e3 * attribute(cudaDevAttrClockRate, index);
    device.memory_clock_hz = 1e3 * attribute(cudaDevAttrMemoryClockRate, index);
    device.memory_bus_bits = attribute(cudaDevAttrGlobalMemoryBusWidth, index);
    device.shared_bytes =
        static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, index));
    devices.push_back(device);
  }
  return devices;
}

void use_cuda_device(int index) {
  check_cuda(cudaSetDevice(index), "use device " + std::to_string(index));
}

CudaMemory cuda_memory(int index) {
  use_cuda_device(index);
  CudaMemory memory;
  check_cuda(cudaMemGetInfo(&memory.free_bytes, &memory.total_bytes), "ask for its free memory");
  return memory;
}

void wait_for_cuda_device() {
  check_cuda(cudaDeviceSynchronize(), "finish the work of the device");
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaSuccess) return;
  std::string what = "reserve " + std::to_string(bytes) + " bytes";
  std::size_t free = 0, total = 0;
  if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess)
    what += " (" + std::to_string(free) + " of " + std::to_string(total) + " are free)";
  check_cuda(error, what);
}
DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void DeviceMemory::upload(const void* from) {
  check_cuda(cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice), "copy to the device");
}
void DeviceMemory::download(void* to) const {
  check_cuda(cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost), "copy from the device");
}

DeviceModule::DeviceModule(const std::string& code) {
  cudaLibrary_t library = nullptr;
  check_cuda(cudaLibraryLoadData(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
             "load compiled code");
  library_ = library;
}
DeviceModule::~DeviceModule() { cudaLibraryUnload(static_cast<cudaLibrary_t>(library_)); }

void DeviceModule::launch(const char* name, std::int64_t columns, std::int64_t rows, int threads,
                          std::size_t shared_bytes, void* stream, const void* argument) const {
  cudaKernel_t kernel = nullptr;
  check_cuda(cudaLibraryGetKernel(&kernel, static_cast<cudaLibrary_t>(library_), name),
             std::string("find the kernel ") + name);
  const void* function = reinterpret_cast<const void*>(kernel);
  if (shared_bytes > kDeviceSharedBytes)
    check_cuda(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes)),
               std::string("give the kernel ") + name + " its shared memory");
  void* places[] = {const_cast<void*>(argument)};
  check_cuda(
      cudaLaunchKernel(function, dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows)),
                       dim3(static_cast<unsigned>(threads)), places, shared_bytes,
                       static_cast<cudaStream_t>(stream)),
      std::string("launch the kernel ") + name);
}

}  // namespace pushdown
