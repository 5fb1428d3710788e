// The interface of a differentiable stack as part of a network: a memory driven by a controller's
// hidden vector. It owns its action layer (hidden -> actions). The registry's `simulate` gives
// access to the bare data structure without the action layer.
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
#include "recurrence/trace/step_trace.h"
#include "tensor/module_context.h"

namespace pushdown {

// The state of a stack between two steps; immutable for its user.
class StackState {
 public:
  virtual ~StackState() = default;
  // Returns the same numbers without a gradient.
  virtual std::shared_ptr<const StackState> detached() const = 0;
  // Returns the size of its tensors.
  virtual std::size_t bytes() const = 0;
  // Returns the tensors through which gradients flow from step to step, B x ... each, in a fixed
  // order; everything else in the state is constant or follows from them. Their shapes may change
  // with a step. Throws std::invalid_argument if a stack has no such form.
  virtual std::vector<Tensor> tensors() const;
  // Returns the same state with these tensors in their places, which must have the same shapes.
  virtual std::shared_ptr<const StackState> with_tensors(const std::vector<Tensor>& tensors) const;
};
using StackStatePtr = std::shared_ptr<const StackState>;

// Check of with_tensors() for a state whose tensors are `own`: throws std::invalid_argument unless
// `given` has the same number of tensors with the same shapes.
void check_state_tensors(std::string_view where, const std::vector<Tensor>& own,
                         const std::vector<Tensor>& given);

std::size_t tensor_bytes(const Tensor& tensor);  // 0 for an undefined tensor

// The share of the action no_op in one step, which leaves every cell unchanged. Parallel memories
// each have their own actions, and all of them must choose no_op.
struct NoOp {
  Tensor weight;    // B x 1: its weight, the product over parallel memories
  Tensor greatest;  // B x 1, bool: whether it exceeds every other action, in each memory
};

// The recorded form, one number each; undefined if the stack has no such action.
struct TracedNoOp {
  Traced weight, greatest;
};

// What a network asks of the recorded form of its stack.
struct StackRequest {
  std::int64_t batch = 0;
  std::int64_t steps = 0;  // of the sequence; nothing is read after the last one
  bool cut = false;        // whether gradients end within the sequence
  // The state from which the sequence goes on, and the hidden vector that still drives its update,
  // if any. Without a state the sequence begins with the initial one.
  StackStatePtr from;
  Tensor driven_by;  // B x H
  // Of the pairs of a transducer that begin with the sequence: the lengths of their sources, B.
  Tensor sources;
};

// A stack as a part of one recorded program (recurrence/trace/step_trace.h). Valid as long as the
// stack.
class RecordedStack {
 public:
  virtual ~RecordedStack() = default;
  // Records the reading before the update of a step, undefined for a reading of size 0.
  virtual Traced reading(StepTrace& trace) = 0;
  // Records the update that `hidden` drives; `reading` is the result of reading().
  virtual TracedNoOp update(StepTrace& trace, const Traced& hidden, const Traced& reading) = 0;
  // Returns the vector of the step that is the state before its update. Undefined if a memory has
  // the state, which a run that goes on leaves (StepTrace::take_over).
  virtual Traced state() const { return {}; }
  // Returns the state that the run left, before the update of its last step, from these numbers,
  // B x m; for a request with `from`.
  virtual StackStatePtr left(const Tensor& numbers) const = 0;
};
using RecordedStackPtr = std::unique_ptr<RecordedStack>;

// Named tensors: inputs of the bare data structure, or the values of a run.
using NamedTensors = std::map<std::string, Tensor>;

class Stack {
 public:
  virtual ~Stack() = default;

