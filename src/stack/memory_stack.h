// A stack whose recorded form is one of the memories of kernel/memory.
#pragma once
#include "stack/stack.h"

namespace pushdown {

class MemoryStack : public Stack {
 public:
  RecordedStackPtr recorded(const StackRequest& request) const override;

 protected:
  // Records the update by StepTrace::drive().
  virtual TracedNoOp drive(StepTrace& trace, const Traced& hidden, const Traced& reading,
                           const StackRequest& request) const = 0;
  // Returns the state in the form that a recorded run takes over; without numbers if none can.
  virtual HeldMemory held(const StackStatePtr& state) const = 0;
  // The same after the update that `hidden` drives.
  virtual HeldMemory held_after(const StackStatePtr& state, const Tensor& hidden) const {
    return held(update(state, hidden));
  }
  // Returns how many numbers of a sequence a run leaves, where `count` grows by one with every
  // update.
  virtual std::int64_t held_size(std::int64_t count) const = 0;
  // Returns the state after a run that began with `old` and left these numbers.
  virtual StackStatePtr after_held(const StackStatePtr& old, const Tensor& numbers,
                                   std::int64_t count) const = 0;

 private:
  friend class RecordedMemory;
};

// Records the update of a shifted memory (kernel/memory/shifted.h) with the weights of its actions
// and the values that it pushes.
void record_shifted(StepTrace& trace, const Traced& weights, const Traced& values,
                    const Traced& reading, std::int64_t steps, ShiftedShape shape);

}  // namespace pushdown
