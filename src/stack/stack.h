// The interface of a differentiable stack as a network sees it: a memory driven by a controller's
// hidden vector. It owns its action layer (hidden -> actions); the bare data structure behind it is
// reached through the registry's `simulate`.
//
// Dimension letters: B batch, n length, H hidden, R reading size.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/origin.h"
#include "base/registry.h"
#include "kernel/memory/memory_shape.h"
#include "recurrence/step_trace.h"
#include "tensor/module_context.h"

namespace pushdown {

// What a stack remembers between two steps; immutable for its user.
class StackState {
 public:
  virtual ~StackState() = default;
  // The same numbers, through which no gradient flows back.
  virtual std::shared_ptr<const StackState> detached() const = 0;
  // The size of its tensors.
  virtual std::size_t bytes() const = 0;
  // The tensors through which gradients flow from step to step, B x ... each, in a fixed order; all
  // else that the state holds is constant or follows from them. Their shapes may change with a
  // step. std::invalid_argument where a stack has no such form.
  virtual std::vector<Tensor> tensors() const;
  // The same state with others, of the same shapes, in their places.
  virtual std::shared_ptr<const StackState> with_tensors(const std::vector<Tensor>& tensors) const;
};
using StackStatePtr = std::shared_ptr<const StackState>;

// with_tensors() of a state whose tensors are `own`: std::invalid_argument unless `given` has as
// many, of the same shapes.
void check_state_tensors(std::string_view where, const std::vector<Tensor>& own,
                         const std::vector<Tensor>& given);

std::size_t tensor_bytes(const Tensor& tensor);  // 0 for an undefined tensor

// What one step does with its action no_op, which leaves every cell as it is. Memories side by side
// all have to, each by its own actions.
struct NoOp {
  Tensor weight;    // B x 1: its share of the actions, the product over memories side by side
  Tensor greatest;  // B x 1, bool: whether it exceeds every other action, in each of them
};

// The same recorded, one number each; undefined where the stack has no such action.
struct TracedNoOp {
  Traced weight, greatest;
};

// A stack's state in the numbers of its memory (kernel/memory/memories.h).
struct HeldMemory {
  Tensor numbers;          // B x m
  std::int64_t count = 0;  // MemoryShape::held
};

// Named tensors: what the bare data structure is given, or a run in numbers.
using NamedTensors = std::map<std::string, Tensor>;

class Stack {
 public:
  virtual ~Stack() = default;

  virtual std::int64_t reading_size() const = 0;
  // The stack before any symbol was read. `length`: how many updates are expected; more are
  // possible.
  virtual StackStatePtr initial(std::int64_t batch, std::int64_t length) const = 0;
  // One step, driven by hidden : B x H.
  virtual StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const = 0;
  virtual Tensor reading(const StackStatePtr& state) const = 0;  // B x R
  // The readings after each of n steps from the beginning: hiddens : B x n x H -> B x n x R.
  Tensor readings(const Tensor& hiddens) const;
  // What the same n steps do to a memory of sections with strengths, for pictures; nothing for any
  // other. K memories side by side, S places of sections, bottom first, each of which stays where
  // it is and is 0 before its push:
  //   strengths        B x n x K x S  after each step
  //   push, pop        B x n x K      of each step
  //   read             B x n x K x S  the share of each section in the reading after each step
  //   read_strength    B x n x K      of each reading
  //   push_distribution, pop_distribution, read_distribution
  //                    B x n x K x (k+1)  over 0 .. k where a strength is the expectation of one
  // Where a memory is pushed, popped or read at two ends, these names end in _top and _bottom.
  virtual NamedTensors strengths(const Tensor& hiddens) const { return {}; }

  // The stack as a model uses it that is evaluated and not trained; the parameters and the states
  // are the same. Null where there is no difference.
  virtual std::shared_ptr<const Stack> evaluated() const { return nullptr; }

  // The action no_op of the step that `hidden` : B x H drives; nothing where the stack has none.
  virtual std::optional<NoOp> no_op(const Tensor& hidden) const { return std::nullopt; }

  // A stack that is an automaton: the logarithms of the transition weights that `hidden` gives a
  // step, B x C x W (see nondeterministic.h). Undefined for any other stack.
  virtual Tensor log_transition_weights(const Tensor& hidden) const { return {}; }

  // Whether its step can be a part of a recorded program.
  virtual bool recordable() const { return false; }
  // The same of sequences of that many steps.
  virtual bool records(std::int64_t steps) const { return recordable(); }
  // Whether gradients can end within a recorded sequence.
  virtual bool can_be_cut() const { return recordable(); }
  // Records the reading before the update of a step of `batch` sequences.
  virtual Traced record_reading(StepTrace& trace, std::int64_t batch, std::int64_t steps) const {
    return trace.reading(reading_size());
  }
  // Records the update that `hidden` drives; `reading` is what record_reading() gave. `steps`: of
  // the sequence, after the last of which nothing is read.
  virtual TracedNoOp record(StepTrace& trace, const Traced& hidden, const Traced& reading,
                            std::int64_t steps) const;

  // How many numbers of a sequence a recorded run takes over from the run before it, where `count`
  // grows by one with every update; 0: it cannot take anything over.
  virtual std::int64_t held_size(std::int64_t count) const { return 0; }
  // The state as a recorded run takes it over.
  virtual HeldMemory held(const StackStatePtr& state) const { return {}; }
  // The state after a run that began with `old` and left these numbers.
  virtual StackStatePtr after_held(const StackStatePtr& old, const Tensor& numbers,
                                   std::int64_t count) const {
    return old;
  }

  // Of a stack that a script defined: where. Such a stack runs on the thread of that script alone.
  virtual OriginPtr origin() const { return nullptr; }

  // Trainable tensors of the action layer, by name. The tensors are shared, not copied.
  const ParameterList& parameters() const { return parameters_; }

 protected:
  ParameterList parameters_;
};
using StackPtr = std::shared_ptr<Stack>;

struct StackKind : RegistryRow<std::function<StackPtr(const Json& options, const ModuleContext&)>> {
  // The tensors that simulate() takes, each with shape and meaning; empty: cannot be simulated.
  std::vector<std::pair<std::string, std::string>> inputs;
  // Options of the bare structure (sizes, conventions).
  std::vector<OptionSpec> simulate_options;
  // Drives the bare structure: readings B x (n+1) x R, the reading before any step first.
  // Differentiable in every floating-point input.
  std::function<Tensor(const Json& options, const NamedTensors& inputs)> simulate;
  // The same as Stack::strengths of the bare structure; null where there are none.
  std::function<NamedTensors(const Json& options, const NamedTensors& inputs)> strengths;
};

const std::vector<StackKind>& stack_kinds();

// {kind = 'superposition', size = 2} -> a stack with freshly initialised parameters. `kinds`: those
// there are, if they are more than the registry's.
StackPtr make_stack(const Json& options, const ModuleContext& context,
                    const std::vector<StackKind>& kinds = stack_kinds());

// {kind = ..., options...} and the named tensors -> readings.
Tensor simulate_stack(const Json& options, const NamedTensors& inputs,
                      const std::vector<StackKind>& kinds = stack_kinds());
// The same -> what Stack::strengths lists; std::invalid_argument for a kind without strengths.
NamedTensors simulate_strengths(const Json& options, const NamedTensors& inputs,
                                const std::vector<StackKind>& kinds = stack_kinds());

}  // namespace pushdown
