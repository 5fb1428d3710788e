#include "stack/memory_stack.h"

namespace pushdown {

class RecordedMemory final : public RecordedStack {
 public:
  RecordedMemory(const MemoryStack& stack, const StackRequest& request, HeldMemory held)
      : stack_(stack), request_(request), held_(std::move(held)) {}

  Traced reading(StepTrace& trace) override {
    if (request_.from != nullptr) trace.take_over(held_, stack_.held_size(after()));
    return trace.reading(stack_.reading_size());
  }
  TracedNoOp update(StepTrace& trace, const Traced& hidden, const Traced& reading) override {
    return stack_.drive(trace, hidden, reading, request_);
  }
  StackStatePtr left(const Tensor& numbers) const override {
    return stack_.after_held(request_.from, numbers, after());
  }

 private:
  std::int64_t after() const { return held_.updates(request_.steps); }

  const MemoryStack& stack_;
  StackRequest request_;
  HeldMemory held_;  // if the run takes over a state
};

RecordedStackPtr MemoryStack::recorded(const StackRequest& request) const {
  HeldMemory taken;
  if (request.from != nullptr) {
    taken = request.driven_by.defined() ? held_after(request.from, request.driven_by)
                                        : held(request.from);
    if (!taken.numbers.defined()) return nullptr;
  }
  return std::make_unique<RecordedMemory>(*this, request, std::move(taken));
}

void record_shifted(StepTrace& trace, const Traced& weights, const Traced& values,
                    const Traced& reading, std::int64_t steps, ShiftedShape shape) {
  MemoryShape memory;
  memory.kind = MemoryKind::shifted;
  memory.steps = steps;
  memory.shifted = shape;
  memory.shifted.size = values.size();
  trace.drive(reading, joined({weights, values}), memory);
}

}  // namespace pushdown
