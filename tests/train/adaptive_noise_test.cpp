#include "train/optimizing/adaptive_noise.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradients.h"
#include "train/toy.h"

namespace pushdown::adaptive_noise_test {
namespace {

using namespace testing_support;

Tensor filled(std::vector<std::int64_t> shape, at::ScalarType dtype = at::kDouble) {
  return random_tensor(shape, 11, 0.5, 2).to(dtype).requires_grad_();
}

Json options(const Json& given = Json::object()) {
  return resolve_options("test", AdaptiveNoise::options(), given);
}

// The factor of every matrix of a changed tensor : K. All numbers of a matrix have the same factor.
std::vector<double> factors(const Tensor& changed, const Tensor& original) {
  const Tensor ratio =
      (changed.detach() / original).reshape({-1, original.size(-1) * original.size(-2)});
  std::vector<double> result;
  for (std::int64_t k = 0; k < ratio.size(0); ++k) {
    const Tensor row = ratio[k];
    EXPECT_LT((row.max() - row.min()).item<double>(), 1e-12);
    result.push_back(row[0].item<double>());
  }
  return result;
}

TEST(AdaptiveNoise, PartitionsFollowThePapersBorders) {
  using Parts = std::vector<std::pair<std::int64_t, std::int64_t>>;
  // Counted from 1 as in the paper: 1..3 | 4..6 | 7..9, and 1..3 | 4..6 | 7..10.
  EXPECT_EQ(noise_partitions(9), (Parts{{0, 3}, {3, 6}, {6, 9}}));
  EXPECT_EQ(noise_partitions(10), (Parts{{0, 3}, {3, 6}, {6, 10}}));
  EXPECT_EQ(noise_partitions(11), (Parts{{0, 3}, {3, 7}, {7, 11}}));
  EXPECT_EQ(noise_partitions(12), (Parts{{0, 3}, {3, 7}, {7, 12}}));
  EXPECT_EQ(noise_partitions(1), (Parts{{0, 0}, {0, 0}, {0, 1}}));
  EXPECT_EQ(noise_partitions(2), (Parts{{0, 0}, {0, 1}, {1, 2}}));
  for (std::int64_t count = 1; count < 50; ++count) {
    const auto parts = noise_partitions(count);
    EXPECT_EQ(parts[0].first, 0);
    EXPECT_EQ(parts[0].second, parts[1].first);
    EXPECT_EQ(parts[1].second, parts[2].first);
    EXPECT_EQ(parts[2].second, count);
    for (const auto& [first, last] : parts) EXPECT_LE(first, last);
  }
}

// Of 5 x 12 = 60 matrices in partitions of 19, 20 and 21, a share of 0.15 changes 3 of each
// partition. The factors are p beta, p beta / 2, ..., smaller in each partition than in the
// previous one.
TEST(AdaptiveNoise, ChangesTheShareOfEachPartitionByHalvedFactors) {
  const Tensor weight = filled({5, 12, 3, 2}), before = weight.detach().clone();
  const Tensor matrix = filled({7, 4}), vector = filled({9});
  const Tensor matrix_before = matrix.detach().clone(), vector_before = vector.detach().clone();
  AdaptiveNoise noise(options({{"beta", 0.7}}),
                      {{"matrix", matrix}, {"weight", weight}, {"vector", vector}});
  Random random(21), same(21);
  noise.apply(random);
  EXPECT_TRUE(at::equal(matrix.detach(), matrix_before));
  EXPECT_TRUE(at::equal(vector.detach(), vector_before));
  const auto got = factors(weight, before);
  double p = same.normal();
  for (const auto& [first, last] : noise_partitions(60)) {
    std::vector<double> changed;
    for (auto k = first; k < last; ++k)
      if (got[k] != 1) changed.push_back(got[k]);
    ASSERT_EQ(changed.size(), 3u);
    std::sort(changed.begin(), changed.end(),
              [](double a, double b) { return std::abs(a) > std::abs(b); });
    for (const double factor : changed) {
      EXPECT_NEAR(factor, 0.7 * p, 1e-12);
      p /= 2;
    }
  }
}

TEST(AdaptiveNoise, CanBeAddedToTheMatrices) {
  const Tensor scaled = filled({10, 3, 4}), added = filled({10, 3, 4}),
               before = scaled.detach().clone();
  Random random(4), same(4);
  AdaptiveNoise(options({{"share", 0.3}, {"beta", 0.7}, {"keep", true}}), {{"weight", scaled}})
      .apply(random);
  AdaptiveNoise(options({{"share", 0.3}, {"beta", 0.7}, {"keep", true}, {"change", "add"}}),
                {{"weight", added}})
      .apply(same);
  const auto by = factors(scaled, before), more = factors(added, before);
  int changed = 0;
  for (std::size_t k = 0; k < 10; ++k) {
    if (by[k] == 1) {
      EXPECT_EQ(more[k], 1);
      continue;
    }
    EXPECT_NEAR(more[k], 1 + by[k], 1e-12);
    ++changed;
  }
  EXPECT_EQ(changed, 3);
}

TEST(AdaptiveNoise, ThreeDimensionsAreMatricesOfTheFirst) {
  const Tensor weight = filled({10, 3, 4}), before = weight.detach().clone();
  AdaptiveNoise noise(options({{"share", 0.3}}), {{"weight", weight}});
  Random random(4);
  noise.apply(random);
  const auto got = factors(weight, before);
  // Partitions of 3, 3 and 4.
  for (const auto& [first, last] : noise_partitions(10))
    EXPECT_EQ(std::count_if(got.begin() + first, got.begin() + last,
                            [](double factor) { return factor != 1; }),
              1);
}

TEST(AdaptiveNoise, SmallPartitionsLoseOneMatrixAndZeroShareNone) {
  const Tensor weight = filled({2, 3, 4}), before = weight.detach().clone();
  AdaptiveNoise noise(options({{"share", 0.01}}), {{"weight", weight}});
  Random random(4);
  noise.apply(random);
  for (const double factor : factors(weight, before)) EXPECT_NE(factor, 1);
  noise.restore();
  AdaptiveNoise nothing(options({{"share", 0}}), {{"weight", weight}});
  nothing.apply(random);
  EXPECT_TRUE(at::equal(weight.detach(), before));
}

TEST(AdaptiveNoise, EveryMatrixOfAPartitionIsDrawnAlike) {
  const Tensor weight = filled({9, 1, 1}), before = weight.detach().clone();
  AdaptiveNoise noise(options(), {{"weight", weight}});
  std::vector<int> drawn(9, 0);
  Random random(8);
  constexpr int kTimes = 3000;
  for (int i = 0; i < kTimes; ++i) {
    noise.apply(random);
    for (std::size_t k = 0; k < 9; ++k)
      drawn[k] += weight.detach().data_ptr<double>()[k] != before.data_ptr<double>()[k];
    noise.restore();
  }
  for (const int count : drawn)
    EXPECT_NEAR(count, kTimes / 3.0, 4 * std::sqrt(kTimes * (1 / 3.0) * (2 / 3.0)));
}

TEST(AdaptiveNoise, RestoresBitForBit) {
  for (const auto dtype : {at::kFloat, at::kDouble}) {
    const Tensor a = filled({4, 3, 3, 5}, dtype), b = filled({6, 3, 3}, dtype);
    const Tensor old_a = a.detach().clone(), old_b = b.detach().clone();
    AdaptiveNoise noise(options(), {{"a", a}, {"b", b}});
    Random random(1);
    for (int i = 0; i < 20; ++i) {
      noise.apply(random);
      EXPECT_FALSE(at::equal(a.detach(), old_a));
      EXPECT_FALSE(at::equal(b.detach(), old_b));
      noise.restore();
      EXPECT_TRUE(at::equal(a.detach(), old_a));
      EXPECT_TRUE(at::equal(b.detach(), old_b));
    }
    noise.restore();
    EXPECT_TRUE(at::equal(a.detach(), old_a));
  }
}

TEST(AdaptiveNoise, KeptNoiseStays) {
  const Tensor weight = filled({6, 3, 3}), before = weight.detach().clone();
  AdaptiveNoise noise(options({{"keep", true}}), {{"weight", weight}});
  Random random(1);
  noise.apply(random);
  const Tensor changed = weight.detach().clone();
  noise.restore();
  EXPECT_TRUE(at::equal(weight.detach(), changed));
  EXPECT_FALSE(at::equal(changed, before));
  noise.apply(random);
}

TEST(AdaptiveNoise, SameSeedSameNoiseAndGradientsPassThrough) {
  const Tensor a = filled({4, 3, 3, 5}), b = filled({4, 3, 3, 5});
  AdaptiveNoise first(options(), {{"a", a}}), second(options(), {{"b", b}});
  Random one(9), two(9), three(10);
  first.apply(one);
  second.apply(two);
  EXPECT_TRUE(at::equal(a.detach(), b.detach()));
  second.restore();
  second.apply(three);
  EXPECT_FALSE(at::equal(a.detach(), b.detach()));
  // The gradient is that of the changed weights, and it remains when they are restored.
  const Tensor changed = a.detach().clone();
  a.pow(2).sum().backward();
  first.restore();
  EXPECT_TRUE(at::equal(a.grad(), 2 * changed));
}

TEST(AdaptiveNoise, KnowsItsEpochsAndStages) {
  const Tensor weight = filled({6, 3, 3});
  const auto noise = [&](const Json& given) {
    return AdaptiveNoise(options(given), {{"weight", weight}});
  };
  EXPECT_TRUE(noise(Json::object()).active(1, 1));
  EXPECT_TRUE(noise(Json::object()).active(500, 2));
  const auto some = noise({{"first_epoch", 3}, {"last_epoch", 5}, {"first_stage", 2}});
  EXPECT_FALSE(some.active(2, 2));
  EXPECT_TRUE(some.active(3, 2));
  EXPECT_TRUE(some.active(5, 2));
  EXPECT_FALSE(some.active(6, 2));
  EXPECT_FALSE(some.active(4, 1));
}

TEST(AdaptiveNoise, RefusesInvalidOptions) {
  const Tensor weight = filled({6, 3, 3}), matrix = filled({3, 3});
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    AdaptiveNoise(options(), {{"matrix", matrix}});
                  }),
                  "three or four dimensions");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { options({{"share", 1.2}}); }), "'share'");
  AdaptiveNoise noise(options(), {{"weight", weight}});
  Random random(1);
  noise.apply(random);
  EXPECT_THROW(noise.apply(random), std::logic_error);
}

}  // namespace
}  // namespace pushdown::adaptive_noise_test
