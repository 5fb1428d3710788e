#include "cuda_runtime.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

namespace cuda_stand_in {
namespace {

constexpr std::size_t kStack = 64 * 1024, kGuard = 256;
constexpr std::size_t kMemory = std::size_t{1} << 30;
constexpr unsigned kMostThreads = 1024, kMostRows = 65535;
constexpr std::size_t kMostShared = 96 * 1024;
constexpr int kGuardByte = 0xa5, kNewByte = 0xff;  // all bits set: a NaN in float32 and float64

// Memory between two guard zones.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes) : bytes_(bytes), all_(bytes + 2 * kGuard) {
    std::memset(all_.data(), kGuardByte, all_.size());
    renew();
  }
  void* data() { return all_.data() + kGuard; }
  std::size_t bytes() const { return bytes_; }
  void renew() { std::memset(data(), kNewByte, bytes_); }
  bool is_whole() const {
    const auto fine = [](unsigned char byte) { return byte == kGuardByte; };
    return std::all_of(all_.begin(), all_.begin() + kGuard, fine) &&
           std::all_of(all_.end() - kGuard, all_.end(), fine);
  }

 private:
  std::size_t bytes_;
  std::vector<unsigned char> all_;
};

enum class State { ready, at_block, at_warp, done };

// A context starts a fiber. Jumps, which need no system call, continue it.
struct Fiber {
  ucontext_t context;
  jmp_buf place;
  bool has_begun = false;
  std::unique_ptr<char[]> stack{new char[kStack]};
  State state = State::done;
  std::uint64_t value = 0;
};

struct Device {
  std::map<void*, std::unique_ptr<Guarded>> memory;
  std::size_t used = 0;
  std::unique_ptr<Guarded> shared;
  std::vector<Fiber> fibers{kMostThreads};
  jmp_buf scheduler;
  ucontext_t unused;
  const std::function<void()>* thread = nullptr;
  unsigned running = 0, threads = 0;
  bool descending = false;
  std::function<bool(const KernelLaunch&)> launcher;
  cudaError_t error = cudaSuccess;
  std::string complaint;
  std::int64_t launches = 0, loaded_launches = 0;
};
// A kernel of compiled code.
struct LoadedKernel {
  std::string name;
  void (*run)(const void*) = nullptr;
  void (*begin)(const void*) = nullptr;
  std::size_t most_shared = 48 * 1024;
};
struct Library {
  void* handle;
  std::map<std::string, LoadedKernel> kernels;
};
Device& device() {
  static Device the_device;
  return the_device;
}

Place the_place;
int omitted_barrier = kNoBarrier;
std::set<int>* reached_barriers = nullptr;

cudaError_t fail(cudaError_t error, const std::string& what) {
  device().error = error;
  device().complaint = what;
  return error;
}

void begin_fiber() {
  (*device().thread)();
  device().fibers[device().running].state = State::done;
  _longjmp(device().scheduler, 1);
}

// Passes the turn on, and returns when this thread may continue.
void wait_as(State state) {
  Fiber& own = device().fibers[device().running];
  own.state = state;
  if (_setjmp(own.place) == 0) _longjmp(device().scheduler, 1);
}

// Gives a thread its turn.
void run_fiber(unsigned t) {
  Device& d = device();
  Fiber& fiber = d.fibers[t];
  d.running = t;
  the_place.thread.x = t;
  if (_setjmp(d.scheduler) != 0) return;
  if (fiber.has_begun) _longjmp(fiber.place, 1);
  fiber.has_begun = true;
  setcontext(&fiber.context);
}

// Returns whether all threads from `first` on are at this barrier.
bool all_at(State state, unsigned first, unsigned count) {
  const auto* fibers = device().fibers.data() + first;
  return std::all_of(fibers, fibers + count, [&](const Fiber& f) { return f.state == state; });
}

// Returns whether a thread of the warp ran.
bool run_warp(unsigned first) {
  Device& d = device();
  bool ran = false;
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned turn = 0; turn < kWarp; ++turn) {
      const unsigned t = first + (d.descending ? kWarp - 1 - turn : turn);
      if (d.fibers[t].state != State::ready) continue;
      ran = moved = true;
      run_fiber(t);
    }
    // It continues when all of its lanes wait.
    if (!all_at(State::at_warp, first, kWarp)) continue;
    for (unsigned t = first; t < first + kWarp; ++t) d.fibers[t].state = State::ready;
    moved = true;
  }
  return ran;
}

