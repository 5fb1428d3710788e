// The launches of device_scan.h.
#include "kernel/device_scan.h"

#include "kernel/device_block.h"
#include "kernel/device_scan_loop.h"

namespace pushdown {
namespace {

using device::BlockTeam;
using device::Index;
using device::kBlocks;
using device::kSharedBytes;
using device::kThreads;

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads, kBlocks<F>)
    scan_forward_kernel(const __grid_constant__ DeviceScan<F> scan, bool in_shared) {
  Loop loop(scan, blockIdx.y, blockIdx.x, in_shared ? device::shared_memory<F>() : nullptr);
  loop.forward(BlockTeam());
}

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads, kBlocks<F>)
    scan_backward_kernel(const __grid_constant__ DeviceScan<F> scan, bool in_shared) {
  Loop loop(scan, blockIdx.y, blockIdx.x, in_shared ? device::shared_memory<F>() : nullptr);
  loop.backward(BlockTeam());
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    scan_sum_kernel(const __grid_constant__ DeviceScan<F> scan, Index count) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) device::sum_over_sequences(scan, count, blockIdx.y, i);
}

template <class F>
void launch(const DeviceScan<F>& scan, bool backward, void* stream) {
  check_device_scan(scan, backward);
  const dim3 grid(static_cast<unsigned>(scan.batch), static_cast<unsigned>(scan.models));
  const std::size_t wanted =
      static_cast<std::size_t>(device_scan_sizes(scan.shape).fast) * sizeof(F);
  const bool in_shared = wanted <= kSharedBytes;
  const std::size_t bytes = in_shared ? wanted : 0;
  device::with_scan_loop<F>(scan.shape, [&]<class Loop>() {
    if (backward)
      device::launch("device_scan", "backward pass", scan_backward_kernel<F, Loop>, grid, bytes,
                     stream, scan, in_shared);
    else
      device::launch("device_scan", "forward pass", scan_forward_kernel<F, Loop>, grid, bytes,
                     stream, scan, in_shared);
  });
  if (!backward) return;
  const Index count = device_gradients(scan.shape, scan.symbols).count;
  device::launch("device_scan", "sum over sequences", scan_sum_kernel<F>,
                 dim3(device::blocks_of(count), grid.y), 0, stream, scan, count);
}

}  // namespace

template <class F>
void device_scan_forward(const DeviceScan<F>& scan, void* stream) {
  launch(scan, false, stream);
}
template <class F>
void device_scan_backward(const DeviceScan<F>& scan, void* stream) {
  launch(scan, true, stream);
}

template void device_scan_forward(const DeviceScan<float>&, void*);
template void device_scan_forward(const DeviceScan<double>&, void*);
template void device_scan_backward(const DeviceScan<float>&, void*);
template void device_scan_backward(const DeviceScan<double>&, void*);

}  // namespace pushdown
