// Recorded steps, compared with the same steps computed by LibTorch one after the other: values and
// all gradients.
#include "recurrence/execute/step_run.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/parallel.h"
#include "recurrence/everything.h"

namespace pushdown::step_run_test {
namespace {

using namespace testing_support;

TEST(RunSteps, EqualsPlainSteps) {
  for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 7}, {5, 2}, {9, 30}}) {
    Everything plain, recorded;
    const Tensor x = inputs_of(batch, steps, true), y = inputs_of(batch, steps, true);
    const Tensor wanted = run_plainly(plain, x), got = run_recorded(recorded, y);
    EXPECT_LT(largest_difference(wanted, got), 1e-13) << batch << " x " << steps;
    const Tensor probe = at::arange(wanted.numel(), at::kDouble).view_as(wanted).cos();
    (wanted * probe).sum().backward();
    (got * probe).sum().backward();
    EXPECT_LT(largest_difference(x.grad(), y.grad()), 1e-12);
    for (std::size_t i = 0; i < plain.tensors.size(); ++i)
      EXPECT_LT(largest_difference(plain.tensors[i].grad(), recorded.tensors[i].grad()), 1e-11)
          << i << ", " << batch << " x " << steps;
  }
}

TEST(RunSteps, EqualsPlainStepsWithoutGradients) {
  const Everything network;
  const Tensor x = inputs_of(4, 9, false);
  const at::NoGradGuard guard;
  EXPECT_LT(largest_difference(run_plainly(network, x), run_recorded(network, x)), 1e-13);
}

// Frozen parameters get no gradient, and the others get the same.
TEST(RunSteps, SkipsValuesThatAreNotDifferentiated) {
  Everything plain, recorded;
  for (Everything* network : {&plain, &recorded})
    for (const std::size_t frozen : {0, 1, 4}) network->tensors[frozen].requires_grad_(false);
  const Tensor x = inputs_of(2, 6, false);
  run_plainly(plain, x).sum().backward();
  run_recorded(recorded, x).sum().backward();
  for (std::size_t i = 0; i < plain.tensors.size(); ++i) {
    ASSERT_EQ(plain.tensors[i].grad().defined(), recorded.tensors[i].grad().defined()) << i;
    if (!plain.tensors[i].grad().defined()) continue;
    EXPECT_LT(largest_difference(plain.tensors[i].grad(), recorded.tensors[i].grad()), 1e-12) << i;
  }
}

TEST(RunSteps, SameNumbersForAnyThreadCount) {
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Everything network;
    const Tensor x = inputs_of(7, 20, true), y = run_recorded(network, x);
    y.sum().backward();
    std::vector<Tensor> all{y.detach().flatten(), x.grad().flatten()};
    for (const Tensor& tensor : network.tensors) all.push_back(tensor.grad().flatten());
    results.push_back(at::cat(all));
  }
  set_thread_count(1);
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

TEST(RunSteps, GivesGradientsOnce) {
  Everything network;
  const Tensor y = run_recorded(network, inputs_of(1, 3, false)).sum();
  y.backward();
  EXPECT_THROW(y.backward(), std::exception);
}

TEST(StepTrace, MapsOneHotVectorsByTheirSymbols) {
  const Tensor symbols = at::tensor({0, 2, 1, 1, 2, 0}, at::kLong).view({2, 3});
  const auto options = at::TensorOptions().dtype(at::kDouble);
  std::vector<Tensor> values, gradients;
  for (const bool chosen : {true, false}) {
    const Tensor weight = at::arange(12, options).view({4, 3}).sin().requires_grad_(),
                 other = at::eye(4, options);
    StepTrace trace;
    const Traced x = chosen ? trace.one_hot(symbols, 3, options)
                            : trace.sequence(at::one_hot(symbols, 3).to(at::kDouble));
    const Traced state = trace.state(at::ones({2, 4}, options));
    const Traced next = (pushdown::linear(x, weight) + pushdown::linear(state, other)).tanh();
    trace.bind(state, next);
    const Tensor y = run_steps(trace.finish(next), 2, 3, std::make_shared<BufferPool>());
    y.sum().backward();
    values.push_back(y.detach());
    gradients.push_back(weight.grad());
  }
  EXPECT_LT(largest_difference(values[0], values[1]), 1e-14);
  EXPECT_LT(largest_difference(gradients[0], gradients[1]), 1e-14);
}

// Values that depend only on inputs and parameters are not part of the recurrence, and neither are
// unused vectors.
TEST(StepTrace, KeepsTheValuesThatTheRecurrenceNeeds) {
  StepTrace trace;
  const Tensor weight = at::ones({2, 3}, at::kDouble);
  const Traced x = trace.sequence(inputs_of(1, 4, false));
  const Traced state = trace.state(at::zeros({1, 2}, at::kDouble));
  const Traced next = pushdown::linear(x, weight).sigmoid() * state;
  pushdown::linear(next, at::ones({5, 2}, at::kDouble)).tanh();  // unused
  trace.bind(state, next);
  const TracedProgram program = trace.finish(next);
  EXPECT_EQ(program.matrices.size(), 0u);
  ASSERT_EQ(program.nodes.size(), 3u);
  EXPECT_EQ(program.nodes.back().function, ArrayFunction::multiply);
}