std::string run_block() {
  Device& d = device();
  for (unsigned t = 0; t < d.threads; ++t) {
    Fiber& fiber = d.fibers[t];
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.get();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = &d.unused;
    makecontext(&fiber.context, begin_fiber, 0);
    fiber.state = State::ready;
    fiber.has_begun = false;
  }
  for (;;) {
    bool moved = false;
    // A warp runs until it waits for the block, so that warps are as far apart as they can be.
    for (unsigned turn = 0; turn < d.threads; turn += kWarp)
      moved |= run_warp(d.descending ? d.threads - kWarp - turn : turn);
    if (all_at(State::done, 0, d.threads)) return "";
    if (all_at(State::at_block, 0, d.threads)) {
      for (unsigned t = 0; t < d.threads; ++t) d.fibers[t].state = State::ready;
      continue;
    }
    const auto* fibers = d.fibers.data();
    const bool can_go_on = std::any_of(
        fibers, fibers + d.threads, [](const Fiber& fiber) { return fiber.state == State::ready; });
    if (!moved && !can_go_on) {
      unsigned counts[4] = {};
      for (unsigned t = 0; t < d.threads; ++t) ++counts[static_cast<int>(fibers[t].state)];
      return "of the threads of a block " + std::to_string(counts[1]) + " wait for all, " +
             std::to_string(counts[2]) + " for their warp, and " + std::to_string(counts[3]) +
             " have ended";
    }
  }
}

// Reports a write outside of some memory as an error.
cudaError_t check_guards() {
  for (const auto& [place, memory] : device().memory)
    if (!memory->is_whole())
      return fail(cudaErrorIllegalAddress,
                  "a write beside an allocation of " + std::to_string(memory->bytes()) + " bytes");
  return cudaSuccess;
}

}  // namespace

Place& place() { return the_place; }
void wait_at(int barrier) {
  if (reached_barriers != nullptr) reached_barriers->insert(barrier);
  if (barrier != omitted_barrier) wait_for_block();
}
void leave_out_barrier(int barrier) { omitted_barrier = barrier; }
void note_barriers(std::set<int>* reached) { reached_barriers = reached; }
void wait_for_block() { wait_as(State::at_block); }
std::uint64_t exchange(std::uint64_t value, unsigned lane) {
  Device& d = device();
  const unsigned self = d.running, first = self / kWarp * kWarp;
  d.fibers[self].value = value;
  wait_as(State::at_warp);
  const std::uint64_t given = d.fibers[first + lane].value;
  wait_as(State::at_warp);
  return given;
}
void* shared_memory() { return device().shared->data(); }
void set_descending(bool descending) { device().descending = descending; }
std::int64_t launches() { return device().launches; }
std::int64_t loaded_launches() { return device().loaded_launches; }
const std::string& complaint() { return device().complaint; }

void set_launcher(std::function<bool(const KernelLaunch&)> launcher) {
  device().launcher = std::move(launcher);
}
bool passed_on(const KernelLaunch& launch) {
  return device().launcher && device().launcher(launch);
}

cudaError_t run(const std::function<void()>& thread, dim3 grid, dim3 block,
                std::size_t shared_bytes, std::size_t most_shared_bytes) {
  Device& d = device();
  ++d.launches;
  d.threads = block.x * block.y * block.z;
  if (d.threads == 0 || d.threads > kMostThreads || d.threads % kWarp != 0 || block.x != d.threads)
    return fail(cudaErrorInvalidConfiguration, std::to_string(d.threads) + " threads a block");
  if (grid.x == 0 || grid.y == 0 || grid.y > kMostRows || grid.z != 1)
    return fail(cudaErrorInvalidConfiguration,
                "a grid of " + std::to_string(grid.x) + " x " + std::to_string(grid.y));
  if (shared_bytes > most_shared_bytes)
    return fail(cudaErrorInvalidValue, std::to_string(shared_bytes) + " bytes of shared memory");
  d.thread = &thread;
  d.shared = std::make_unique<Guarded>(shared_bytes);
  the_place.threads = block;
  for (unsigned y = 0; y < grid.y; ++y)
    for (unsigned x = 0; x < grid.x; ++x) {
      the_place.block = dim3(x, y);
      d.shared->renew();
      const std::string wrong = run_block();
      if (!wrong.empty()) return fail(cudaErrorLaunchFailure, wrong);
      if (!d.shared->is_whole())
        return fail(cudaErrorIllegalAddress,
                    "a write beside " + std::to_string(shared_bytes) + " bytes of shared memory");
    }
  return check_guards();
}

}  // namespace cuda_stand_in

