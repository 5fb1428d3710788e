#include "model/recorded_run.h"

#include "recurrence/device_steps.h"

namespace pushdown {
namespace {

template <class F>
Tensor run(TracedProgram&& program, std::int64_t batch, std::int64_t steps, std::int64_t window,
           const DeviceRunnerPtr& runner) {
  return run_device_steps<F>(
      std::move(program), batch, steps, window,
      [runner](const DeviceStepProgram<F>& on, bool backward) { runner->run(on, backward); },
      runner->free_bytes());
}

// Of all tensors of the program; undefined where they differ.
at::ScalarType number_type(const TracedProgram& program) {
  at::ScalarType type = at::ScalarType::Undefined;
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    for (const Tensor& tensor : *tensors) {
      if (!tensor.defined()) continue;
      if (type != at::ScalarType::Undefined && tensor.scalar_type() != type)
        return at::ScalarType::Undefined;
      type = tensor.scalar_type();
    }
  return type;
}

}  // namespace

Tensor run_recorded_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                          const BufferPoolPtr& buffers, std::int64_t window,
                          const DeviceRunnerPtr& runner) {
  if (runner == nullptr) return run_steps(std::move(program), batch, steps, buffers, window);
  const auto type = number_type(program);
  if (type == at::kFloat) return run<float>(std::move(program), batch, steps, window, runner);
  if (type == at::kDouble) return run<double>(std::move(program), batch, steps, window, runner);
  return {};
}

}  // namespace pushdown
