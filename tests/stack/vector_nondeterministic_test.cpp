// The fast version of the nondeterministic stacks, with and without a window: its growth, and steps
// after a detached state.
// label: long
#include <gtest/gtest.h>

#include "stack/automaton_state.h"
#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::vector_nondeterministic_test {
namespace {

using namespace testing_support;

constexpr int kBatch = 2, kSteps = 11;

struct Outcome {
  Tensor readings;  // B x (n+1) x R
  std::vector<Tensor> gradients;
};

class VectorFast : public testing::TestWithParam<std::tuple<int, int, int, bool, bool, int>> {
 protected:
  NondeterministicShape shape() const {
    NondeterministicShape shape;
    shape.states = std::get<0>(GetParam());
    shape.symbols = std::get<1>(GetParam());
    shape.vector = std::get<2>(GetParam());
    shape.reexposed = std::get<3>(GetParam());
    shape.window = std::get<5>(GetParam());
    shape.state_symbol = true;
    return shape;
  }
  bool normalized() const { return std::get<4>(GetParam()); }

  // The readings that `run` computes from scores, vectors and bottom, and the gradients of a linear
  // loss.
  template <class F>
  Outcome differentiate(F run) const {
    const auto shape = this->shape();
    const auto width = shape.configurations() * std::max<std::int64_t>(shape.vector, 1);
    std::vector<Tensor> leaves{
        random_normal({kBatch, kSteps, shape.configurations() * shape.actions()}, 1),
        random_normal({kBatch, kSteps, shape.vector}, 2), random_normal({shape.vector}, 3)};
    for (auto& leaf : leaves) leaf.set_requires_grad(true);
    Outcome result;
    result.readings = run(leaves[0], leaves[1], leaves[2]);
    (random_normal({kBatch, kSteps + 1, width}, 4) * result.readings).sum().backward();
    for (const auto& leaf : leaves)
      result.gradients.push_back(leaf.grad().defined() ? leaf.grad() : at::zeros_like(leaf));
    return result;
  }

  // Step by step; the state is detached after the steps in `cuts`.
  Outcome stepwise(bool fast, std::int64_t expected, const std::set<int>& cuts = {}) const {
    const auto shape = this->shape();
    return differentiate([&](const Tensor& scores, const Tensor& vectors, const Tensor& bottom) {
      const bool vector = shape.vector > 0;
      auto state = initial_state(shape, fast, normalized(), kBatch, expected,
                                 scores.options().requires_grad(false), vector ? bottom : Tensor());
      const auto read = [&] { return static_cast<const AutomatonState&>(*state).read; };
      std::vector<Tensor> readings{read()};
      for (int t = 0; t < kSteps; ++t) {
        if (cuts.contains(t)) state = state->detached();
        state = next_state(state, scores.select(1, t), vector ? vectors.select(1, t) : Tensor());
        readings.push_back(read());
      }
      return at::stack(readings, 1);
    });
  }

