// The CUDA devices of this machine, asked without LibTorch. Twin files: device.cu with a CUDA
// toolkit, nocuda.cpp without.
#pragma once
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

}  // namespace pushdown
