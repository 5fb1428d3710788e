// Replaces the CUDA kernels in a build without them.
#include "base/check.h"
#include "kernel/device.h"
#include "kernel/grammar/device_grammar.h"
#include "kernel/update/device_update.h"

namespace pushdown {
namespace {

constexpr auto kReason =
    "this build has no CUDA kernels (the build compiles them if LibTorch has CUDA and it finds "
    "nvcc)";

[[noreturn]] void fail_without_cuda() { fail_environment("device", "{}", kReason); }

}  // namespace

double CudaDevice::peak_bytes_per_second() const { return 0; }
double CudaDevice::peak_flops() const { return 0; }

bool built_with_cuda() { return false; }
std::string cuda_toolkit() { return ""; }
std::string cuda_architectures() { return ""; }

std::vector<CudaDevice> cuda_devices(std::string& reason) {
  reason = kReason;
  return {};
}

void use_cuda_device(int) { fail_without_cuda(); }
CudaMemory cuda_memory(int) { fail_without_cuda(); }
void wait_for_cuda_device() { fail_without_cuda(); }

DeviceMemory::DeviceMemory(std::size_t bytes) : bytes_(bytes) { fail_without_cuda(); }
DeviceMemory::~DeviceMemory() = default;
void DeviceMemory::upload(const void*) { fail_without_cuda(); }
void DeviceMemory::download(void*) const { fail_without_cuda(); }

DeviceModule::DeviceModule(const std::string&) { fail_without_cuda(); }
DeviceModule::~DeviceModule() = default;
void DeviceModule::launch(const char*, std::int64_t, std::int64_t, int, std::size_t, void*,
                          const void*) const {
  fail_without_cuda();
}

template <class F>
void device_update(const DeviceUpdate<F>&, DeviceUpdatePart, void*) {
  fail_without_cuda();
}
template <class F>
void device_optimizer_step(const DeviceOptimizerStep<F>&, void*) {
  fail_without_cuda();
}

template void device_update(const DeviceUpdate<float>&, DeviceUpdatePart, void*);
template void device_update(const DeviceUpdate<double>&, DeviceUpdatePart, void*);
template void device_optimizer_step(const DeviceOptimizerStep<float>&, void*);
template void device_optimizer_step(const DeviceOptimizerStep<double>&, void*);

void device_inside(const DeviceInside&, void*) { fail_without_cuda(); }

}  // namespace pushdown
