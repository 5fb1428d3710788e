#include "stack/parallel_actions.h"

namespace pushdown {

Tensor ParallelActions::actions(const Tensor& hidden, bool rounded) const {
  const Tensor shares = action_(hidden).view({hidden.size(0), memories_, -1}).softmax(2);
  return rounded ? round_actions(shares) : shares;
}

Tensor round_actions(const Tensor& actions) {
  return at::one_hot(actions.argmax(-1), actions.size(-1)).to(actions.scalar_type());
}

namespace {

OptionSpec no_op_option() { return boolean_option("no_op", false, "allow the action no_op"); }
OptionSpec empty_option() {
  return number_option("empty", -1.0, "value of a cell that was never written").trying(0.5);
}

}  // namespace

std::vector<OptionSpec> parallel_options() {
  return {no_op_option(), empty_option(),
          boolean_option("bias", false, "give the action layers a bias"),
          boolean_option("rounding", false,
                         "replace the actions by the most probable one in evaluation")};
}

std::vector<OptionSpec> parallel_simulate_options() {
  return {
      no_op_option(), empty_option(),
      boolean_option("rounding", false, "replace the actions by the one with the greatest weight")};
}

}  // namespace pushdown
