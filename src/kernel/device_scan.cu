// The launches of device_scan.h.
#include "kernel/device_scan.h"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "kernel/device_scan_loop.h"

namespace pushdown {
namespace {

using device::Index;

// A block; its groups are warps, all of them full.
class BlockTeam {
 public:
  __device__ Index id() const { return threadIdx.x; }
  __device__ Index size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
  __device__ Index lane() const { return threadIdx.x % kWarp; }
  __device__ Index lanes() const { return kWarp; }
  __device__ Index group() const { return threadIdx.x / kWarp; }
  __device__ Index groups() const { return blockDim.x / kWarp; }
  template <class F>
  __device__ F group_sum(F value) const {
    for (int step = kWarp / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
  }

  static constexpr int kWarp = 32;
};

constexpr int kThreads = 128;
// What every device gives a block without being asked for more.
constexpr std::size_t kSharedBytes = 48 * 1024;

extern __shared__ double shared_memory[];

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(const __grid_constant__ DeviceScan<F> scan, bool in_shared) {
  Loop loop(scan, blockIdx.y, blockIdx.x,
            in_shared ? reinterpret_cast<F*>(shared_memory) : nullptr);
  loop.forward(BlockTeam());
}

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads)
    backward_kernel(const __grid_constant__ DeviceScan<F> scan, bool in_shared) {
  Loop loop(scan, blockIdx.y, blockIdx.x,
            in_shared ? reinterpret_cast<F*>(shared_memory) : nullptr);
  loop.backward(BlockTeam());
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    sum_kernel(const __grid_constant__ DeviceScan<F> scan, Index count) {
  const Index i = Index{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < count) device::sum_over_sequences(scan, count, blockIdx.y, i);
}

void check_launch(const char* what) {
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("[device_scan] cannot launch the ") + what + ": " +
                             cudaGetErrorString(error));
}

template <class F>
void launch(const DeviceScan<F>& scan, bool backward, cudaStream_t stream) {
  check_device_scan(scan, backward);
  const dim3 grid(static_cast<unsigned>(scan.batch), static_cast<unsigned>(scan.models));
  const std::size_t wanted =
      static_cast<std::size_t>(device_scan_sizes(scan.shape).fast) * sizeof(F);
  const bool in_shared = wanted <= kSharedBytes;
  const std::size_t bytes = in_shared ? wanted : 0;
  device::with_scan_loop<F>(scan.shape, [&]<class Loop>() {
    if (backward)
      backward_kernel<F, Loop><<<grid, kThreads, bytes, stream>>>(scan, in_shared);
    else
      forward_kernel<F, Loop><<<grid, kThreads, bytes, stream>>>(scan, in_shared);
  });
  check_launch(backward ? "backward pass" : "forward pass");
  if (!backward) return;
  const Index count = device_gradients(scan.shape, scan.symbols).count;
  const dim3 sums(static_cast<unsigned>((count + kThreads - 1) / kThreads), grid.y);
  sum_kernel<F><<<sums, kThreads, 0, stream>>>(scan, count);
  check_launch("sum over sequences");
}

}  // namespace

template <class F>
void device_scan_forward(const DeviceScan<F>& scan, void* stream) {
  launch(scan, false, static_cast<cudaStream_t>(stream));
}
template <class F>
void device_scan_backward(const DeviceScan<F>& scan, void* stream) {
  launch(scan, true, static_cast<cudaStream_t>(stream));
}

template void device_scan_forward(const DeviceScan<float>&, void*);
template void device_scan_forward(const DeviceScan<double>&, void*);
template void device_scan_backward(const DeviceScan<float>&, void*);
template void device_scan_backward(const DeviceScan<double>&, void*);

}  // namespace pushdown
