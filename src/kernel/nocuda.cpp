// What stands for the CUDA kernels in a build without a CUDA toolkit.
#include "kernel/device.h"

namespace pushdown {

bool built_with_cuda() { return false; }

std::vector<CudaDevice> cuda_devices(std::string& reason) {
  reason = "this build has no CUDA kernels (no nvcc was found when it was configured)";
  return {};
}

}  // namespace pushdown
