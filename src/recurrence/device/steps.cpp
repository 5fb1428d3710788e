#include "recurrence/device/steps.h"

#include "recurrence/device/run.h"
#include "recurrence/execute/step_function.h"
#include "recurrence/execute/step_run.h"

namespace pushdown {
namespace {

// Concatenates arrays of numbers.
class Packing {
 public:
  // Returns the position of the piece.
  std::int64_t add(const Tensor& piece) {
    const auto place = count_;
    pieces_.push_back(piece.detach().reshape({-1}));
    count_ += piece.numel();
    return place;
  }
  std::int64_t count() const { return count_; }
  Tensor packed(const at::TensorOptions& options) const {
    return pieces_.empty() ? at::empty({0}, options) : at::cat(pieces_);
  }

 private:
  std::vector<Tensor> pieces_;
  std::int64_t count_ = 0;
};

template <class F>
class DeviceFunction {
 public:
  DeviceFunction(TracedProgram&& program, std::int64_t batch, std::int64_t steps,
                 std::int64_t window, bool gradients, const at::TensorOptions& options,
                 const DevicePtr& device, const std::vector<std::int64_t>& lengths)
      : program_(std::make_shared<const TracedProgram>(std::move(program))) {
    const auto count = program_->nodes.size();
    DevicePass run;
    run.program = program_;
    run.batch = batch;
    run.steps = steps;
    run.window = window;
    run.gradients = gradients;
    if (!lengths.empty())
      run.lengths = at::tensor(lengths, at::kLong).to(options.device()).unsqueeze(0);
    Packing packing;
    for (const Tensor& matrix : program_->matrices)
      run.numbers.matrices.push_back({packing.add(matrix), matrix.size(1), matrix.requires_grad()});
    run.numbers.given.resize(count);
    run.sequences.resize(count);
    run.initial.resize(count);
    for (std::size_t n = 0; n < count; ++n) {
      const Tensor &given = program_->given[n], &initial = program_->initial[n];
      if (given.defined() && given.dim() == 1)
        run.numbers.given[n] = {packing.add(given), 0, given.requires_grad()};
      else if (given.defined())
        run.sequences[n] = given.detach().contiguous();
      if (initial.defined()) run.initial[n] = initial.detach().unsqueeze(0);
    }
    run.numbers.all = packing.packed(options).unsqueeze(0);
    run_.emplace(std::move(run), device);
  }

  Tensor forward() {
    run_->forward();
    return run_->output().squeeze(0);
  }
  Tensor left() const { return run_->left().squeeze(0).clone(); }
  variable_list backward(const Tensor& slopes, const Tensor& left_slopes = {}) {
    run_->backward(slopes.unsqueeze(0), left_slopes);
    variable_list all;
    const auto add = [&](bool wanted, const auto& gradient) {
      all.emplace_back();
      if (wanted) all.back() = gradient().squeeze(0).clone();
    };
    for (std::size_t k = 0; k < program_->matrices.size(); ++k)
      add(program_->matrices[k].requires_grad(), [&] { return run_->matrix_gradient(k); });
    for (std::size_t n = 0; n < program_->nodes.size(); ++n)
      if (const Tensor& given = program_->given[n]; given.defined())
        add(given.requires_grad(), [&] {
          return given.dim() == 1 ? run_->constant_gradient(n) : run_->sequence_gradient(n);
        });
    for (std::size_t n = 0; n < program_->nodes.size(); ++n)
      if (const Tensor& initial = program_->initial[n]; initial.defined())
        add(initial.requires_grad(), [&] { return run_->initial_gradient(n); });
    return all;
  }

 private:
  std::shared_ptr<const TracedProgram> program_;
  std::optional<DeviceRun<F>> run_;
};

// Returns the device of the tensors.
at::Device device_of(const TracedProgram& program) {
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    for (const Tensor& tensor : *tensors)
      if (tensor.defined()) return tensor.device();
  return at::kCPU;
}

}  // namespace

template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DevicePtr& device, Tensor* left,
                        const std::vector<std::int64_t>& lengths) {
  check_lengths(lengths, batch, steps);
  const auto options =
      at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value).device(device_of(program));
  const variable_list inputs = program_inputs(program);
  return run_function<DeviceFunction<F>>(
      "RecurrentSteps", inputs,
      [&](auto& machine, bool gradients) {
        machine.emplace(std::move(program), batch, steps, window, gradients, options, device,
                        lengths);
      },
      left);
}

template Tensor run_device_steps<float>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                        const DevicePtr&, Tensor*,
                                        const std::vector<std::int64_t>&);
template Tensor run_device_steps<double>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                         const DevicePtr&, Tensor*,
                                         const std::vector<std::int64_t>&);

}  // namespace pushdown
