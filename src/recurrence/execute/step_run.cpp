#include "recurrence/execute/step_run.h"

#include <fmt/ranges.h>

#include "recurrence/execute/step_function.h"
#include "recurrence/execute/step_machine.h"
#include "recurrence/program/step_segments.h"

namespace pushdown {
namespace {

// A machine as a run of step_function.h.
template <class F>
class MachineRun {
 public:
  MachineRun(StepMachine<F>&& machine, const at::TensorOptions& options)
      : machine_(std::move(machine)), options_(options) {}

  Tensor forward() {
    machine_.forward();
    return machine_.output(options_);
  }
  Tensor left() const { return machine_.left(options_); }
  variable_list backward(const Tensor& slopes, const Tensor& left_slopes = {}) {
    machine_.set_slopes(slopes);
    machine_.backward(left_slopes);
    return machine_.gradients(options_);
  }

 private:
  StepMachine<F> machine_;
  at::TensorOptions options_;
};

template <class F>
Tensor run(TracedProgram&& program, std::int64_t batch, std::int64_t steps, std::int64_t window,
           const at::TensorOptions& options, const BufferPoolPtr& buffers, Tensor* left,
           const std::vector<std::int64_t>& lengths) {
  program = arranged(std::move(program));
  const variable_list inputs = program_inputs(program);
  return run_function<MachineRun<F>>(
      "RecurrentSteps", inputs,
      [&](auto& made, bool gradients) {
        made.emplace(
            StepMachine<F>(std::make_shared<const TracedProgram>(std::move(program)), batch, steps,
                           window, gradients, buffers, {}, StepOrder::passes, lengths),
            options);
      },
      left);
}

}  // namespace

void check_lengths(const std::vector<std::int64_t>& lengths, std::int64_t batch,
                   std::int64_t steps) {
  if (lengths.empty()) return;
  check(std::ssize(lengths) == batch && lengths.front() <= steps && lengths.back() >= 1 &&
            std::is_sorted(lengths.rbegin(), lengths.rend()),
        "recurrence", "the lengths must be {} numbers from {} to 1 in descending order, got {}",
        batch, steps, fmt::join(lengths, ", "));
}

Tensor run_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                 const BufferPoolPtr& buffers, std::int64_t window, Tensor* left,
                 const std::vector<std::int64_t>& lengths) {
  check_lengths(lengths, batch, steps);
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
    return run<float>(std::move(program), batch, steps, window, options, buffers, left, lengths);
  if (type == at::kDouble)
    return run<double>(std::move(program), batch, steps, window, options, buffers, left, lengths);
  return {};
}

}  // namespace pushdown
