// Shared by the two nondeterministic stacks: the state of a network's stack automaton, stored as
// plain tensors (nondeterministic.h) or in the memory of the fast version, and the bare automaton
// over a whole sequence. With a window, a detached state consists of plain tensors of bounded size;
// the next step creates a new memory from them. The value read is u : B x C, or for a vector stack
// the vectors : B x C*m.
#pragma once
#include "stack/kinds.h"
#include "stack/nondeterministic_fast.h"

namespace pushdown {

struct AutomatonState : StackState {
  NondeterministicShape shape;
  bool fast = false;          // whether the following states may use the fast version
  StackAutomaton automaton;   // of the plain version
  AutomatonMemoryPtr memory;  // of the fast version, shared by the states of a sequence
  std::int64_t node = 1;
  Tensor read;  // value read at the node

  StackStatePtr detached() const override;
  std::size_t bytes() const override;
  // Returns the plain version's automaton. The fast version stores its numbers outside tensors:
  // with a window they are copied if they are constant, without a window this is an error.
  std::vector<Tensor> tensors() const override;
  StackStatePtr with_tensors(const std::vector<Tensor>& given) const override;
};

// bottom : m, for a vector stack.
StackStatePtr initial_state(const NondeterministicShape& shape, bool fast, std::int64_t batch,
                            std::int64_t length, at::TensorOptions options,
                            const Tensor& bottom = {});
// scores : B x C*W, converted to weights by a softmax over each of the C rows or by an exponential;
// vectors : B x m.
StackStatePtr next_state(const NondeterministicShape& shape, const StackStatePtr& state,
                         const Tensor& scores, bool normalized, const Tensor& vectors = {});
// weights : B x n x C x W, or their logarithms; vectors : B x n x m; bottom : m. Returns the values
// read after 0 .. n steps : B x (n+1) x R.
Tensor run_automaton(const NondeterministicShape& shape, bool fast, const Tensor& weights,
                     bool logs, const Tensor& vectors = {}, const Tensor& bottom = {});
// Returns the checked input of simulate(), and whether it was `log_weights` instead of `weights`.
std::pair<Tensor, bool> simulated_weights(std::string_view kind, const NondeterministicShape& shape,
                                          const NamedTensors& inputs);

OptionSpec fast_option();
// Creates the action layer, which computes transition scores. Initialised with U(-0.1, 0.1), or
// with Xavier for the weight and U(-0.1, 0.1) for the bias.
ActionLayer make_transition_layer(const NondeterministicShape& shape, const Json& options,
                                  const ModuleContext& context, ParameterList& parameters);
OptionSpec initialization_option();
// Returns the memory of recorded steps.
MemoryShape automaton_memory(const NondeterministicShape& shape, bool normalized,
                             std::int64_t steps);

}  // namespace pushdown
