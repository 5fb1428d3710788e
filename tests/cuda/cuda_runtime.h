// A replacement for the CUDA runtime, with which the .cu files, launches included, compile as C++
// and run on the processor. Device memory is plain memory. A launch returns when all blocks have
// run, one after the other. The threads of a block are fibers that take turns at barriers and
// shuffles, so that a result does not depend on the machine. Behaviour that is undefined on a
// device is an error here: a barrier that not all threads of a block reach, a shuffle that not all
// lanes of a warp reach, a write outside of an allocation or of shared memory, more threads, blocks
// or shared memory than a device has. New memory, including shared memory, is full of NaN.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)
#define CUDART_VERSION 13000

struct dim3 {
  unsigned x, y, z;
  explicit dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
using cudaStream_t = struct CudaStandInStream*;
using cudaLibrary_t = struct CudaStandInLibrary*;
using cudaKernel_t = struct CudaStandInKernel*;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidKernelImage = 200,
  cudaErrorSymbolNotFound = 500,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchFailure = 719,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };
enum cudaDeviceAttr {
  cudaDevAttrClockRate,
  cudaDevAttrMemoryClockRate,
  cudaDevAttrGlobalMemoryBusWidth,
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  int major, minor, multiProcessorCount;
};

namespace cuda_stand_in {

inline constexpr unsigned kWarp = 32;

// The position of the running thread.
struct Place {
  dim3 thread, block, threads;
};
Place& place();

// Wait for all threads of the block; give this thread's value to its warp and return the value of a
// lane, waiting for all lanes before and after.
void wait_for_block();
std::uint64_t exchange(std::uint64_t value, unsigned lane);

void* shared_memory();
// The order in which the threads of a block take turns. It changes results if a barrier is missing.
void set_descending(bool descending);
// The number of launches so far, and of those of code that was compiled at run time.
std::int64_t launches();
std::int64_t loaded_launches();
// The message of the last error, or "".
const std::string& complaint();

cudaError_t run(const std::function<void()>& thread, dim3 grid, dim3 block,
                std::size_t shared_bytes, std::size_t most_shared_bytes = 48 * 1024);

// A barrier of printed code, unless it is the one to leave out. Those between the parts of a step
// have numbers from 0; -n is the one of line n of the headers.
inline constexpr int kNoBarrier = std::numeric_limits<int>::min();
void wait_at(int barrier);
void leave_out_barrier(int barrier);
// The barriers that are reached from now on are added to this set, unless it is null.
void note_barriers(std::set<int>* reached);

// A launch for another replacement of a device, such as the simulator of tests/gpu.
struct KernelLaunch {
  const void* kernel;  // null: of compiled code
  dim3 grid, block;
  std::size_t shared_bytes;
  std::vector<unsigned char> parameters;  // each at its alignment
  std::string name = {};                  // of a kernel of compiled code
  const void* argument = nullptr;         // its only one
};
// From now on launches are passed to this function, which returns whether it ran them; those it did
// not run are run as described above. Empty: none are passed. Meanwhile any text can be loaded as
// compiled code, which this function must run.
void set_launcher(std::function<bool(const KernelLaunch&)> launcher);
bool passed_on(const KernelLaunch& launch);

template <class T>
void add_parameter(std::vector<unsigned char>& parameters, const void* value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = (parameters.size() + alignof(T) - 1) / alignof(T) * alignof(T);
  parameters.resize(at + sizeof(T));
  std::memcpy(parameters.data() + at, value, sizeof(T));
}

template <class F>
F shuffled(F value, unsigned step) {
  static_assert(sizeof(F) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(F));
  bits = exchange(bits, (place().thread.x % kWarp) ^ step);
  std::memcpy(&value, &bits, sizeof(F));
  return value;
}

}  // namespace cuda_stand_in

#define threadIdx (::cuda_stand_in::place().thread)
#define blockIdx (::cuda_stand_in::place().block)
#define blockDim (::cuda_stand_in::place().threads)

inline void __syncthreads() { cuda_stand_in::wait_for_block(); }
template <class F>
F __shfl_xor_sync(unsigned, F value, int step) {
  return cuda_stand_in::shuffled(value, static_cast<unsigned>(step));
}

template <class... Parameters>
cudaError_t cudaLaunchKernel(void (*kernel)(Parameters...), dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t) {
  const auto call = [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
    cuda_stand_in::KernelLaunch launch{
        reinterpret_cast<const void*>(kernel), grid, block, shared_bytes, {}};
    (cuda_stand_in::add_parameter<Parameters>(launch.parameters, arguments[kIndex]), ...);
    if (cuda_stand_in::passed_on(launch)) return cudaSuccess;
    return cuda_stand_in::run([&] { kernel(*static_cast<Parameters*>(arguments[kIndex])...); },
                              grid, block, shared_bytes);
  };
  return call(std::index_sequence_for<Parameters...>());
}

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t);

// Compiled code is the name of a shared library, with functions run_NAME(argument) and
// begin_NAME(argument) for each kernel NAME (tests/cuda/printed.h).
cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, const void*, const void*,
                                unsigned, const void*, const void*, unsigned);
cudaError_t cudaLibraryUnload(cudaLibrary_t library);
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name);

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute which, int value);

cudaError_t cudaGetLastError();
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int index);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int index);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int index);
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** place, std::size_t bytes);
cudaError_t cudaFree(void* place);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
