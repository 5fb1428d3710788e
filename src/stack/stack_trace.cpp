#include "stack/stack_trace.h"

#include "base/check.h"

namespace pushdown {

StackTrace trace_of(const Stack& stack, const Tensor& hiddens) {
  const auto* traceable = dynamic_cast<const TraceableStack*>(&stack);
  check(traceable != nullptr, "model.trace", "this kind of stack has no actions to trace");
  StackTrace trace = traceable->trace(hiddens);
  trace.readings = stack.readings(hiddens.unsqueeze(0))[0];
  return trace;
}

StackTrace mixture_trace(const Tensor& weights, std::int64_t limit) {
  const auto steps = weights.size(0), memories = weights.size(1), actions = weights.size(2);
  StackTrace trace{{"push", "pop"}, weights};
  if (actions > 2) trace.actions.emplace_back("no_op");
  const auto deepest = limit > 0 ? std::min(limit, steps) : steps;
  Tensor now = at::zeros({memories, deepest + 1}, weights.options());  // K x D
  now.select(1, 0).fill_(1);
  std::vector<Tensor> all;
  for (std::int64_t t = 0; t < steps; ++t) {
    const Tensor step = weights[t];
    // Depths beyond both ends count as the last ones.
    Tensor up = at::constant_pad_nd(now, {1, 0}), down = at::constant_pad_nd(now, {0, 1});
    up.select(1, deepest).add_(up.select(1, deepest + 1));
    down.select(1, 1).add_(down.select(1, 0));
    Tensor next = step.select(1, 0).unsqueeze(1) * up.narrow(1, 0, deepest + 1) +
                  step.select(1, 1).unsqueeze(1) * down.narrow(1, 1, deepest + 1);
    if (actions > 2) next = next + step.select(1, 2).unsqueeze(1) * now;
    all.push_back(now = next);
  }
  trace.depths = all.empty() ? at::zeros({0, memories, 1}, weights.options()) : at::stack(all);
  trace.depth = trace.depths.matmul(at::arange(trace.depths.size(2), weights.options()));
  return trace;
}

StackTrace head_trace(std::vector<std::string> actions, const Tensor& weights,
                      const std::vector<double>& moves) {
  StackTrace trace{std::move(actions), weights, "head"};
  trace.depth = weights.matmul(at::tensor(moves, at::kDouble).to(weights.options())).cumsum(0);
  return trace;
}

StackTrace length_trace(const Tensor& lengths) {
  const Tensor changes =
      lengths - at::constant_pad_nd(lengths, {0, 0, 1, 0}).narrow(0, 0, lengths.size(0));
  return {{"push", "pop"}, at::stack({changes.relu(), (-changes).relu()}, 2), "depth", lengths};
}

}  // namespace pushdown
