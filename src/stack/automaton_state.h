// Shared by the two nondeterministic stacks: the state of a network's stack automaton between two
// steps, and the bare automaton over a whole sequence. The value read is u : B x C, or for a vector
// stack the vectors : B x C*m.
//
// The kernels make single steps in a memory that the states of a sequence share, because the
// content of a stack grows with every step (docs/adr/0029-single-steps.md). With a window, a
// detached state consists of plain tensors of bounded size; the next step creates a new memory from
// them.
#pragma once
#include "recurrence/execute/stepped_memory.h"
#include "stack/kinds.h"
#include "stack/nondeterministic.h"
#include "stack/stack_trace.h"

namespace pushdown {

struct AutomatonState : StackState {
  NondeterministicShape shape;
  bool normalized = true;    // whether weights are a softmax of the scores
  bool fast = false;         // whether the kernels make the next steps
  StackAutomaton automaton;  // unless there is a memory
  SteppedMemoryPtr memory;
  std::int64_t held = 0, updates = 0;  // nodes that the memory took over, and its updates
  Tensor read;                         // value read at the node

  StackStatePtr detached() const override;
  std::size_t bytes() const override;
  // Throws std::invalid_argument for a memory, except with a window and without gradients.
  std::vector<Tensor> tensors() const override;
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override;
};

// Return whether kernels exist for whole sequences (on the CPU or on a device) and for single steps
// (on the CPU only).
bool has_automaton_kernels(const NondeterministicShape& shape, const at::TensorOptions& options);
bool has_fast_automaton(const NondeterministicShape& shape, const at::TensorOptions& options);

// bottom : m, for a vector stack.
StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, bool normalized,
                            std::int64_t batch, std::int64_t length, at::TensorOptions options,
                            const Tensor& bottom = {});
// scores : B x C*W, converted to weights by a softmax over each of the C rows or by an exponential;
// vectors : B x m.
StackStatePtr next_state(const StackStatePtr& state, const Tensor& scores,
                         const Tensor& vectors = {});
// weights : B x n x C x W, or their logarithms; vectors : B x n x m; bottom : m. Returns the values
// read after 0 .. n steps : B x (n+1) x R.
Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors = {}, const Tensor& bottom = {});
// Returns the checked input of simulate(), and whether it was `log_weights` instead of `weights`.
std::pair<Tensor, bool> simulated_weights(std::string_view kind, const NondeterministicShape& shape,
                                          const NamedTensors& inputs);

OptionSpec fast_option();
OptionSpec initialization_option();

// What the two stacks have in common.
class AutomatonStack : public MemoryStack, public TraceableStack {
 public:
  AutomatonStack(const NondeterministicShape& shape, const Json& options,
                 const ModuleContext& context);

  StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const override {
    return next_state(state, action_(hidden), pushed(hidden));
  }
  Tensor log_transition_weights(const Tensor& hidden) const override;
  StackTrace trace(const Tensor& hiddens) const override;

  // Takes over kernel/memory/automaton_content.h, with a window.
  RecordedStackPtr recorded(const StackRequest& request) const override {
    const bool can = fast_ && !request.cut && (request.from == nullptr || shape_.window > 0);
    return can ? MemoryStack::recorded(request) : nullptr;
  }

 protected:
  std::int64_t held_size(std::int64_t count) const override;
  HeldMemory held(const StackStatePtr& state) const override { return held_after(state, {}); }
  HeldMemory held_after(const StackStatePtr& state, const Tensor& hidden) const override;
  StackStatePtr after_held(const StackStatePtr& state, const Tensor& numbers,
                           std::int64_t count) const override;
  // The vector of a vector stack, B x m.
  virtual Tensor pushed(const Tensor& hidden) const { return {}; }
  // The memory of recorded steps.
  MemoryShape memory_shape(const StepTrace& trace, std::int64_t steps) const;

  NondeterministicShape shape_;
  bool normalized_, fast_;
  at::TensorOptions options_;
  ActionLayer action_;
};

}  // namespace pushdown
