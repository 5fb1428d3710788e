// The replacement for the CUDA runtime finds behaviour that is undefined on a device.
#include "cuda/cuda_runtime.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernel/device.h"

namespace pushdown::cuda_runtime_test {
namespace {

template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, unsigned threads, std::size_t shared,
                   std::type_identity_t<Parameters>... arguments) {
  void* places[] = {&arguments...};
  cudaLaunchKernel(kernel, grid, dim3(threads), places, shared, nullptr);
  return cudaGetLastError();
}

struct Memory {
  explicit Memory(int count) {
    void* place = nullptr;
    EXPECT_EQ(cudaMalloc(&place, count * sizeof(double)), cudaSuccess);
    numbers = static_cast<double*>(place);
  }
  ~Memory() { cudaFree(numbers); }
  double* numbers = nullptr;
};

// Sums thread + 1 over the block, by shuffles and then through shared memory.
__global__ void sum_kernel(double* sums) {
  double sum = threadIdx.x + 1;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  auto* parts = static_cast<double*>(cuda_stand_in::shared_memory());
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  sums[blockIdx.y * 2 + blockIdx.x] = 0;
  for (unsigned warp = 0; warp < blockDim.x / 32; ++warp)
    sums[blockIdx.y * 2 + blockIdx.x] += parts[warp];
}

TEST(CudaStandIn, SumsByShufflesAndBarriers) {
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    const Memory memory(6);
    ASSERT_EQ(launch(sum_kernel, dim3(2, 3), 96, 3 * sizeof(double), memory.numbers), cudaSuccess);
    std::vector<double> sums(6);
    cudaMemcpy(sums.data(), memory.numbers, 6 * sizeof(double), cudaMemcpyDeviceToHost);
    EXPECT_EQ(sums, std::vector<double>(6, 96 * 97 / 2));
  }
}

__global__ void neighbour_kernel(double* numbers, bool waits) {
  numbers[threadIdx.x] = threadIdx.x;
  if (waits) __syncthreads();
  const double next = numbers[(threadIdx.x + 1) % blockDim.x];
  if (waits) __syncthreads();
  numbers[threadIdx.x] = next;
}

// If a barrier is missing, the result depends on the order of the threads here.
TEST(CudaStandIn, OrderShowsAMissingBarrier) {
  for (const bool waits : {true, false}) {
    std::vector<std::vector<double>> found;
    for (const bool descending : {false, true}) {
      cuda_stand_in::set_descending(descending);
      const Memory memory(32);
      ASSERT_EQ(launch(neighbour_kernel, dim3(), 32, 0, memory.numbers, waits), cudaSuccess);
      found.emplace_back(memory.numbers, memory.numbers + 32);
    }
    EXPECT_EQ(found[0] == found[1] && !std::isnan(found[0][0]), waits);
  }
}

__global__ void stray_kernel(double* numbers, int place) { numbers[place] = 1; }
__global__ void stray_shared_kernel(int place) {
  static_cast<double*>(cuda_stand_in::shared_memory())[place] = 1;
}
__global__ void parting_kernel() {
  if (threadIdx.x != 5) __syncthreads();
}
__global__ void parting_warp_kernel() {
  if (threadIdx.x != 5) __shfl_xor_sync(0xffffffffu, 1.0, 1);
}

TEST(CudaStandIn, FindsErrors) {
  const Memory memory(10);
  EXPECT_EQ(launch(stray_kernel, dim3(), 32, 0, memory.numbers, 9), cudaSuccess);
  for (const int place : {-1, 10}) {
    const Memory other(10);
    EXPECT_EQ(launch(stray_kernel, dim3(), 32, 0, other.numbers, place), cudaErrorIllegalAddress);
    EXPECT_EQ(cuda_stand_in::complaint(), "a write beside an allocation of 80 bytes");
  }
  EXPECT_EQ(launch(stray_shared_kernel, dim3(), 32, 8, 1), cudaErrorIllegalAddress);
  EXPECT_EQ(launch(parting_kernel, dim3(), 32, 0), cudaErrorLaunchFailure);
  EXPECT_EQ(cuda_stand_in::complaint(),
            "of the threads of a block 31 wait for all, 0 for their warp, and 1 have ended");
  EXPECT_EQ(launch(parting_warp_kernel, dim3(), 32, 0), cudaErrorLaunchFailure);
  EXPECT_EQ(launch(parting_kernel, dim3(), 2048, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(parting_kernel, dim3(1, 65536), 32, 0), cudaErrorInvalidConfiguration);
  EXPECT_EQ(launch(parting_kernel, dim3(), 32, 50000), cudaErrorInvalidValue);
  void* place = nullptr;
  EXPECT_EQ(cudaMalloc(&place, std::size_t{1} << 40), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_TRUE(std::isnan(memory.numbers[0]));
}

// Code that was compiled at run time: tests/cuda/printed_code_test.cpp loads it.
TEST(CudaStandIn, RefusesOtherCode) {
  EXPECT_THROW(DeviceModule("other"), std::runtime_error);
  wait_for_cuda_device();  // no error is left
}

}  // namespace
}  // namespace pushdown::cuda_runtime_test
