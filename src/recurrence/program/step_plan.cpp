#include "recurrence/program/step_plan.h"

#include "recurrence/program/step_segments.h"

namespace pushdown {
namespace {

// Returns whether the tensor is a view of a part of the parameter.
bool lies_in(const Tensor& tensor, const Tensor& parameter) {
  const auto first = tensor.storage_offset() - parameter.storage_offset();
  return tensor.scalar_type() == parameter.scalar_type() &&
         tensor.storage().is_alias_of(parameter.storage()) && first >= 0 &&
         first < parameter.numel();
}

}  // namespace

StepPlanPtr StepPlan::make(TracedProgram program, const ParameterList& parameters) {
  const auto plan = std::make_shared<StepPlan>();
  if (!program.matrices.empty() && program.matrices.front().is_cpu())
    program = arranged(std::move(program));
  bool whole = true;
  std::vector<char> used(parameters.size());
  at::ScalarType type = at::ScalarType::Undefined;
  at::Device device = at::kCPU;
  const auto part_of = [&](const Tensor& tensor, bool constant) {
    Part part;
    if (!tensor.defined()) return part;
    if (type == at::ScalarType::Undefined) type = tensor.scalar_type(), device = tensor.device();
    whole = whole && tensor.device() == device && tensor.scalar_type() == type;
    if (!whole) return part;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& parameter = parameters[i].second;
      if (!lies_in(tensor, parameter)) continue;
      used[i] = 1;
      return Part{parameter,
                  i,
                  tensor.requires_grad(),
                  tensor.storage_offset() - parameter.storage_offset(),
                  tensor.sizes().vec(),
                  tensor.strides().vec()};
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
  plan->parameters_ = parameters;
  plan->program_ = std::make_shared<const TracedProgram>(std::move(program));
  return plan;
}

bool StepPlan::current() const {
  return std::all_of(seen_.begin(), seen_.end(), [](const Seen& seen) {
    return seen.parameter.data_ptr() == seen.memory &&
           seen.parameter.requires_grad() == seen.trained;
  });
}

bool same_program(const StepPlan& first, const StepPlan& second) {
  const TracedProgram &one = *first.program(), &other = *second.program();
  const auto same_form = [](const Tensor& a, const Tensor& b) {
    return a.defined() == b.defined() &&
           (!a.defined() || (a.sizes() == b.sizes() && a.scalar_type() == b.scalar_type() &&
                             a.device() == b.device()));
  };
  const auto same_forms = [&](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same_form);
  };
  const auto same_parts = [](const std::vector<StepPlan::Part>& a,
                             const std::vector<StepPlan::Part>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const StepPlan::Part& x, const StepPlan::Part& y) {
                        return x.parameter.defined() == y.parameter.defined() &&
                               x.index == y.index && x.trained == y.trained &&
                               x.offset == y.offset && x.strides == y.strides;
                      });
  };
  return one.nodes == other.nodes && one.terms == other.terms && one.operands == other.operands &&
         std::equal(one.arrays.begin(), one.arrays.end(), other.arrays.begin(), other.arrays.end(),
                    [](const auto& a, const auto& b) { return *a == *b; }) &&
         one.output == other.output && one.memory == other.memory && one.shape == other.shape &&
         same_forms(one.matrices, other.matrices) && same_forms(one.given, other.given) &&
         same_forms(one.initial, other.initial) &&
         std::equal(first.parameters().begin(), first.parameters().end(),
                    second.parameters().begin(), second.parameters().end(),
                    [&](const auto& a, const auto& b) { return same_form(a.second, b.second); }) &&
         same_parts(first.matrices(), second.matrices()) &&
         same_parts(first.given(), second.given()) && same_parts(first.initial(), second.initial());
}

StepPlanPtr StepPlans::find(const Key& key, const std::function<StepPlanPtr()>& make) {
  // About the number of different string lengths in a training run.
  constexpr std::size_t kLimit = 1000;
  const std::lock_guard lock(mutex_);
  const auto found = plans_.find(key);
  if (found != plans_.end() && (found->second == nullptr || found->second->current()))
    return found->second;
  if (plans_.size() >= kLimit) plans_.clear();
  return plans_[key] = make();
}

}  // namespace pushdown
