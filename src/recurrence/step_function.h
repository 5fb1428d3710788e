// A run of a recorded step as one autograd function of all tensors that it reads. For the files of
// this folder.
//
// A Machine has forward(), backward(slopes : B x T x n), output(options) : B x T x n, and
// gradients(options) : those of the matrices, then of what is given, then of what `previous` nodes
// see at first, each in the order of their nodes; undefined where none is wanted.
#pragma once
#include <optional>

#include "base/check.h"
#include "recurrence/step_trace.h"
#include "tensor/autograd.h"

namespace pushdown {

template <class Machine>
struct StepsNode final : AutogradNode {
  std::optional<Machine> machine;
  at::TensorOptions options;

  std::string name() const override { return "RecurrentSteps"; }
  void release_variables() override { machine.reset(); }
  variable_list apply(variable_list&& given) override {
    check(machine.has_value(), "backward",
          "the graph was used and freed; keep it with retain_graph");
    at::AutoGradMode no_gradient(false);
    machine->backward(given[0].contiguous());
    return machine->gradients(options);
  }
};

// make(node's machine, program, whether gradients are wanted)
template <class Machine, class Make>
Tensor run_machine(TracedProgram&& program, const at::TensorOptions& options, const Make& make) {
  variable_list inputs = program.matrices;
  for (const Tensor& given : program.given)
    if (given.defined()) inputs.push_back(given);
  for (const Tensor& initial : program.initial)
    if (initial.defined()) inputs.push_back(initial);
  const bool gradients = gradients_wanted(inputs);
  const auto node = make_node<StepsNode<Machine>>();
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node->options = options;
    make(node->machine, std::move(program), gradients);
    node->machine->forward();
    result = node->machine->output(options);
  }
  if (gradients) connect(node, result, inputs);
  return result;
}

}  // namespace pushdown
