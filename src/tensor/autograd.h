// The project's own functions in LibTorch's autograd graph. Only files that define such a function
// include this header, because LibTorch's graph headers add two seconds to the compilation of a
// file.
//
//   struct Doubled final : AutogradNode {
//     std::string name() const override { return "Doubled"; }
//     variable_list apply(variable_list&& slopes) override { return {2 * slopes[0]}; }
//   };
//   const auto node = make_node<Doubled>();
//   Tensor result = 2 * x.detach();
//   if (gradients_wanted({x})) connect(node, result, {x});
#pragma once
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>

#include "tensor/torch.h"

namespace pushdown {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using AutogradNode = torch::autograd::Node;
template <class T>
using AutogradFunction = torch::autograd::Function<T>;

// From version 2.13, LibTorch counts the references to a node itself.
#if PUSHDOWN_TORCH_AT_LEAST(2, 13)
template <class N>
using NodePtr = c10::intrusive_ptr<N>;

template <class N, class... Args>
NodePtr<N> make_node(Args&&... args) {
  return c10::make_intrusive<N>(std::forward<Args>(args)...);
}
#else
template <class N>
using NodePtr = std::shared_ptr<N>;

template <class N, class... Args>
NodePtr<N> make_node(Args&&... args) {
  // deleteNode() frees long graphs without recursion.
  return {new N(std::forward<Args>(args)...), torch::autograd::deleteNode};
}
#endif

// Returns whether a result computed from these inputs must be part of the graph.
inline bool gradients_wanted(const variable_list& inputs) {
  return at::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(inputs);
}

// Adds `result` to the graph; `node` is the function that computed it from `inputs`.
template <class N>
void connect(const NodePtr<N>& node, Tensor& result, const variable_list& inputs) {
  node->set_next_edges(torch::autograd::collect_next_edges(inputs));
  torch::autograd::create_gradient_edge(result, node);
}

}  // namespace pushdown
