// What stands for the CUDA kernels in a build without a CUDA toolkit.
#include "base/check.h"
#include "kernel/device.h"
#include "kernel/device_scan.h"

namespace pushdown {
namespace {

constexpr auto kReason =
    "this build has no CUDA kernels (no nvcc was found when it was configured)";

[[noreturn]] void fail_without_cuda() { fail_environment("device", "{}", kReason); }

}  // namespace

bool built_with_cuda() { return false; }

std::vector<CudaDevice> cuda_devices(std::string& reason) {
  reason = kReason;
  return {};
}

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) { fail_without_cuda(); }
DeviceMemory::~DeviceMemory() = default;
void DeviceMemory::upload(const void*) { fail_without_cuda(); }
void DeviceMemory::download(void*) const { fail_without_cuda(); }

template <class F>
void device_scan_forward(const DeviceScan<F>&, void*) {
  fail_without_cuda();
}
template <class F>
void device_scan_backward(const DeviceScan<F>&, void*) {
  fail_without_cuda();
}

template void device_scan_forward(const DeviceScan<float>&, void*);
template void device_scan_forward(const DeviceScan<double>&, void*);
template void device_scan_backward(const DeviceScan<float>&, void*);
template void device_scan_backward(const DeviceScan<double>&, void*);

}  // namespace pushdown
