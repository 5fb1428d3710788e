// The launches of device_step.h.
#include "kernel/step/device_step.h"

#include "kernel/device_block.h"
#include "kernel/step/device_step_loop.h"

namespace pushdown {
namespace {

using device::BlockTeam;
using device::Index;
using device::kBlocks;
using device::kSharedBytes;
using device::kThreads;
static_assert(kThreads <= device::kMostThreads);

// The offsets, in a block's shared memory, of its numbers and of its copy of the tables; -1: not
// there.
struct Shared {
  int numbers = -1, tables = -1;
};

template <class F, class Loop>
__device__ Loop make_loop(const DeviceStepProgram<F>& program, Shared shared) {
  auto* memory = reinterpret_cast<std::uint8_t*>(device::shared_memory<F>());
  std::uint8_t* tables = shared.tables < 0 ? nullptr : memory + shared.tables;
  if (tables != nullptr) device::copy_tables(BlockTeam(), program, tables);
  return Loop(program, blockIdx.y, blockIdx.x,
              shared.numbers < 0 ? nullptr : reinterpret_cast<F*>(memory + shared.numbers), tables);
}

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads, kBlocks<F>)
    step_forward_kernel(const __grid_constant__ DeviceStepProgram<F> program, Shared shared) {
  make_loop<F, Loop>(program, shared).forward(BlockTeam());
}

template <class F, class Loop>
__global__ void __launch_bounds__(kThreads, kBlocks<F>)
    step_backward_kernel(const __grid_constant__ DeviceStepProgram<F> program, Shared shared) {
  make_loop<F, Loop>(program, shared).backward(BlockTeam());
}

template <class F>
__global__ void __launch_bounds__(kThreads)
    step_sum_kernel(const __grid_constant__ DeviceStepProgram<F> program) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < program.parameters) device::sum_over_sequences(program, blockIdx.y, i);
}

template <class F>
void launch(const DeviceStepProgram<F>& program, bool backward, void* stream) {
  check_device_step(program, backward);
  const dim3 grid(static_cast<unsigned>(program.batch), static_cast<unsigned>(program.models));
  // The numbers have priority because they are used more often.
  Shared shared;
  std::size_t bytes = 0;
  const auto take = [&](int& place, std::size_t wanted) {
    if (bytes + wanted > kSharedBytes) return;
    place = static_cast<int>(bytes);
    bytes += (wanted + 15) / 16 * 16;
  };
  take(shared.numbers,
       static_cast<std::size_t>(device_step_sizes(program.memory).fast) * sizeof(F));
  take(shared.tables, static_cast<std::size_t>(program.table_bytes));
  device::with_step_loop<F>(program.memory, [&]<class Loop>() {
    if (backward)
      device::launch("device_step", "backward pass", step_backward_kernel<F, Loop>, grid, bytes,
                     stream, program, shared);
    else
      device::launch("device_step", "forward pass", step_forward_kernel<F, Loop>, grid, bytes,
                     stream, program, shared);
  });
  if (!backward || program.parameters == 0) return;
  device::launch("device_step", "sum over sequences", step_sum_kernel<F>,
                 dim3(device::blocks_of(program.parameters), grid.y), 0, stream, program);
}

}  // namespace

template <class F>
void device_step_forward(const DeviceStepProgram<F>& program, void* stream) {
  launch(program, false, stream);
}
template <class F>
void device_step_backward(const DeviceStepProgram<F>& program, void* stream) {
  launch(program, true, stream);
}

template void device_step_forward(const DeviceStepProgram<float>&, void*);
template void device_step_forward(const DeviceStepProgram<double>&, void*);
template void device_step_backward(const DeviceStepProgram<float>&, void*);
template void device_step_backward(const DeviceStepProgram<double>&, void*);

}  // namespace pushdown
