#include "train/optimizing/optimizer_rows.h"

#include <algorithm>

namespace pushdown {
namespace {

// The list of each optimizer.
template <class Of>
CommonRows rows_of(const std::vector<Optimizer*>& optimizers, const Of& of) {
  std::vector<std::vector<Tensor>> lists;
  for (const Optimizer* optimizer : optimizers) lists.push_back(of(*optimizer));
  return CommonRows(std::move(lists));
}

}  // namespace

OptimizerRows::OptimizerRows(std::vector<Optimizer*> optimizers)
    : optimizers_(std::move(optimizers)), parameters_(rows_of(optimizers_, [](const Optimizer& of) {
        std::vector<Tensor> list;
        for (const auto& [name, parameter] : of.parameters_) list.push_back(parameter);
        return list;
      })) {
  for (std::size_t j = 0; j < optimizers_.front()->slot_names_.size(); ++j)
    slots_.push_back(rows_of(optimizers_, [&](const Optimizer& of) {
      std::vector<Tensor> list;
      for (const auto& slots : of.slots_) list.push_back(slots[j]);
      return list;
    }));
}

bool OptimizerRows::hold() const {
  return parameters_.hold() && std::all_of(slots_.begin(), slots_.end(),
                                           [](const CommonRows& slots) { return slots.hold(); });
}

void OptimizerRows::step(const std::vector<Step>& steps, DeviceUpdates& updates) const {
  if (steps.empty()) return;
  const Optimizer& first = *optimizers_[steps.front().row];
  std::vector<DeviceStepMember> members;
  OptimizerMethod method;
  for (const auto& [row, clip, rate] : steps) {
    Optimizer& own = *optimizers_[row];
    for (std::size_t i = 0; i < own.tables_.size(); ++i) own.leave_table(i);
    own.latest_.clear();
    ++own.steps_;
    const auto factors = own.factors(rate);
    method = own.method();
    method.scale = factors.scale;
    members.push_back(
        {static_cast<std::int64_t>(row), clip, factors.rate, 1 - rate * own.weight_decay_});
  }
  method.weight_decay = first.weight_decay_;
  method.decoupled = first.decoupled_;
  std::vector<Tensor> slots;
  for (const CommonRows& own : slots_) slots.push_back(own.all());
  updates.step(method, slots, members);
}

}  // namespace pushdown
