// The rows of the stack registry, one per file of this folder, and what their files share.
#pragma once
#include "stack/stack.h"

namespace pushdown {

StackKind none_stack();
StackKind superposition_stack();
StackKind stratification_stack();
StackKind nondeterministic_stack();
StackKind vector_nondeterministic_stack();

// An affine layer of a stack's action interface: weight rows x H, bias rows.
struct ActionLayer {
  Tensor weight, bias;
  Tensor operator()(const Tensor& hidden) const { return at::linear(hidden, weight, bias); }
};

// Weight Xavier uniform with `gain`, bias U(-0.1, 0.1); appended to `parameters` as
// {name}_weight and {name}_bias.
ActionLayer make_action_layer(const std::string& name, std::int64_t rows, double gain,
                              const ModuleContext& context, ParameterList& parameters);

// The named input of simulate(), checked for its shape; -1 in `shape` matches any size.
const Tensor& simulate_input(std::string_view kind, const NamedTensors& inputs,
                             const std::string& name, at::IntArrayRef shape);

}  // namespace pushdown
