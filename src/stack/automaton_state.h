// What the two nondeterministic stacks share: the state of a network's stack automaton, kept as
// plain tensors (nondeterministic.h) or in the memory of the fast twin, and the bare automaton over
// a whole sequence. With a window a detached state is plain tensors, which do not grow; the next
// step makes a new memory of them. What is read is u : B x C, or of a vector stack the vectors : B
// x C*m.
#pragma once
#include "stack/kinds.h"
#include "stack/nondeterministic_fast.h"

namespace pushdown {

struct AutomatonState : StackState {
  NondeterministicShape shape;
  bool fast = false;          // whether what comes next may be the fast version's
  StackAutomaton automaton;   // of the plain version
  AutomatonMemoryPtr memory;  // of the fast version, shared by the states of a sequence
  std::int64_t node = 1;
  Tensor read;  // of the node

  StackStatePtr detached() const override;
  std::size_t bytes() const override;
  // The plain version's automaton. The fast one keeps its numbers outside of tensors: with a window
  // they are copied where they are constant, without one they are refused.
  std::vector<Tensor> tensors() const override;
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override;
};

// bottom : m, of a vector stack.
StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, std::int64_t batch,
                            std::int64_t length, at::TensorOptions options,
                            const Tensor& bottom = {});
// scores : B x C*W, turned into weights by a softmax over each of the C rows or an exponential;
// vectors : B x m.
StackStatePtr next_state(const NondeterministicShape& shape, const StackStatePtr& state,
                         const Tensor& scores, bool normalized, const Tensor& vectors = {});
// weights : B x n x C x W, or their logarithms; vectors : B x n x m; bottom : m. What is read after
// 0 .. n steps : B x (n+1) x R.
Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors = {}, const Tensor& bottom = {});
// The input `weights` or `log_weights` of simulate(), checked; says which.
std::pair<Tensor, bool> simulated_weights(std::string_view kind, const NondeterministicShape& shape,
                                          const NamedTensors& inputs);

OptionSpec fast_option();
// The action layer: scores of the transitions; U(-0.1, 0.1), or Xavier and U(-0.1, 0.1).
ActionLayer make_transition_layer(const NondeterministicShape& shape, const Json& options,
                                  const ModuleContext& context, ParameterList& parameters);
OptionSpec initialization_option();
// The memory of recorded steps.
MemoryShape automaton_memory(const NondeterministicShape& shape, bool normalized,
                             std::int64_t steps);

}  // namespace pushdown
