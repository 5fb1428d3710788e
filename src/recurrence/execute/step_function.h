// Runs as autograd functions. Internal to this folder.
//
// A Run has forward(), which returns its result, and backward(slopes, contiguous), which returns
// the gradients of its inputs, undefined where none is wanted. A run with a memory that continues
// also has left(), the memory's final content, and backward(slopes, those of left(), undefined if
// it was not used).
#pragma once
#include <optional>

#include "base/check.h"
#include "recurrence/trace/step_trace.h"
#include "tensor/autograd.h"

namespace pushdown {

template <class Run>
struct RunNode final : AutogradNode {
  const char* label = "";
  std::optional<Run> run;

  std::string name() const override { return label; }
  void release_variables() override { run.reset(); }
  variable_list apply(variable_list&& given) override {
    check(run.has_value(), "backward",
          "an earlier backward pass freed the graph; keep it with retain_graph");
    check(!at::GradMode::is_enabled(), "backward",
          "kernels support only first derivatives; make the model with kernels = false");
    at::AutoGradMode no_gradient(false);
    const auto slopes = [&](std::size_t k) {
      return given[k].defined() ? given[k].contiguous()
                                : this->input_metadata(static_cast<std::uint32_t>(k)).zeros_like();
    };
    if constexpr (requires(Tensor of) { run->backward(of, of); })
      if (given.size() > 1) return run->backward(slopes(0), given[1]);
    return run->backward(slopes(0));
  }
};

// Calls make(the node's run, whether gradients are wanted). If `left` is not null, it receives
// left().
template <class Run, class Make>
Tensor run_function(const char* label, const variable_list& inputs, const Make& make,
                    Tensor* left = nullptr) {
  const bool gradients = gradients_wanted(inputs);
  const auto node = make_node<RunNode<Run>>();
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node->label = label;
    make(node->run, gradients);
    result = node->run->forward();
    if constexpr (requires { node->run->left(); })
      if (left != nullptr) *left = node->run->left();
  }
  if (gradients) connect(node, result, inputs);
  if (gradients && left != nullptr) torch::autograd::create_gradient_edge(*left, node);
  return result;
}

// Returns the inputs of a recorded step: the matrices, then the given tensors, then the initial
// values of `previous` nodes and what a memory takes over, each in the order of their nodes.
inline variable_list program_inputs(const TracedProgram& program) {
  variable_list inputs = program.matrices;
  for (const auto* tensors : {&program.given, &program.initial})
    for (const Tensor& tensor : *tensors)
      if (tensor.defined()) inputs.push_back(tensor);
  return inputs;
}

}  // namespace pushdown
