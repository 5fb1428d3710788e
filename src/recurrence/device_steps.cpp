#include "recurrence/device_steps.h"

#include "recurrence/device_machine.h"
#include "recurrence/step_function.h"
#include "recurrence/step_run.h"

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

// ---- A program of one model. ----

template <class F>
class DeviceTracedMachine {
 public:
  DeviceTracedMachine(TracedProgram&& program, std::int64_t batch, std::int64_t steps,
                      std::int64_t window, bool gradients, const at::TensorOptions& options,
                      const DeviceStepLaunch<F>& launch, std::size_t free_bytes,
                      const std::vector<std::int64_t>& lengths)
      : program_(std::make_shared<const TracedProgram>(std::move(program))) {
    const auto count = program_->nodes.size();
    DeviceRun run;
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
    machine_.emplace(std::move(run), launch, free_bytes);
  }

  Tensor forward() {
    machine_->forward();
    return machine_->output().squeeze(0);
  }
  Tensor left() const { return machine_->left().squeeze(0).clone(); }
  variable_list backward(const Tensor& slopes, const Tensor& left_slopes = {}) {
    machine_->backward(slopes.unsqueeze(0), left_slopes);
    variable_list all;
    const auto add = [&](bool wanted, const auto& gradient) {
      all.emplace_back();
      if (wanted) all.back() = gradient().squeeze(0).clone();
    };
    for (std::size_t k = 0; k < program_->matrices.size(); ++k)
      add(program_->matrices[k].requires_grad(), [&] { return machine_->matrix_gradient(k); });
    for (std::size_t n = 0; n < program_->nodes.size(); ++n)
      if (const Tensor& given = program_->given[n]; given.defined())
        add(given.requires_grad(), [&] {
          return given.dim() == 1 ? machine_->constant_gradient(n) : machine_->sequence_gradient(n);
        });
    for (std::size_t n = 0; n < program_->nodes.size(); ++n)
      if (const Tensor& initial = program_->initial[n]; initial.defined())
        add(initial.requires_grad(), [&] { return machine_->initial_gradient(n); });
    return all;
  }

 private:
  std::shared_ptr<const TracedProgram> program_;
  std::optional<DeviceStepMachine<F>> machine_;
};

// Returns the device of the tensors.
at::Device device_of(const TracedProgram& program) {
  for (const auto* tensors : {&program.matrices, &program.given, &program.initial})
    for (const Tensor& tensor : *tensors)
      if (tensor.defined()) return tensor.device();
  return at::kCPU;
}

// ---- Plans of several models. ----

template <class F>
class DevicePlanMachine {
 public:
  DevicePlanMachine(const std::vector<StepPlanPtr>& plans, const Tensor& words,
                    const Tensor& lengths, bool gradients, const DeviceStepLaunch<F>& launch,
                    std::size_t free_bytes)
      : plans_(plans), plan_(plans.front()) {
    const TracedProgram& program = *plan_->program();
    const auto count = program.nodes.size();
    const auto models = words.size(0), batch = words.size(1);
    DeviceRun run;
    run.program = plan_->program();
    run.models = models;
    run.batch = batch;
    run.steps = words.size(2);
    run.gradients = gradients;
    run.symbols = words.contiguous();
    if (lengths.defined()) run.lengths = lengths.contiguous();
    run.numbers.given.resize(count);
    run.sequences.resize(count);
    run.initial.resize(count);
    std::vector<Tensor> packed;
    for (const StepPlanPtr& plan : plans) {
      Packing packing;
      std::vector<std::int64_t> starts;
      for (const auto& [name, parameter] : plan->parameters())
        starts.push_back(packing.add(parameter));
      count_ = packing.count();
      const auto place = [&](const StepPlan::Part& part, std::int64_t row) {
        return DeviceNumbers::Part{starts[part.index] + part.offset, row, part.trained};
      };
      run.numbers.matrices.clear();
      for (const StepPlan::Part& part : plan->matrices())
        run.numbers.matrices.push_back(place(part, part.strides[0]));
      for (std::size_t n = 0; n < count; ++n) {
        const Tensor& given = plan->program()->given[n];
        if (!given.defined()) continue;
        const StepPlan::Part& part = plan->given()[n];
        // Values that are computed or are no parameters come after the parameters.
        if (program.nodes[n].logistic)
          run.numbers.given[n] = {packing.add(given.detach().sigmoid()), 0, part.trained};
        else if (part.parameter.defined() && part.strides[0] == 1)
          run.numbers.given[n] = place(part, 0);
        else
          run.numbers.given[n] = {packing.add(given), 0, part.trained};
      }
      starts_ = starts;
      packed.push_back(packing.packed(run.symbols.options()));
    }
    run.numbers.all = packed_ = plans.size() == 1 ? packed[0].unsqueeze(0) : at::stack(packed);
    for (std::size_t n = 0; n < count; ++n) {
      if (!program.initial[n].defined()) continue;
      std::vector<Tensor> initial;
      for (const StepPlanPtr& plan : plans)
        if (initial.empty() || plan->initial()[n].parameter.defined())
          initial.push_back(plan->program()->initial[n].detach());
      run.initial[n] = at::stack(initial);
    }
    given_ = run.numbers.given;
    machine_.emplace(std::move(run), launch, free_bytes);
  }

