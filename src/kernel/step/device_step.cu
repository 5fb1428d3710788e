// The launches of device_step.h.
#include "kernel/step/device_step_code.h"
#include "kernel/step/device_step_launch.h"

namespace pushdown {
namespace {

using device::Index;

template <class F>
__global__ void __launch_bounds__(device::kThreads)
    step_sum_kernel(const __grid_constant__ DeviceStepProgram<F> program) {
  const Index i = static_cast<Index>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < program.parameters) device::sum_over_sequences(program, blockIdx.y, i);
}

template <class F>
void launch(const DeviceStepProgram<F>& program, bool backward, void* stream) {
  check_device_step(program, backward);
  if (program.code != nullptr && program.code->module != nullptr)
    program.code->module->launch(backward ? "step_backward" : "step_forward", program.batch,
                                 program.models, program.code->source.threads,
                                 program.code->source.shared_bytes, stream, &program);
  else if (program.has_long_code)
    device::launch_steps_with_long_code(program, backward, stream);
  else
    device::launch_steps<F, false>(program, backward, stream);
  if (!backward || program.parameters == 0) return;
  device::launch("device_step", "sum over sequences", step_sum_kernel<F>,
                 dim3(device::blocks_of(program.parameters), static_cast<unsigned>(program.models)),
                 0, stream, program);
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
