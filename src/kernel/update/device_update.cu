// The launches of device_update.h.
#include "kernel/update/device_update.h"

#include "kernel/device_block.h"
#include "kernel/update/device_update_loop.h"

namespace pushdown {
namespace {

using device::BlockTeam;
using device::Index;
using device::kThreads;
static_assert(kThreads / BlockTeam::kWarp <= device::kMostUpdateGroups);

template <class F>
__global__ void __launch_bounds__(kThreads)
    update_begin_kernel(const __grid_constant__ DeviceUpdate<F> update) {
  device::begin_update(BlockTeam(), update, static_cast<Index>(blockIdx.y),
                       static_cast<Index>(blockIdx.x));
}

// Block x: a part of a sequence.
template <class F>
__global__ void __launch_bounds__(kThreads)
    update_outputs_kernel(const __grid_constant__ DeviceUpdate<F> update, Index parts) {
  const Index x = static_cast<Index>(blockIdx.x), sequence = x / parts;
  device::update_outputs(BlockTeam(), update, static_cast<Index>(blockIdx.y), sequence,
                         x - sequence * parts);
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    update_gradients_kernel(const __grid_constant__ DeviceUpdate<F> update, Index blocks) {
  device::collect_gradients(BlockTeam(), update, static_cast<Index>(blockIdx.y),
                            static_cast<Index>(blockIdx.x), blocks,
                            device::shared_memory<double>());
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    update_sums_kernel(const __grid_constant__ DeviceUpdate<F> update, Index blocks) {
  device::sum_update(BlockTeam(), update, static_cast<Index>(blockIdx.y), blocks,
                     device::shared_memory<double>());
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    optimizer_step_kernel(const __grid_constant__ DeviceOptimizerStep<F> step) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < step.count) device::optimizer_step(step, static_cast<Index>(blockIdx.y), i);
}

}  // namespace

template <class F>
void device_update(const DeviceUpdate<F>& update, DeviceUpdatePart part, void* stream) {
  constexpr auto kWhere = "device_update";
  constexpr std::size_t kSums = device::kMostUpdateGroups * sizeof(double);
  check_device_update(update);
  const auto grid = [&](std::int64_t blocks) {
    return dim3(static_cast<unsigned>(blocks), static_cast<unsigned>(update.models));
  };
  const auto blocks = device_update_blocks(update.count);
  if (part == DeviceUpdatePart::begin) {
    if (update.copy_count == 0) return;
    device::launch(kWhere, "beginning", update_begin_kernel<F>, grid(update.batch), 0, stream,
                   update);
  } else if (part == DeviceUpdatePart::outputs) {
    const auto parts = update.steps / device::kPositionsOfBlock + 1;  // of T + 1 positions
    device::launch(kWhere, "output layer", update_outputs_kernel<F>, grid(update.batch * parts), 0,
                   stream, update, static_cast<Index>(parts));
  } else {
    device::launch(kWhere, "gradients", update_gradients_kernel<F>, grid(blocks), kSums, stream,
                   update, static_cast<Index>(blocks));
    device::launch(kWhere, "sums", update_sums_kernel<F>, grid(1), kSums, stream, update,
                   static_cast<Index>(blocks));
  }
}

template <class F>
void device_optimizer_step(const DeviceOptimizerStep<F>& step, void* stream) {
  if (step.member_count == 0) return;
  device::launch("device_update", "step of the optimizers", optimizer_step_kernel<F>,
                 dim3(device::blocks_of(step.count), static_cast<unsigned>(step.member_count)), 0,
                 stream, step);
}

template void device_update(const DeviceUpdate<float>&, DeviceUpdatePart, void*);
template void device_update(const DeviceUpdate<double>&, DeviceUpdatePart, void*);
template void device_optimizer_step(const DeviceOptimizerStep<float>&, void*);
template void device_optimizer_step(const DeviceOptimizerStep<double>&, void*);

}  // namespace pushdown
