#include "model/step_engine.h"

#include "recurrence/device/source.h"
#include "recurrence/device/steps.h"
#include "recurrence/execute/step_likelihood.h"
#include "recurrence/execute/step_run.h"
#include "tensor/backward.h"

namespace pushdown {
namespace {

class ProcessorEngine final : public StepEngine {
 public:
  Tensor run(TracedProgram program, std::int64_t batch, std::int64_t steps, std::int64_t window,
             const BufferPoolPtr& buffers, Tensor* left,
             const std::vector<std::int64_t>& lengths) const override {
    if (SecondDerivatives::wanted()) return {};
    return run_steps(std::move(program), batch, steps, buffers, window, left, lengths);
  }
  bool differentiates() const override { return true; }
  DirectPassPtr direct_pass(const StepPlanPtr& plan, const Tensor& words,
                            std::vector<Tensor> supplied, std::int64_t window,
                            const BufferPoolPtr& buffers) const override {
    return run_plan(plan, words.cpu(), std::move(supplied), window, buffers);
  }
  Tensor log_likelihoods(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                         const Tensor& bias, std::vector<Tensor> supplied,
                         const BufferPoolPtr& buffers, std::optional<double> scale) const override {
    if (scale)
      return differentiate_log_likelihoods(plan, targets.cpu(), weight, bias, supplied, buffers,
                                           *scale);
    return run_log_likelihoods(plan, targets.cpu(), weight, bias, std::move(supplied), buffers);
  }
};

// Returns the number type of all tensors of the program; undefined if they differ.
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

class DeviceEngine final : public StepEngine {
 public:
  explicit DeviceEngine(DeviceRunnerPtr runner) : runner_(std::move(runner)) {}

  Tensor run(TracedProgram program, std::int64_t batch, std::int64_t steps, std::int64_t window,
             const BufferPoolPtr&, Tensor* left,
             const std::vector<std::int64_t>& lengths) const override {
    if (SecondDerivatives::wanted() || program.attends) return {};
    const auto by = [&]<class F>() {
      return run_device_steps<F>(std::move(program), batch, steps, window, launch<F>(),
                                 runner_->free_bytes(), left, lengths);
    };
    const auto type = number_type(program);
    if (type == at::kFloat) return by.operator()<float>();
    if (type == at::kDouble) return by.operator()<double>();
    return {};
  }
  std::string code_of(const TracedProgram& program) const override {
    if (!runner_->runs_own("")) return "the interpreter";
    // There is a text for each form of the passes (recurrence/device/machine.h).
    DeviceSourceOptions options;
    options.is_double = number_type(program) == at::kDouble;
    for (const int threads : {128, 256, 512})
      for (int form = 0; form < 8; ++form) {
        options.threads = threads;
        options.gradients = (form & 1) == 0;
        options.windowed = (form & 2) != 0;
        options.near = (form & 4) == 0;
        const DeviceSource source = device_source_kernels(program, options);
        if (!source.text.empty() && runner_->runs_own(source.text)) return "kernels of its own";
      }
    return "the interpreter";
  }
  bool together() const override { return true; }
  std::unique_ptr<DeviceUpdates> updates(UpdateForm form) const override {
    const auto by = [&]<class F>() {
      const DeviceUpdateLaunches<F> launches{
          launch<F>(),
          [runner = runner_](const DeviceUpdate<F>& update, DeviceUpdatePart part) {
            runner->run(update, part);
          },
          [runner = runner_](const DeviceOptimizerStep<F>& step) { runner->run(step); }};
      return device_updates<F>(std::move(form), launches, runner_->free_bytes());
    };
    return form.rows.scalar_type() == at::kFloat ? by.operator()<float>() : by.operator()<double>();
  }

 private:
  template <class F>
  DeviceStepLaunch<F> launch() const {
    return [runner = runner_](const DeviceStepProgram<F>& program, bool backward) {
      runner->run(program, backward);
    };
  }

  DeviceRunnerPtr runner_;
};

}  // namespace

StepEnginePtr device_engine(DeviceRunnerPtr runner) {
  return std::make_shared<DeviceEngine>(std::move(runner));
}

StepEnginePtr step_engine(at::Device device) {
  if (device.is_cpu()) return std::make_shared<ProcessorEngine>();
  auto runner = cuda_runner(device);
  return runner == nullptr ? nullptr : device_engine(std::move(runner));
}

}  // namespace pushdown
