// The action layer of parallel memories of scalars (Joulin and Mikolov 2015). Memory k has its own
// softmax over the A actions and its own pushed value:
//   a_k = softmax(A_k h),   v_k = sigmoid(D_k h),   with biases if the option `bias` is set.
// When rounded, each softmax is replaced by 1 at its greatest action (the first of equals) and 0
// elsewhere; no gradient flows through it.
//
// Dimension letters: B batch, H hidden, K memories, A actions.
#pragma once
#include "stack/kinds.h"

namespace pushdown {

class ParallelActions {
 public:
  ParallelActions(std::int64_t memories, std::int64_t actions, const Json& options,
                  const ModuleContext& context, ParameterList& parameters)
      : memories_(memories),
        action_(make_action_layer("action", memories * actions, 1.0, context, parameters,
                                  options["bias"])),
        value_(make_action_layer("value", memories, 1.0, context, parameters, options["bias"])) {}

  // hidden : B x H -> B x K x A
  Tensor actions(const Tensor& hidden, bool rounded) const;
  // Records the same, memory by memory.
  Traced actions(const Traced& hidden, bool rounded) const {
    const Traced scores = action_(hidden);
    const auto count = scores.size() / memories_;
    return rounded ? scores.greatest_of_groups(count) : scores.softmax_of_groups(count);
  }
  // hidden : B x H -> B x K
  template <class V>
  V values(const V& hidden) const {
    return value_(hidden).sigmoid();
  }

 private:
  std::int64_t memories_;
  ActionLayer action_, value_;
};

// Returns the tensor ... x A with 1 at the greatest of each A and 0 elsewhere.
Tensor round_actions(const Tensor& actions);

// Returns the options no_op, empty, bias, rounding.
std::vector<OptionSpec> parallel_options();
// Returns the options no_op, empty, rounding.
std::vector<OptionSpec> parallel_simulate_options();

}  // namespace pushdown