  Tensor forward() {
    machine_->forward();
    return machine_->output();
  }
  // Gradients of the parameters of each model, one model after the other.
  variable_list backward(const Tensor& slopes) {
    machine_->backward(slopes);
    const auto models = static_cast<std::int64_t>(plans_.size());
    const Tensor all = at::zeros({models, count_}, packed_.options());
    std::vector<char> found(plan_->parameters().size());
    const auto add = [&](const StepPlan::Part& part, const Tensor& gradient) {
      found[part.index] = 1;
      std::vector<std::int64_t> sizes{models}, strides{count_};
      sizes.insert(sizes.end(), part.sizes.begin(), part.sizes.end());
      strides.insert(strides.end(), part.strides.begin(), part.strides.end());
      all.as_strided(sizes, strides, starts_[part.index] + part.offset).add_(gradient);
    };
    for (std::size_t k = 0; k < plan_->matrices().size(); ++k)
      if (plan_->matrices()[k].trained) add(plan_->matrices()[k], machine_->matrix_gradient(k));
    for (std::size_t n = 0; n < plan_->given().size(); ++n) {
      const StepNode& node = plan_->program()->nodes[n];
      if (const StepPlan::Part& part = plan_->given()[n]; part.trained) {
        Tensor gradient = machine_->constant_gradient(n);
        if (node.logistic) {
          const Tensor values = packed_.narrow(1, given_[n].first, node.size);
          gradient = gradient * values * (1 - values);
        }
        add(part, gradient);
      }
      if (StepPlan::Part part = plan_->initial()[n]; part.trained) {
        part.sizes.erase(part.sizes.begin());  // shared by all sequences
        part.strides.erase(part.strides.begin());
        add(part, machine_->initial_gradient(n).sum(1));
      }
    }
    variable_list result;
    for (std::int64_t m = 0; m < models; ++m) {
      const auto& parameters = plans_[m]->parameters();
      for (std::size_t i = 0; i < parameters.size(); ++i) {
        const Tensor& own = parameters[i].second;
        result.push_back(found[i] ? all[m].narrow(0, starts_[i], own.numel()).view(own.sizes())
                                  : Tensor());
      }
    }
    return result;
  }

 private:
  std::vector<StepPlanPtr> plans_;
  StepPlanPtr plan_;                  // for the first model
  std::vector<std::int64_t> starts_;  // of the parameters within the numbers
  std::int64_t count_ = 0;            // total size of all parameters
  Tensor packed_;
  std::vector<DeviceNumbers::Part> given_;
  std::optional<DeviceStepMachine<F>> machine_;
};

}  // namespace

template <class F>
Tensor run_device_steps(TracedProgram program, std::int64_t batch, std::int64_t steps,
                        std::int64_t window, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes, Tensor* left,
                        const std::vector<std::int64_t>& lengths) {
  check_lengths(lengths, batch, steps);
  const auto options =
      at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value).device(device_of(program));
  const variable_list inputs = program_inputs(program);
  return run_function<DeviceTracedMachine<F>>(
      "RecurrentSteps", inputs,
      [&](auto& machine, bool gradients) {
        machine.emplace(std::move(program), batch, steps, window, gradients, options, launch,
                        free_bytes, lengths);
      },
      left);
}

template <class F>
Tensor run_device_plans(const std::vector<StepPlanPtr>& plans, const Tensor& words,
                        const Tensor& lengths, const DeviceStepLaunch<F>& launch,
                        std::size_t free_bytes) {
  check(!plans.empty() && words.dim() == 3 &&
            words.size(0) == static_cast<std::int64_t>(plans.size()) &&
            words.scalar_type() == at::kLong && words.size(1) >= 1 && words.size(2) >= 1,
        "device", "words must be {} x B x T (int64), got {}", plans.size(), shape_text(words));
  for (const StepPlanPtr& plan : plans)
    check(same_program(*plans.front(), *plan), "device", "the networks must be of one form");
  variable_list inputs;
  for (const StepPlanPtr& plan : plans)
    for (const auto& [name, parameter] : plan->parameters()) inputs.push_back(parameter);
  return run_function<DevicePlanMachine<F>>(
      "RecurrentModels", inputs, [&](auto& machine, bool gradients) {
        machine.emplace(plans, words, lengths, gradients, launch, free_bytes);
      });
}

template Tensor run_device_steps<float>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                        const DeviceStepLaunch<float>&, std::size_t, Tensor*,
                                        const std::vector<std::int64_t>&);
template Tensor run_device_steps<double>(TracedProgram, std::int64_t, std::int64_t, std::int64_t,
                                         const DeviceStepLaunch<double>&, std::size_t, Tensor*,
                                         const std::vector<std::int64_t>&);
template Tensor run_device_plans<float>(const std::vector<StepPlanPtr>&, const Tensor&,
                                        const Tensor&, const DeviceStepLaunch<float>&, std::size_t);
template Tensor run_device_plans<double>(const std::vector<StepPlanPtr>&, const Tensor&,
                                         const Tensor&, const DeviceStepLaunch<double>&,
                                         std::size_t);

}  // namespace pushdown