  virtual std::int64_t reading_size() const = 0;
  // Returns the stack before any symbol was read. `length`: the expected number of updates; more
  // are possible.
  virtual StackStatePtr initial(std::int64_t batch, std::int64_t length) const = 0;
  // Returns the initial state `state` for pairs whose sources have these lengths, B (int64), which
  // few stacks use.
  virtual StackStatePtr with_sources(const StackStatePtr& state, const Tensor& sources) const {
    return state;
  }
  // Makes one step, driven by hidden : B x H.
  virtual StackStatePtr update(const StackStatePtr& state, const Tensor& hidden) const = 0;
  virtual Tensor reading(const StackStatePtr& state) const = 0;  // B x R
  // Returns the readings after each of n steps from the beginning: hiddens : B x n x H -> B x n x
  // R.
  Tensor readings(const Tensor& hiddens) const;
  // Returns the effect of the same n steps on a memory of sections with strengths, for pictures;
  // empty for any other memory. There are K parallel memories with S places for sections, bottom
  // first. A section keeps its place and is 0 before its push:
  //   strengths        B x n x K x S  after each step
  //   push, pop        B x n x K      of each step
  //   read             B x n x K x S  the share of each section in the reading after each step
  //   read_strength    B x n x K      of each reading
  //   push_distribution, pop_distribution, read_distribution
  //                    B x n x K x (k+1)  over 0 .. k if a strength is the expectation of one
  // If a memory is pushed, popped or read at two ends, these names end in _top and _bottom.
  virtual NamedTensors strengths(const Tensor& hiddens) const { return {}; }

  // Returns the stack for a model that is evaluated and not trained; parameters and states are the
  // same. Null if there is no difference.
  virtual std::shared_ptr<const Stack> evaluated() const { return nullptr; }

  // Returns the action no_op of the step that `hidden` : B x H drives, or nothing if the stack has
  // no such action.
  virtual std::optional<NoOp> no_op(const Tensor& hidden) const { return std::nullopt; }

  // For a stack that is an automaton: returns the logarithms of the transition weights that
  // `hidden` gives a step, B x C x W (see nondeterministic.h). Undefined for any other stack.
  virtual Tensor log_transition_weights(const Tensor& hidden) const { return {}; }

  // Returns the recorded form for this request; null if the stack has none that meets it.
  virtual RecordedStackPtr recorded(const StackRequest& request) const { return nullptr; }

  // For a stack that a script defined: the place of the definition. Its functions run only on
  // the thread of that script.
  virtual OriginPtr origin() const { return nullptr; }

  // Returns the trainable tensors of the action layer by name. The tensors are shared, not copied.
  const ParameterList& parameters() const { return parameters_; }

 protected:
  ParameterList parameters_;
};
using StackPtr = std::shared_ptr<Stack>;

struct StackKind : RegistryRow<std::function<StackPtr(const Json& options, const ModuleContext&)>> {
  // Inputs of simulate(), each with shape and meaning; empty: cannot be simulated.
  std::vector<std::pair<std::string, std::string>> inputs;
  // Options of the bare data structure (sizes, conventions).
  std::vector<OptionSpec> simulate_options;
  // Runs the bare data structure. Returns readings B x (n+1) x R, starting with the reading before
  // any step. Differentiable in every floating-point input.
  std::function<Tensor(const Json& options, const NamedTensors& inputs)> simulate;
  // Returns Stack::strengths of the bare data structure; null if it has no strengths.
  std::function<NamedTensors(const Json& options, const NamedTensors& inputs)> strengths;
};

const std::vector<StackKind>& stack_kinds();

// {kind = 'superposition', size = 2} -> a stack with newly initialised parameters. `kinds`: the
// available kinds, which may be more than the registry's.
StackPtr make_stack(const Json& options, const ModuleContext& context,
                    const std::vector<StackKind>& kinds = stack_kinds());

// {kind = ..., options...} and the named tensors -> readings.
Tensor simulate_stack(const Json& options, const NamedTensors& inputs,
                      const std::vector<StackKind>& kinds = stack_kinds());
// Returns the tensors listed at Stack::strengths. Throws std::invalid_argument for a kind without
// strengths.
NamedTensors simulate_strengths(const Json& options, const NamedTensors& inputs,
                                const std::vector<StackKind>& kinds = stack_kinds());

}  // namespace pushdown
