// The fast twin of the vector nondeterministic stack, its growth, and steps behind a detached
// state.
#include <gtest/gtest.h>

#include "stack/automaton_state.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown::vector_nondeterministic_test {
namespace {

using namespace testing_support;

constexpr int kBatch = 2, kSteps = 11;

Tensor random_normal(at::IntArrayRef shape, std::uint64_t seed) {
  Random random(seed);
  Tensor values = at::empty(shape, at::kDouble);
  for (std::int64_t i = 0; i < values.numel(); ++i) values.data_ptr<double>()[i] = random.normal();
  return values;
}

struct Outcome {
  Tensor readings;  // B x (n+1) x R
  std::vector<Tensor> gradients;
};

class VectorFast : public testing::TestWithParam<std::tuple<int, int, int, bool, bool>> {
 protected:
  NondeterministicShape shape() const {
    NondeterministicShape shape;
    shape.states = std::get<0>(GetParam());
    shape.symbols = std::get<1>(GetParam());
    shape.vector = std::get<2>(GetParam());
    shape.reexposed = std::get<3>(GetParam());
    shape.state_symbol = true;
    return shape;
  }
  bool normalized() const { return std::get<4>(GetParam()); }

  // The readings that `run` makes of scores, vectors and bottom, and the gradients of a linear
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

  // Step by step; the state is detached behind the steps in `cuts`.
  Outcome stepwise(bool fast, std::int64_t expected, const std::set<int>& cuts = {}) const {
    const auto shape = this->shape();
    return differentiate([&](const Tensor& scores, const Tensor& vectors, const Tensor& bottom) {
      const bool vector = shape.vector > 0;
      auto state = initial_state(shape, fast, kBatch, expected, scores.options(),
                                 vector ? bottom : Tensor());
      const auto read = [&] { return static_cast<const AutomatonState&>(*state).read; };
      std::vector<Tensor> readings{read()};
      for (int t = 0; t < kSteps; ++t) {
        if (cuts.contains(t)) state = state->detached();
        state = next_state(shape, state, scores.select(1, t), normalized(),
                           vector ? vectors.select(1, t) : Tensor());
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

TEST_P(VectorFast, ScanAndStepsEqualThePlainVersion) {
  const auto shape = this->shape();
  const Outcome wanted = stepwise(false, 0);
  expect_equal(stepwise(true, kSteps), wanted);
  // Room for one step at first: the memory grows again and again.
  expect_equal(stepwise(true, 1), wanted);
  if (shape.vector > 0)
    expect_equal(
        differentiate([&](const Tensor& scores, const Tensor& vectors, const Tensor& bottom) {
          const Tensor rows =
              scores.view({kBatch, kSteps, shape.configurations(), shape.actions()});
          return fast_scan(shape, normalized() ? rows.softmax(3) : rows, !normalized(), vectors,
                           bottom);
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
                                          testing::Values(0, 3), testing::Bool(), testing::Bool()));

TEST(VectorFastErrors, AStateIsContinuedOnceWithGradientsAndOftenWithout) {
  NondeterministicShape shape;
  shape.vector = 2;
  const Tensor scores = random_normal({1, 40}, 5), vectors = random_normal({1, 2}, 6);
  const auto first =
      initial_state(shape, true, 1, 4, scores.options(), at::zeros({2}, at::kDouble));
  const auto next = next_state(shape, first, scores, false, vectors);
  EXPECT_THROW(next_state(shape, first, scores, false, vectors), std::invalid_argument);
  at::NoGradGuard guard;
  const auto again = next_state(shape, first, scores, false, vectors);
  EXPECT_TRUE(static_cast<const AutomatonState&>(*again).read.equal(
      static_cast<const AutomatonState&>(*next).read));
}

}  // namespace
}  // namespace pushdown::vector_nondeterministic_test
