// Runs as autograd functions. For the files of this folder.
//
// A Run has forward() : its result, and backward(slopes, contiguous) : the gradients of its inputs,
// undefined where none is wanted. A run of a memory that goes on also has left() : what the memory
// leaves, and backward(slopes, those of left()).
#pragma once
#include <optional>

#include "base/check.h"
#include "recurrence/step_trace.h"
#include "tensor/autograd.h"

namespace pushdown {

template <class Run>
struct RunNode final : AutogradNode {
  const char* label = "";
  std::optional<Run> run;

  std::string name() const override { return label; }
  void release_variables() override { run.reset(); }
  variable_list apply(variable_list&& given) override {
    check(run.has_value(), "backward", "the graph was used and freed; keep it with retain_graph");
    check(!at::GradMode::is_enabled(), "backward",
          "kernels have first derivatives alone; make the model with kernels = false");
    at::AutoGradMode no_gradient(false);
    const auto slopes = [&](std::size_t k) {
      return given[k].defined() ? given[k].contiguous()
                                : this->input_metadata(static_cast<std::uint32_t>(k)).zeros_like();
    };
    if constexpr (requires(Tensor of) { run->backward(of, of); })
      if (given.size() > 1) return run->backward(slopes(0), slopes(1));
    return run->backward(slopes(0));
  }
};

// make(the node's run, whether gradients are wanted). left: gets left(), unless it is null.
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

// What a recorded step reads: the matrices, then what is given, then what `previous` nodes see at
// first and what a memory takes over, each in the order of their nodes.
inline variable_list program_inputs(const TracedProgram& program) {
  variable_list inputs = program.matrices;
  for (const auto* tensors : {&program.given, &program.initial})
    for (const Tensor& tensor : *tensors)
      if (tensor.defined()) inputs.push_back(tensor);
  return inputs;
}

}  // namespace pushdown
