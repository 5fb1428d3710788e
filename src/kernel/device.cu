// The CUDA devices of this machine (see device.h).
#include <cuda_runtime.h>

#include <stdexcept>

#include "kernel/device.h"

namespace pushdown {
namespace {

void check_cuda(cudaError_t error, const std::string& what) {
  if (error != cudaSuccess)
    throw std::runtime_error("[device] cannot " + what + ": " + cudaGetErrorString(error));
}

}  // namespace

bool built_with_cuda() { return true; }

std::vector<CudaDevice> cuda_devices(std::string& reason) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) {
    reason = cudaGetErrorString(error);
    return {};
  }
  if (count == 0) reason = "the CUDA driver reports no device";
  std::vector<CudaDevice> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    devices.push_back({properties.name, static_cast<std::int64_t>(properties.totalGlobalMem),
                       properties.major, properties.minor});
  }
  return devices;
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) {
  const cudaError_t error = cudaMalloc(&data_, bytes);
  if (error == cudaSuccess) return;
  std::string what = "reserve " + std::to_string(bytes) + " bytes";
  std::size_t free = 0, total = 0;
  if (error == cudaErrorMemoryAllocation && cudaMemGetInfo(&free, &total) == cudaSuccess)
    what += " (" + std::to_string(free) + " of " + std::to_string(total) + " are free)";
  cudaGetLastError();  // the next call is not to find this error
  check_cuda(error, what);
}
DeviceMemory::~DeviceMemory() { cudaFree(data_); }

void DeviceMemory::upload(const void* from) {
  check_cuda(cudaMemcpy(data_, from, bytes_, cudaMemcpyHostToDevice), "copy to the device");
}
void DeviceMemory::download(void* to) const {
  check_cuda(cudaMemcpy(to, data_, bytes_, cudaMemcpyDeviceToHost), "copy from the device");
}

}  // namespace pushdown
