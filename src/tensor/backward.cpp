#include "tensor/backward.h"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include "base/stopping.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

// Checks the stop flag of the thread that runs the pass.
struct StopHook final : torch::autograd::FunctionPreHook {
  variable_list operator()(const variable_list& slopes) override {
    StopCheck()();
    return slopes;
  }
};

bool is_watched(const AutogradNode& node) {
  return std::any_of(node.pre_hooks().begin(), node.pre_hooks().end(), [](const auto& hook) {
    return dynamic_cast<const StopHook*>(hook.get()) != nullptr;
  });
}

// Adds the hook to every node reachable from `root`. A node that already has the hook is skipped,
// because all nodes reachable from it have it, too.
void watch(AutogradNode* root) {
  std::vector<AutogradNode*> open{root};
  std::unordered_set<AutogradNode*> seen{root};
  while (!open.empty()) {
    AutogradNode& node = *open.back();
    open.pop_back();
    if (is_watched(node)) continue;
    node.add_pre_hook(std::make_unique<StopHook>());
    for (const auto& edge : node.next_edges())
      if (edge.function && seen.insert(edge.function.get()).second)
        open.push_back(edge.function.get());
  }
}

}  // namespace

void run_backward(const Tensor& root, const Tensor& gradient, bool retain) {
  if (StopCheck().flag() != nullptr && root.grad_fn()) watch(root.grad_fn().get());
  root.backward(gradient, retain);
}

namespace {
thread_local int second_derivatives = 0;
}  // namespace

SecondDerivatives::SecondDerivatives() { ++second_derivatives; }
SecondDerivatives::~SecondDerivatives() { --second_derivatives; }
bool SecondDerivatives::wanted() { return second_derivatives > 0; }

}  // namespace pushdown
