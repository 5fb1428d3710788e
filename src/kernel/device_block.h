// A block of threads as a team (device_team.h), and code common to all launches. For .cu files
// only.
#pragma once
#include <cuda_runtime.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "kernel/device_team.h"

namespace pushdown::device {

// A block; its groups are full warps.
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
  template <class F>
  __device__ F group_greatest(F value) const {
    for (int step = kWarp / 2; step > 0; step /= 2) {
      const F other = __shfl_xor_sync(0xffffffffu, value, step);
      value = other > value ? other : value;
    }
    return value;
  }

  static constexpr int kWarp = 32;
};

inline constexpr int kThreads = 256;

// A block's shared memory, as much as its launch requests.
template <class F>
__device__ F* shared_memory() {
#ifdef __CUDACC__
  extern __shared__ double numbers[];
  return reinterpret_cast<F*>(numbers);
#else  // tests/cuda/cuda_runtime.h
  return static_cast<F*>(cuda_stand_in::shared_memory());
#endif
}

// A grid of blocks; threads is a multiple of a warp, at most kThreads.
struct Blocks {
  Blocks(dim3 grid, int threads = kThreads) : grid(grid), threads(threads) {}
  dim3 grid;
  int threads;
};

// Launches blocks on a stream and does not wait for them.
template <class... Parameters>
void launch(const char* where, const char* what, void (*kernel)(Parameters...), Blocks blocks,
            std::size_t shared_bytes, void* stream, std::type_identity_t<Parameters>... arguments) {
  void* places[] = {&arguments...};
  cudaLaunchKernel(kernel, blocks.grid, dim3(static_cast<unsigned>(blocks.threads)), places,
                   shared_bytes, static_cast<cudaStream_t>(stream));
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess)
    throw std::runtime_error(std::string("[") + where + "] cannot launch the " + what + ": " +
                             cudaGetErrorString(error));
}
// Returns the number of blocks that together have at least this many threads.
inline unsigned blocks_of(std::int64_t threads) {
  return static_cast<unsigned>((threads + kThreads - 1) / kThreads);
}

}  // namespace pushdown::device
