// The only file that uses the CUDA side of LibTorch: its streams and its caching allocator.
// PUSHDOWN_CUDA_MODELS: there are kernels, and LibTorch has CUDA.
#include "recurrence/device/device.h"

#ifdef PUSHDOWN_CUDA_MODELS
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <map>
#include <mutex>

#include "base/check.h"
#include "base/notices.h"
#include "kernel/compile/device_code.h"
#endif

namespace pushdown {

#ifdef PUSHDOWN_CUDA_MODELS
namespace {

class TorchDevice final : public Device {
 public:
  explicit TorchDevice(at::Device device)
      : device_(device), about_(found(device)), code_(compiler(about_), cache()) {}

  std::shared_ptr<const DeviceModule> module(const std::string& source) const override {
    use_cuda_device(device_.index());
    return code_.module(source);
  }
  void* stream() const override {
    use_cuda_device(device_.index());
    return c10::cuda::getCurrentCUDAStream(device_.index()).stream();
  }
  std::size_t free_bytes() const override {
    const c10::DeviceGuard guard(device_);
    // Memory that LibTorch has reserved but not allocated counts as free.
    const auto kept = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    const auto idle = kept.reserved_bytes[0].current - kept.allocated_bytes[0].current;
    return cuda_memory(device_.index()).free_bytes + idle;
  }
  std::size_t shared_bytes() const override {
    return std::max(about_.shared_bytes, kDeviceSharedBytes);
  }

 private:
  static CudaDevice found(at::Device device) {
    std::string reason;
    const auto all = cuda_devices(reason);
    check(device.index() < std::ssize(all), "device", "there is no device {}", device.index());
    return all[static_cast<std::size_t>(device.index())];
  }
  static CodeCompiler compiler(const CudaDevice& of) {
    return nvrtc_compiler(fmt::format("sm_{}{}", of.compute_major, of.compute_minor));
  }
  static std::optional<CodeCache> cache() {
    const Path folder = device_cache_folder();
    return folder.empty() ? std::nullopt : std::optional(CodeCache(folder));
  }

  at::Device device_;
  CudaDevice about_;
  mutable DeviceCode code_;
};

}  // namespace

DevicePtr cuda_device(at::Device device) {
  if (!device.is_cuda()) return nullptr;
  static std::mutex mutex;
  static std::map<int, DevicePtr> all;
  const std::lock_guard lock(mutex);
  const auto [place, is_new] = all.try_emplace(device.index());
  if (!is_new) return place->second;
  try {
    place->second = std::make_shared<TorchDevice>(device);
  } catch (const std::runtime_error& error) {
    notice(NoticeLevel::warning,
           fmt::format("networks on the device run by LibTorch's operations, which takes longer: "
                       "{}",
                       error.what()));
  }
  return place->second;
}
#else
DevicePtr cuda_device(at::Device) { return nullptr; }
#endif

}  // namespace pushdown