  static void expect_equal(const Outcome& got, const Outcome& wanted) {
    EXPECT_LT(deviation(got.readings, wanted.readings), 1e-12);
    for (std::size_t i = 0; i < wanted.gradients.size(); ++i)
      EXPECT_LT(deviation(got.gradients[i], wanted.gradients[i]), 1e-10) << i;
  }
};

TEST_P(VectorFast, EqualsThePlainVersion) {
  const auto shape = this->shape();
  const Outcome wanted = stepwise(false, 0);
  expect_equal(stepwise(true, kSteps), wanted);
  // Initially there is room for one step, so the memory grows many times.
  expect_equal(stepwise(true, 1), wanted);
  const bool vector = shape.vector > 0;
  expect_equal(
      differentiate([&](const Tensor& scores, const Tensor& vectors, const Tensor& bottom) {
        const Tensor rows = scores.view({kBatch, kSteps, shape.configurations(), shape.actions()});
        return run_automaton(shape, true, normalized() ? rows.softmax(3) : rows, !normalized(),
                             vector ? vectors : Tensor(), vector ? bottom : Tensor());
      }),
      wanted);
}

TEST_P(VectorFast, NothingFlowsThroughADetachedState) {
  for (const std::set<int>& cuts : {std::set<int>{0}, {5}, {3, 4, 8}})
    for (const int expected : {kSteps, 1})
      expect_equal(stepwise(true, expected, cuts), stepwise(false, 0, cuts));
}

INSTANTIATE_TEST_SUITE_P(Sizes, VectorFast,
                         testing::Combine(testing::Values(1, 2), testing::Values(2, 4),
                                          testing::Values(0, 3), testing::Bool(), testing::Bool(),
                                          testing::Values(0, 1, 2, 3, 6, 20)));
INSTANTIATE_TEST_SUITE_P(ThreeStates, VectorFast,
                         testing::Combine(testing::Values(3), testing::Values(2, 3),
                                          testing::Values(0, 2), testing::Values(true),
                                          testing::Values(false), testing::Values(0, 2, 5)));

NondeterministicShape limited(std::int64_t vector) {
  NondeterministicShape shape;
  shape.vector = vector;
  shape.window = 4;
  shape.reexposed = true;
  return shape;
}

TEST(WindowedState, IsPlainTensorsOnceItIsDetached) {
  for (const std::int64_t m : {0, 2}) {
    const auto shape = limited(m);
    const Tensor scores = random_normal({40, 2, 40}, 5), vectors = random_normal({40, 2, m}, 6);
    const Tensor bottom = m > 0 ? random_normal({m}, 7) : Tensor();
    auto fast = initial_state(shape, true, false, 2, 0, scores.options(), bottom),
         plain = initial_state(shape, false, false, 2, 0, scores.options(), bottom);
    for (std::int64_t t = 0; t < 40; ++t) {
      for (auto* state : {&fast, &plain})
        *state = next_state(*state, scores[t], m > 0 ? vectors[t] : Tensor());
      if (t % 5 == 4) {
        const auto detached = fast->detached();
        const auto own = detached->tensors(), same = fast->tensors(), wanted = plain->tensors();
        ASSERT_EQ(own.size(), wanted.size());
        for (std::size_t i = 0; i < own.size(); ++i) {
          EXPECT_EQ(own[i].sizes(), wanted[i].sizes());
          EXPECT_TRUE(own[i].equal(same[i]));
          EXPECT_LT(deviation(own[i], wanted[i]), 1e-12);
        }
        // A stack with these restored tensors continues with the same numbers, bit for bit.
        const auto restored = fast->with_tensors(same);
        const auto read = [&](const StackStatePtr& state) {
          const auto next = next_state(state, scores[0], m > 0 ? vectors[0] : Tensor());
          return static_cast<const AutomatonState&>(*next).read;
        };
        EXPECT_TRUE(read(restored).equal(read(detached)));
      }
      if (t == 20) fast = fast->detached();
    }
  }
}

TEST(WindowedState, DoesNotGrowWithReadSymbolsWithoutGradients) {
  const auto shape = limited(2);
  at::NoGradGuard guard;
  const Tensor scores = random_normal({300, 1, 40}, 5), vectors = random_normal({300, 1, 2}, 6);
  const Tensor bottom = random_normal({2}, 7);
  auto fast = initial_state(shape, true, true, 1, 0, scores.options(), bottom),
       plain = initial_state(shape, false, true, 1, 0, scores.options(), bottom);
  std::size_t early = 0, late = 0;
  for (std::int64_t t = 0; t < 300; ++t) {
    for (auto* state : {&fast, &plain}) *state = next_state(*state, scores[t], vectors[t]);
    EXPECT_LT(deviation(static_cast<const AutomatonState&>(*fast).read,
                        static_cast<const AutomatonState&>(*plain).read),
              1e-12);
    auto& most = t < 100 ? early : late;
    most = std::max(most, fast->bytes());
  }
  EXPECT_EQ(early, late);
}

// Gradients flow through tensors that are put into a state.
TEST(WindowedState, TakesTensorsWithGradients) {
  const auto shape = limited(2);
  const Tensor scores = random_normal({3, 1, 40}, 5), vectors = random_normal({3, 1, 2}, 6);
  const Tensor bottom = random_normal({2}, 7).requires_grad_();
  const auto first = initial_state(shape, true, false, 1, 0, scores.options(), bottom);
  EXPECT_TRUE(first->tensors()[0].requires_grad());
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : first->tensors())
    leaves.push_back(tensor.detach().clone().requires_grad_());
  const auto next = next_state(first->with_tensors(leaves), scores[0], vectors[0]);
  next->tensors()[0].sum().backward();
  EXPECT_TRUE(leaves[0].grad().defined());
  const auto kernels = next_state(first, scores[0], vectors[0]);
  EXPECT_THROW(kernels->tensors(), std::invalid_argument);
}

// With gradients, the memory grows instead of being made anew.
TEST(WindowedState, GrowsWithGradients) {
  constexpr int kMany = 45;  // a new memory has room for 40
  const auto shape = limited(2);
  const Tensor vectors = random_normal({kMany, 2, 2}, 6), weights = random_normal({kMany, 8}, 8);
  std::vector<Tensor> gradients[2];
  for (const bool fast : {false, true}) {
    const std::vector<Tensor> leaves{random_normal({kMany, 2, 40}, 5).requires_grad_(),
                                     random_normal({2}, 7).requires_grad_()};
    auto state = initial_state(shape, fast, true, 2, 0, vectors.options(), leaves[1]);
    Tensor sum = at::zeros({}, at::kDouble);
    for (int t = 0; t < kMany; ++t) {
      state = next_state(state, leaves[0][t], vectors[t]);
      sum = sum + (weights[t] * static_cast<const AutomatonState&>(*state).read).sum();
    }
    sum.backward();
    for (const Tensor& leaf : leaves) gradients[fast].push_back(leaf.grad());
  }
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_GT(gradients[0][i].abs().max().item<double>(), 0);
    EXPECT_LT(deviation(gradients[1][i], gradients[0][i]), 1e-10) << i;
  }
}

TEST(VectorFastErrors, AStateIsContinuedOnceWithGradientsAndOftenWithout) {
  NondeterministicShape shape;
  shape.vector = 2;
  const Tensor scores = random_normal({1, 40}, 5), vectors = random_normal({1, 2}, 6);
  const auto first =
      initial_state(shape, true, false, 1, 4, scores.options(), at::zeros({2}, at::kDouble));
  const auto next = next_state(first, scores, vectors);
  EXPECT_THROW(next_state(first, scores, vectors), std::invalid_argument);
  at::NoGradGuard guard;
  const auto again = next_state(first, scores, vectors);
  EXPECT_TRUE(static_cast<const AutomatonState&>(*again).read.equal(
      static_cast<const AutomatonState&>(*next).read));
}

}  // namespace
}  // namespace pushdown::vector_nondeterministic_test
