// The only file that uses the CUDA side of LibTorch: its streams and its caching allocator.
// PUSHDOWN_CUDA_MODELS: there are kernels, and LibTorch has CUDA.
#include "model/device_runner.h"

#ifdef PUSHDOWN_CUDA_MODELS
#include <c10/core/DeviceGuard.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include "kernel/device.h"
#include "kernel/step/device_step_code.h"
#endif

namespace pushdown {

#ifdef PUSHDOWN_CUDA_MODELS
namespace {

class CudaRunner final : public TypedDeviceRunner<CudaRunner> {
 public:
  explicit CudaRunner(at::Device device) : device_(device) {}

  template <class F>
  void steps(const DeviceStepProgram<F>& program, bool backward) const {
    on_stream([&](void* stream) {
      if (auto* modules = device_step_modules(device_.index()); modules && program.code)
        modules->prepare(*program.code);
      if (backward)
        device_step_backward(program, stream);
      else
        device_step_forward(program, stream);
    });
  }
  template <class F>
  void update(const DeviceUpdate<F>& update, DeviceUpdatePart part) const {
    on_stream([&](void* stream) { device_update(update, part, stream); });
  }
  template <class F>
  void optimizers(const DeviceOptimizerStep<F>& step) const {
    on_stream([&](void* stream) { device_optimizer_step(step, stream); });
  }

  bool runs_own(const std::string& text) const override {
    const auto* modules = device_step_modules(device_.index());
    return modules != nullptr && modules->runs(text);
  }
  std::size_t free_bytes() const override {
    const c10::DeviceGuard guard(device_);
    // Memory that LibTorch has reserved but not allocated counts as free.
    const auto kept = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    const auto idle = kept.reserved_bytes[0].current - kept.allocated_bytes[0].current;
    return cuda_memory(device_.index()).free_bytes + idle;
  }

 private:
  template <class Launch>
  void on_stream(const Launch& launch) const {
    const c10::DeviceGuard guard(device_);
    use_cuda_device(device_.index());
    launch(c10::cuda::getCurrentCUDAStream(device_.index()).stream());
  }

  at::Device device_;
};

}  // namespace

DeviceRunnerPtr cuda_runner(at::Device device) {
  return device.is_cuda() ? std::make_shared<CudaRunner>(device) : nullptr;
}
#else
DeviceRunnerPtr cuda_runner(at::Device) { return nullptr; }
#endif

}  // namespace pushdown