// The parts of `gates` are not whole vectors, and their gradients are set in another order than
// that of their places.
template <class V>
std::vector<V> gated_step(const V& x, const V& h, const V& c, const Tensor& weight,
                          const Tensor& recurrent) {
  const std::vector<V> gates =
      (pushdown::linear(x, weight) + pushdown::linear(h, recurrent)).chunk(4, 1);
  const V cell = gates[1].sigmoid() * c + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * cell.relu(), cell};  // not the LSTM, whose gates are fused
}

TEST(StepTrace, SetsGradientsThatNothingElseReachedBefore) {
  for (const std::int64_t hidden : {3, 20}) {
    const auto options = at::TensorOptions().dtype(at::kDouble);
    const auto leaf = [&](std::int64_t columns) {
      const Tensor tensor = at::arange(4 * hidden * columns, options).view({4 * hidden, columns});
      return (tensor * 0.7).sin().div(4).requires_grad_();
    };
    const Tensor x = inputs_of(5, 6, true), start = at::zeros({5, hidden}, options);
    std::vector<Tensor> leaves{leaf(3), leaf(hidden), x};

    StepTrace trace;
    const Traced h = trace.state(start), c = trace.state(start);
    const auto next = gated_step(trace.sequence(x), h, c, leaves[0], leaves[1]);
    trace.bind(h, next[0]);
    trace.bind(c, next[1]);
    const TracedProgram program = trace.finish(next[0]);
    // The sum of the gates, its nonlinear functions, and the operands of the products and of the
    // sum, but not the carried values.
    const auto set = std::count_if(program.nodes.begin(), program.nodes.end(),
                                   [](const StepNode& node) { return node.set; });
    EXPECT_EQ(set, 8);
    for (const StepNode& node : program.nodes) EXPECT_FALSE(node.carried && node.set);
    const Tensor got = run_steps(program, 5, 6, std::make_shared<BufferPool>());

    std::vector<Tensor> values, state{start, start};
    for (std::int64_t t = 0; t < 6; ++t) {
      state = gated_step(Tensor(x.select(1, t)), state[0], state[1], leaves[0], leaves[1]);
      values.push_back(state[0]);
    }
    const Tensor wanted = at::stack(values, 1), probe = at::arange(got.numel(), options).cos();
    EXPECT_LT(largest_difference(wanted, got), 1e-13);
    std::vector<Tensor> gradients;
    for (const Tensor& result : {wanted, got}) {
      (result.flatten() * probe).sum().backward();
      for (Tensor& tensor : leaves) {
        gradients.push_back(tensor.grad().clone());
        tensor.mutable_grad() = Tensor();
      }
    }
    for (std::size_t k = 0; k < leaves.size(); ++k)
      EXPECT_LT(largest_difference(gradients[k], gradients[k + leaves.size()]), 1e-12) << k;
  }
}

// x x adds to the same gradient twice, and so does a part that overlaps another one.
TEST(StepTrace, AddsToGradientsThatWereReachedBefore) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const Tensor weight = at::arange(12, options).view({4, 3}).sin().requires_grad_();
  const auto step = [&](const auto& x, const auto& h) {
    const auto y = (pushdown::linear(x, weight) + h).tanh();
    const auto z = y.narrow(1, 0, 3) * y.narrow(1, 1, 3);
    return z * z + y.narrow(1, 0, 3);
  };
  const Tensor x = inputs_of(2, 1, false), start = at::full({2, 4}, 0.3, options);
  StepTrace trace;
  const Traced h = trace.state(start);
  const Traced next = step(trace.sequence(x), h);
  trace.bind(h, (pushdown::linear(next, weight)));
  const TracedProgram program = trace.finish(next);
  const Tensor got = run_steps(program, 2, 1, std::make_shared<BufferPool>());
  got.sum().backward();
  const Tensor gradient = weight.grad().clone();
  weight.mutable_grad() = Tensor();
  const Tensor wanted = step(Tensor(x.select(1, 0)), start);
  wanted.sum().backward();
  EXPECT_LT(largest_difference(wanted, got.select(1, 0)), 1e-14);
  EXPECT_LT(largest_difference(weight.grad(), gradient), 1e-13);
}

TEST(StepTrace, NamesMismatches) {
  StepTrace trace;
  const Traced state = trace.state(at::zeros({1, 2}, at::kDouble));
  EXPECT_THROW(pushdown::linear(state, at::ones({2, 3}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(state + trace.constant(at::ones({3}, at::kDouble)), std::invalid_argument);
  EXPECT_THROW(state.softmax_of_groups(3), std::invalid_argument);
  EXPECT_THROW(trace.finish(state.tanh()), std::invalid_argument);  // never bound
}

}  // namespace
}  // namespace pushdown::step_run_test
