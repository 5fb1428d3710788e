// No stack: a plain recurrent network. The reading has size 0.
#include "stack/kinds.h"

namespace pushdown {
namespace {

struct NoneState : StackState {
  Tensor reading;  // B x 0
  StackStatePtr detached() const override { return std::make_shared<NoneState>(*this); }
  std::size_t bytes() const override { return 0; }
  std::vector<Tensor> tensors() const override { return {}; }
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override {
    check_state_tensors("stack.none", {}, given);
    return std::make_shared<NoneState>(*this);
  }
};

class RecordedNone final : public RecordedStack {
 public:
  explicit RecordedNone(StackStatePtr state) : state_(std::move(state)) {}
  Traced reading(StepTrace&) override { return {}; }
  TracedNoOp update(StepTrace&, const Traced&, const Traced&) override { return {}; }
  StackStatePtr left(const Tensor&) const override { return state_; }

 private:
  StackStatePtr state_;
};

class NoneStack : public Stack {
 public:
  explicit NoneStack(at::TensorOptions options) : options_(options) {}
  std::int64_t reading_size() const override { return 0; }
  StackStatePtr initial(std::int64_t batch, std::int64_t) const override {
    auto state = std::make_shared<NoneState>();
    state->reading = at::zeros({batch, 0}, options_);
    return state;
  }
  StackStatePtr update(const StackStatePtr& state, const Tensor&) const override { return state; }
  Tensor reading(const StackStatePtr& state) const override {
    return static_cast<const NoneState&>(*state).reading;
  }
  RecordedStackPtr recorded(const StackRequest& request) const override {
    return std::make_unique<RecordedNone>(request.from);
  }

 private:
  at::TensorOptions options_;
};

}  // namespace

StackKind none_stack() {
  StackKind kind;
  kind.name = "none";
  kind.doc = "No stack: the controller alone.";
  kind.make = [](const Json&, const ModuleContext& context) -> StackPtr {
    return std::make_shared<NoneStack>(context.tensor_options);
  };
  return kind;
}

}  // namespace pushdown
