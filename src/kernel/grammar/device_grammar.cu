// The launches of device_grammar.h.
#include "kernel/grammar/device_grammar.h"

#include "kernel/device_block.h"
#include "kernel/grammar/device_grammar_loop.h"

namespace pushdown {
namespace {

using device::BlockTeam;
using device::kThreads;
static_assert(kThreads / BlockTeam::kWarp <= device::kMostGroups);

__global__ void __launch_bounds__(kThreads)
    inside_kernel(const __grid_constant__ DeviceInside work) {
  const double value = device::InsideLoop(work, blockIdx.x).log_weight(BlockTeam());
  if (threadIdx.x == 0) work.log_weights[blockIdx.x] = value;
}

}  // namespace

void device_inside(const DeviceInside& work, void* stream) {
  if (work.strings == 0) return;
  device::launch("device_inside", "inside weights", inside_kernel,
                 dim3(static_cast<unsigned>(work.strings)), 0, stream, work);
}

}  // namespace pushdown
