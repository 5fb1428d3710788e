#include "model/step_engine.h"

#include "recurrence/device/program.h"
#include "recurrence/device/steps.h"
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
  explicit DeviceEngine(DevicePtr device) : device_(std::move(device)) {}

  Tensor run(TracedProgram program, std::int64_t batch, std::int64_t steps, std::int64_t window,
             const BufferPoolPtr&, Tensor* left,
             const std::vector<std::int64_t>& lengths) const override {
    if (SecondDerivatives::wanted() || !DeviceProgram::refusal(program).empty()) return {};
    const auto type = number_type(program);
    if (type == at::kFloat)
      return run_device_steps<float>(std::move(program), batch, steps, window, device_, left,
                                     lengths);
    if (type == at::kDouble)
      return run_device_steps<double>(std::move(program), batch, steps, window, device_, left,
                                      lengths);
    return {};
  }
  bool together() const override { return true; }
  std::unique_ptr<DeviceUpdates> updates(UpdateForm form) const override {
    return device_updates(std::move(form), device_);
  }

 private:
  DevicePtr device_;
};

}  // namespace

StepEnginePtr device_engine(DevicePtr device) {
  return std::make_shared<DeviceEngine>(std::move(device));
}

StepEnginePtr step_engine(at::Device device) {
  if (device.is_cpu()) return std::make_shared<ProcessorEngine>();
  auto own = cuda_device(device);
  return own == nullptr ? nullptr : device_engine(std::move(own));
}

}  // namespace pushdown
