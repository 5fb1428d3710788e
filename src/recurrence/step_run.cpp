#include "recurrence/step_run.h"

#include "recurrence/step_function.h"
#include "recurrence/step_machine.h"

namespace pushdown {
namespace {

template <class F>
Tensor run(TracedProgram&& program, std::int64_t batch, std::int64_t steps, std::int64_t window,
           const at::TensorOptions& options, const BufferPoolPtr& buffers) {
  return run_machine<StepMachine<F>>(
      std::move(program), options, [&](auto& machine, TracedProgram&& traced, bool gradients) {
        machine.emplace(std::make_shared<const TracedProgram>(std::move(traced)), batch, steps,
                        window, gradients, buffers);
      });
}

}  // namespace

Tensor run_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                 const BufferPoolPtr& buffers, std::int64_t window) {
  at::ScalarType type = at::ScalarType::Undefined;
  const auto fits = [&](const Tensor& tensor) {
    if (!tensor.defined()) return true;
    if (type == at::ScalarType::Undefined) type = tensor.scalar_type();
    return tensor.is_cpu() && tensor.scalar_type() == type;
  };
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    if (!std::all_of(tensors->begin(), tensors->end(), fits)) return {};
  const auto options = at::TensorOptions().dtype(type);
  if (type == at::kFloat)
    return run<float>(std::move(program), batch, steps, window, options, buffers);
  if (type == at::kDouble)
    return run<double>(std::move(program), batch, steps, window, options, buffers);
  return {};
}

}  // namespace pushdown
