#include "recurrence/step_plan.h"

#include "recurrence/step_machine.h"

namespace pushdown {
namespace {

// Whether the numbers of a tensor are some of the parameter's.
bool lies_in(const Tensor& tensor, const Tensor& parameter) {
  const auto first = tensor.storage_offset() - parameter.storage_offset();
  return tensor.scalar_type() == parameter.scalar_type() &&
         tensor.storage().is_alias_of(parameter.storage()) && first >= 0 &&
         first < parameter.numel();
}

// Adds the numbers of a part, behind each other in `values`, to the gradient of its parameter.
template <class F>
void add_to_gradient(const StepPlan::Part& part, const F* values) {
  F* to = gradient_of(part.parameter).data_ptr<F>() + part.offset;
  const auto rows = part.sizes.size() == 2 ? part.sizes[0] : 1, columns = part.sizes.back();
  const auto row = part.sizes.size() == 2 ? part.strides[0] : 0, column = part.strides.back();
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) to[i * row + j * column] += *values++;
}

template <class F>
class StepPass final : public DirectPass {
 public:
  StepPass(const StepPlanPtr& plan, const Tensor& words, std::vector<Tensor> supplied,
           std::int64_t window, const BufferPoolPtr& buffers)
      : plan_(plan),
        words_(words.contiguous()),
        supplied_(std::move(supplied)),
        machine_(plan->program(), words.size(0), words.size(1), window, true, buffers,
                 {words_.data_ptr<std::int64_t>(), supplied_}) {
    machine_.forward();
    output_ = machine_.output(at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value));
  }

  const Tensor& output() const override { return output_; }

  void backward(const Tensor& slopes) override {
    machine_.backward(slopes);
    const auto& matrices = plan_->matrices();
    std::vector<std::int64_t> starts;
    std::int64_t total = 0;
    for (const auto& part : matrices) {
      starts.push_back(total);
      if (part.parameter.defined()) total += part.sizes[0] * part.sizes[1];
    }
    std::vector<F> numbers(static_cast<std::size_t>(total));
    std::vector<F*> results(matrices.size());
    for (std::size_t k = 0; k < matrices.size(); ++k)
      if (matrices[k].parameter.defined()) results[k] = numbers.data() + starts[k];
    machine_.matrix_gradients(results);
    for (std::size_t k = 0; k < matrices.size(); ++k)
      if (results[k] != nullptr) add_to_gradient(matrices[k], results[k]);
    const auto batch = words_.size(0);
    for (std::size_t n = 0; n < plan_->given().size(); ++n) {
      if (const auto& part = plan_->given()[n]; part.parameter.defined()) {
        numbers.resize(static_cast<std::size_t>(part.sizes[0]));
        machine_.constant_gradient(static_cast<int>(n), numbers.data());
        add_to_gradient(part, numbers.data());
      }
      if (const auto& part = plan_->initial()[n]; part.parameter.defined()) {
        numbers.resize(static_cast<std::size_t>(batch * part.sizes[1]));
        machine_.initial_gradient(static_cast<int>(n), numbers.data());
        add_to_gradient(part, numbers.data());
      }
    }
  }

 private:
  StepPlanPtr plan_;
  Tensor words_, output_;
  std::vector<Tensor> supplied_;
  StepMachine<F> machine_;
};

}  // namespace

StepPlanPtr StepPlan::make(TracedProgram program, const ParameterList& parameters) {
  const auto plan = std::make_shared<StepPlan>();
  bool whole = true;
  std::vector<char> used(parameters.size());
  at::ScalarType type = at::ScalarType::Undefined;
  const auto part_of = [&](const Tensor& tensor, bool constant) {
    Part part;
    if (!tensor.defined()) return part;
    if (type == at::ScalarType::Undefined) type = tensor.scalar_type();
    whole = whole && tensor.is_cpu() && tensor.scalar_type() == type;
    if (!whole) return part;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& parameter = parameters[i].second;
      if (!lies_in(tensor, parameter)) continue;
      used[i] = 1;
      if (!tensor.requires_grad()) return part;
      return Part{parameter, tensor.storage_offset() - parameter.storage_offset(),
                  tensor.sizes().vec(), tensor.strides().vec()};
    }
    whole = whole && constant && !tensor.requires_grad();
    return part;
  };
  for (const Tensor& matrix : program.matrices) plan->matrices_.push_back(part_of(matrix, false));
  for (const Tensor& given : program.given) {
    whole = whole && (!given.defined() || given.dim() == 1);
    plan->given_.push_back(part_of(given, true));
  }
  for (const Tensor& initial : program.initial) plan->initial_.push_back(part_of(initial, true));
  if (!whole || program.matrices.empty() || (type != at::kFloat && type != at::kDouble))
    return nullptr;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (const Tensor& own = parameters[i].second; used[i])
      plan->seen_.push_back({own, own.data_ptr(), own.requires_grad()});
  plan->program_ = std::make_shared<const TracedProgram>(std::move(program));
  return plan;
}

bool StepPlan::current() const {
  return std::all_of(seen_.begin(), seen_.end(), [](const Seen& seen) {
    return seen.parameter.data_ptr() == seen.memory &&
           seen.parameter.requires_grad() == seen.trained;
  });
}

StepPlanPtr StepPlans::find(const Key& key, const std::function<StepPlanPtr()>& make) {
  // As many as a training has lengths of strings.
  constexpr std::size_t kLimit = 1000;
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  if (found != plans_.end() && (found->second == nullptr || found->second->current()))
    return found->second;
  if (plans_.size() >= kLimit) plans_.clear();
  return plans_[key] = make();
}

DirectPassPtr run_plan(const StepPlanPtr& plan, const Tensor& words, std::vector<Tensor> supplied,
                       std::int64_t window, const BufferPoolPtr& buffers) {
  if (plan->program()->matrices.front().scalar_type() == at::kFloat)
    return std::make_unique<StepPass<float>>(plan, words, std::move(supplied), window, buffers);
  return std::make_unique<StepPass<double>>(plan, words, std::move(supplied), window, buffers);
}

}  // namespace pushdown