using cuda_stand_in::device;
using cuda_stand_in::fail;
using cuda_stand_in::Guarded;

cudaError_t cudaLaunchKernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                             std::size_t shared_bytes, cudaStream_t) {
  const auto& loaded = *static_cast<const cuda_stand_in::LoadedKernel*>(kernel);
  ++device().loaded_launches;
  if (loaded.run == nullptr)
    return cuda_stand_in::passed_on(
               {nullptr, grid, block, shared_bytes, {}, loaded.name, arguments[0]})
               ? cudaSuccess
               : fail(cudaErrorLaunchFailure, "nothing runs this kernel");
  if (loaded.begin != nullptr) loaded.begin(arguments[0]);
  return cuda_stand_in::run([&] { loaded.run(arguments[0]); }, grid, block, shared_bytes,
                            loaded.most_shared);
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, const void*, const void*,
                                unsigned, const void*, const void*, unsigned) {
  void* handle = nullptr;
  if (!device().launcher) handle = dlopen(static_cast<const char*>(code), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr && !device().launcher) return fail(cudaErrorInvalidKernelImage, dlerror());
  *library = reinterpret_cast<cudaLibrary_t>(new cuda_stand_in::Library{handle, {}});
  return cudaSuccess;
}
cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  auto* loaded = reinterpret_cast<cuda_stand_in::Library*>(library);
  if (loaded->handle != nullptr) dlclose(loaded->handle);
  delete loaded;
  return cudaSuccess;
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  auto& loaded = *reinterpret_cast<cuda_stand_in::Library*>(library);
  const auto place = loaded.kernels.try_emplace(name).first;
  const auto function = [&](const char* before) {
    return reinterpret_cast<void (*)(const void*)>(
        dlsym(loaded.handle, (std::string(before) + name).c_str()));
  };
  place->second.name = name;
  if (loaded.handle != nullptr) {
    place->second.run = function("run_");
    place->second.begin = function("begin_");
  }
  if (loaded.handle != nullptr && place->second.run == nullptr)
    return fail(cudaErrorSymbolNotFound, "no kernel of this name");
  *kernel = reinterpret_cast<cudaKernel_t>(&place->second);
  return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute, int value) {
  const auto bytes = static_cast<std::size_t>(value);
  if (bytes > cuda_stand_in::kMostShared)
    return fail(cudaErrorInvalidValue, std::to_string(value) + " bytes of shared memory");
  const_cast<cuda_stand_in::LoadedKernel*>(static_cast<const cuda_stand_in::LoadedKernel*>(kernel))
      ->most_shared = bytes;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(device().error, cudaSuccess); }
const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : device().complaint.c_str();
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int index) {
  return index == 0 ? cudaSuccess : fail(cudaErrorInvalidDevice, "there is one device");
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"the processor, standing in", cuda_stand_in::kMemory, 9, 0, 1};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
  *value = which == cudaDevAttrGlobalMemoryBusWidth ? 64
           : which == cudaDevAttrMaxSharedMemoryPerBlockOptin
               ? static_cast<int>(cuda_stand_in::kMostShared)
               : 1000000;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *total_bytes = cuda_stand_in::kMemory;
  *free_bytes = cuda_stand_in::kMemory - device().used;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  return device().error != cudaSuccess ? device().error : cuda_stand_in::check_guards();
}
cudaError_t cudaMalloc(void** place, std::size_t bytes) {
  if (bytes > cuda_stand_in::kMemory - device().used)
    return fail(cudaErrorMemoryAllocation, "out of memory");
  auto memory = std::make_unique<Guarded>(bytes);
  *place = memory->data();
  device().used += bytes;
  device().memory.emplace(*place, std::move(memory));
  return cudaSuccess;
}
cudaError_t cudaFree(void* place) {
  const auto found = device().memory.find(place);
  if (found == device().memory.end())
    return place == nullptr ? cudaSuccess : fail(cudaErrorInvalidValue, "no allocation is freed");
  const bool whole = found->second->is_whole();
  device().used -= found->second->bytes();
  device().memory.erase(found);
  return whole ? cudaSuccess : fail(cudaErrorIllegalAddress, "a write beside an allocation");
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memcpy(to, from, bytes);
  return cudaDeviceSynchronize();
}
