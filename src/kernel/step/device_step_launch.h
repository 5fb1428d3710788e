// The launches of step programs, with or without array programs. For .cu files only.
#pragma once
#include "kernel/step/device_step.h"

#include "kernel/device_block.h"
#include "kernel/step/device_step_sums.h"

namespace pushdown::device {

static_assert(kThreads <= kMostThreads);

// The offsets, in a block's shared memory, of its numbers and of its copy of the tables; -1: not
// there.
struct Shared {
  int numbers = -1, tables = -1;
};

template <class F, class Loop>
__device__ Loop make_loop(const DeviceStepProgram<F>& program, Shared shared) {
  auto* memory = reinterpret_cast<std::uint8_t*>(shared_memory<F>());
  std::uint8_t* tables = shared.tables < 0 ? nullptr : memory + shared.tables;
  if (tables != nullptr)
    StepTables<F>::copy(BlockTeam(), {program, Index(blockIdx.y), Index(blockIdx.x)}, tables);
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

// Launches the passes over the sequences.
template <class F, bool kLong>
void launch_steps(const DeviceStepProgram<F>& program, bool backward, void* stream) {
  const Blocks blocks{
      dim3(static_cast<unsigned>(program.batch), static_cast<unsigned>(program.models)),
      program.batch * program.models < kManyDeviceSequences ? kThreads : kThreads / 2};
  // The numbers have priority because they are used more often.
  Shared shared;
  std::size_t bytes = 0;
  const auto take = [&](int& place, std::size_t wanted) {
    if (bytes + wanted > kDeviceSharedBytes) return;
    place = static_cast<int>(bytes);
    bytes += (wanted + 15) / 16 * 16;
  };
  take(shared.numbers,
       static_cast<std::size_t>(device_step_sizes(program.memory).fast) * sizeof(F));
  take(shared.tables, static_cast<std::size_t>(StepTables<F>::bytes(program)));
  with_step_loop<F, kLong>(program.memory, [&]<class Loop>() {
    if (backward)
      launch("device_step", "backward pass", step_backward_kernel<F, Loop>, blocks, bytes, stream,
             program, shared);
    else
      launch("device_step", "forward pass", step_forward_kernel<F, Loop>, blocks, bytes, stream,
             program, shared);
  });
}

// In device_step_arrays.cu.
template <class F>
void launch_steps_with_long_code(const DeviceStepProgram<F>& program, bool backward, void* stream);

}  // namespace pushdown::device
