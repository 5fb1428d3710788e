// What the files of the stacks share.
#pragma once
#include "stack/memory_stack.h"

namespace pushdown {

// An affine layer of a stack's action interface: weight rows x H, bias rows or undefined.
struct ActionLayer {
  Tensor weight, bias;
  template <class V>
  V operator()(const V& hidden) const {
    return pushdown::linear(hidden, weight, bias);
  }
};

// Creates a layer with a Xavier uniform weight with `gain` and a bias from U(-0.1, 0.1). Appends
// them to `parameters` as {name}_weight and {name}_bias.
ActionLayer make_action_layer(const std::string& name, std::int64_t rows, double gain,
                              const ModuleContext& context, ParameterList& parameters,
                              bool bias = true);

// Returns softmax(layer(hidden) / temperature) over the last dimension.
Tensor action_shares(const ActionLayer& layer, const Tensor& hidden, double temperature);
Traced action_shares(const ActionLayer& layer, const Traced& hidden, double temperature);
OptionSpec temperature_option();

// actions : B x A, or B x K x A for K parallel memories; `column` is the index of no_op.
NoOp no_op_among(const Tensor& actions, std::int64_t column);
// For parallel memories with `count` actions each.
TracedNoOp no_op_among(const Traced& actions, std::int64_t count, std::int64_t column);

// The layer of the pushed vector for stacks in which it may be a sigmoid, linear or an exponential
// function, with the options `bias` (of all action layers) and `vector`.
class PushedVector {
 public:
  PushedVector(const Json& options, std::int64_t size, const ModuleContext& context,
               ParameterList& parameters)
      : layer_(make_action_layer("vector", size, 1.0, context, parameters, options["bias"])),
        activation_(options["vector"]) {}
  template <class V>
  V operator()(const V& hidden) const {
    if (activation_ == "sigmoid") return layer_(hidden).sigmoid();
    return activation_ == "exp" ? layer_(hidden).exp() : layer_(hidden);
  }

 private:
  ActionLayer layer_;
  std::string activation_;
};
std::vector<OptionSpec> pushed_vector_options();

// Returns the named input of simulate() after checking its shape; -1 in `shape` matches any size.
Tensor simulate_input(std::string_view kind, const NamedTensors& inputs, const std::string& name,
                      at::IntArrayRef shape);

}  // namespace pushdown
