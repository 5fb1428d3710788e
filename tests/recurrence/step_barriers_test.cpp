// The barriers of teams: between two element-wise operations none is needed. A product, and
// operations that read it in other threads, need one.
#include "recurrence/program/step_barriers.h"

#include <gtest/gtest.h>

#include "kernel/step/device_step.h"
#include "recurrence/program/step_text.h"

namespace pushdown::step_barriers_test {
namespace {

std::vector<std::string> waiting(const TracedProgram& program, std::uint8_t what) {
  const auto waits = step_barriers(program);
  std::vector<std::string> operations;
  for (std::size_t n = 0; n < waits.size(); ++n)
    if (waits[n] & what) operations.emplace_back(operation_name(program.nodes[n]));
  return operations;
}

using Operations = std::vector<std::string>;

Tensor parameter(at::IntArrayRef size) { return at::ones(size).set_requires_grad(true); }

TEST(StepBarriers, AnElmanNetworkWaitsForItsProducts) {
  StepTrace trace(true);
  const Traced x = trace.symbols(3), before = trace.state(at::zeros({2, 4}));
  const Traced hidden = (pushdown::linear(x, parameter({4, 3}), parameter({4})) +
                         pushdown::linear(before, parameter({4, 4})))
                            .tanh();
  trace.bind(before, hidden);
  const TracedProgram program = trace.finish(hidden.sigmoid() * hidden);
  EXPECT_EQ(waiting(program, kWaitsForward), (Operations{"tanh"}));
  // The slope of the sum needs all threads.
  EXPECT_EQ(waiting(program, kWaitsBackward), (Operations{"affine"}));
  EXPECT_EQ(waiting(program, kWaitsWithin), Operations());
}

TEST(StepBarriers, PartsOfOtherThreadsNeedABarrier) {
  StepTrace trace(true);
  const Traced before = trace.state(at::zeros({1, 6}));
  const Traced whole = before.sigmoid();
  trace.bind(before, whole);
  // The thread of number 3 + i computed number i of the second half, and now another thread needs
  // it. This is not so for the first half.
  const Traced first = whole.narrow(1, 0, 3).tanh(), second = whole.narrow(1, 3, 3).relu();
  const TracedProgram program = trace.finish(first * second);
  EXPECT_EQ(waiting(program, kWaitsForward), (Operations{"relu"}));
}

TEST(StepBarriers, OverlappingNumbersNeedABarrierWithinAnOperation) {
  StepTrace trace(true);
  const Tensor start = at::zeros({1, 5}).set_requires_grad(true);
  const Traced before = trace.state(start);
  const Traced whole = before.sigmoid();
  trace.bind(before, whole);
  const TracedProgram program = trace.finish(whole.narrow(1, 0, 4) * whole.narrow(1, 1, 4));
  EXPECT_EQ(waiting(program, kWaitsWithin), (Operations{"mul"}));
  EXPECT_EQ(waiting(program, kWaitsBackward), (Operations{"sigmoid"}));
}

}  // namespace
}  // namespace pushdown::step_barriers_test
