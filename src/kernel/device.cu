// The CUDA devices of this machine (see device.h).
#include <cuda_runtime.h>

#include "kernel/device.h"

namespace pushdown {

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

}  // namespace pushdown
