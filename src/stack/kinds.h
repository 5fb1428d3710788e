// The rows of the stack registry, one per file of this folder, and what their files share.
#pragma once
#include "stack/stack.h"

namespace pushdown {

// The list of stacks, in the order in which users see it: one function for each.
#define PUSHDOWN_STACK_KINDS(ROW)    \
  ROW(none_stack)                    \
  ROW(superposition_stack)           \
  ROW(stratification_stack)          \
  ROW(stratification_queue)          \
  ROW(stratification_deque)          \
  ROW(nondeterministic_stack)        \
  ROW(vector_nondeterministic_stack) \
  ROW(parallel_superposition_stack)  \
  ROW(list_stack)                    \
  ROW(baby_ntm_stack)                \
  ROW(analog_stack)

#define PUSHDOWN_DECLARE(name) StackKind name();
PUSHDOWN_STACK_KINDS(PUSHDOWN_DECLARE)
#undef PUSHDOWN_DECLARE

// An affine layer of a stack's action interface: weight rows x H, bias rows or undefined.
struct ActionLayer {
  Tensor weight, bias;
  template <class V>
  V operator()(const V& hidden) const {
    return pushdown::linear(hidden, weight, bias);
  }
};

// Weight Xavier uniform with `gain`, bias U(-0.1, 0.1); appended to `parameters` as
// {name}_weight and {name}_bias.
ActionLayer make_action_layer(const std::string& name, std::int64_t rows, double gain,
                              const ModuleContext& context, ParameterList& parameters,
                              bool bias = true);

// softmax(layer(hidden) / temperature) over the last dimension.
Tensor action_shares(const ActionLayer& layer, const Tensor& hidden, double temperature);
Traced action_shares(const ActionLayer& layer, const Traced& hidden, double temperature);
OptionSpec temperature_option();

// actions : B x A or, of K memories side by side, B x K x A, where `column` is no_op.
NoOp no_op_among(const Tensor& actions, std::int64_t column);
// Of memories side by side with `count` actions each.
TracedNoOp no_op_among(const Traced& actions, std::int64_t count, std::int64_t column);
// Records the update of a shifted memory (kernel/memory/shifted.h) by the weights of its actions
// and what it puts in.
void record_shifted(StepTrace& trace, const Traced& weights, const Traced& values,
                    const Traced& reading, std::int64_t steps, MemoryShape shape);

// The layer of the pushed vector where it can be a sigmoid or nothing more than linear, with the
// options `bias` (of all action layers) and `vector`.
class PushedVector {
 public:
  PushedVector(const Json& options, std::int64_t size, const ModuleContext& context,
               ParameterList& parameters)
      : layer_(make_action_layer("vector", size, 1.0, context, parameters, options["bias"])),
        sigmoid_(options["vector"] == "sigmoid") {}
  template <class V>
  V operator()(const V& hidden) const {
    return sigmoid_ ? layer_(hidden).sigmoid() : layer_(hidden);
  }

 private:
  ActionLayer layer_;
  bool sigmoid_;
};
std::vector<OptionSpec> pushed_vector_options();

// The named input of simulate(), checked for its shape; -1 in `shape` matches any size.
Tensor simulate_input(std::string_view kind, const NamedTensors& inputs, const std::string& name,
                      at::IntArrayRef shape);

}  // namespace pushdown
