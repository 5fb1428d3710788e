#include "train/optimizing/annealing.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "train/toy.h"

namespace pushdown::annealing_test {
namespace {

using namespace testing_support;

TEST(Annealing, NoneIsAlwaysOne) {
  const Annealing none(Json::object(), 3);
  EXPECT_EQ(none.options(), (Json{{"kind", "none"}}));
  EXPECT_EQ(none.factor({100, 12345, 2}), 1.0);
}

TEST(Annealing, ExponentialFallsByEpochsToItsMinimum) {
  const Annealing annealing(Json{{"kind", "exponential"}, {"decay", 0.5}, {"minimum", 0.1}}, 3);
  for (const auto& [epoch, wanted] : {std::pair{1, 1.0}, {2, 0.5}, {3, 0.25}, {4, 0.125}, {5, 0.1}})
    for (const std::int64_t update : {1, 77})
      EXPECT_DOUBLE_EQ(annealing.factor({epoch, update, 1}), wanted);
}

TEST(Annealing, StochasticIsUniformBelowAFallingRate) {
  const Annealing annealing(Json{{"kind", "stochastic"}, {"spread", 0.4}, {"half_life", 10}}, 3);
  for (const std::int64_t epoch : {1, 11, 31}) {
    const double top = 1 / (1 + static_cast<double>(epoch - 1) / 10);
    double sum = 0, squares = 0, low = 1, high = 0;
    constexpr int kDraws = 4000;
    for (int update = 1; update <= kDraws; ++update) {
      const double u = annealing.factor({epoch, update, 1}) / top;
      sum += u;
      squares += u * u;
      low = std::min(low, u);
      high = std::max(high, u);
    }
    const double mean = sum / kDraws, variance = squares / kDraws - mean * mean;
    EXPECT_NEAR(mean, 0.8, 4 * std::sqrt(0.16 / 12 / kDraws));
    EXPECT_NEAR(variance, 0.16 / 12, 1e-3);
    EXPECT_GE(low, 0.6);
    EXPECT_LE(high, 1);
    EXPECT_LT(low, 0.605);
    EXPECT_GT(high, 0.995);
  }
}

TEST(Annealing, WarmUpRisesByEqualSteps) {
  const Annealing annealing(Json{{"kind", "warmup"}, {"updates", 4}}, 3);
  for (const auto& [update, wanted] :
       {std::pair{1, 0.25}, {2, 0.5}, {3, 0.75}, {4, 1.0}, {99, 1.0}})
    EXPECT_DOUBLE_EQ(annealing.factor({1, update, 1}), wanted);
}

TEST(Annealing, CosineFallsFromTheWarmUpToItsMinimum) {
  const Annealing annealing(
      Json{{"kind", "cosine"}, {"warmup", 2}, {"updates", 10}, {"minimum", 0.2}}, 3);
  // 0.2 + 0.8 (1 + cos(pi k / 8)) / 2 for k = update - 2
  for (const auto& [update, wanted] : {std::pair{1, 0.5},
                                       {2, 1.0},
                                       {4, 0.6 + 0.4 * std::sqrt(0.5)},
                                       {6, 0.6},
                                       {8, 0.6 - 0.4 * std::sqrt(0.5)},
                                       {10, 0.2},
                                       {1000, 0.2}})
    EXPECT_NEAR(annealing.factor({1, update, 1}), wanted, 1e-15) << update;
  EXPECT_EQ(Annealing(Json{{"kind", "cosine"}}, 3, 120).options()["updates"], 120);
  EXPECT_CONTAINS(message([] {
                    Annealing(Json{{"kind", "cosine"}, {"warmup", 5}, {"updates", 5}}, 3);
                  }),
                  "warmup must be below updates, got 5 and 5");
}

TEST(Annealing, IsAFunctionOfOnlyTimeAndSeed) {
  const Json options{{"kind", "stochastic"}};
  const Annealing a(options, 3), b(options, 3), other(options, 4);
  std::set<double> seen;
  for (int update = 100; update > 0; --update) {
    seen.insert(a.factor({1, update, 1}));
    EXPECT_NE(a.factor({1, update, 1}), other.factor({1, update, 1}));
  }
  EXPECT_EQ(seen.size(), 100u);
  for (int update = 1; update <= 100; ++update)
    EXPECT_EQ(b.factor({7, update, 1}), a.factor({7, update, 1}));
}

TEST(Annealing, LaterStagesHaveTheFullRate) {
  const Annealing annealing(Json{{"kind", "stochastic"}, {"last_stage", 1}}, 3);
  EXPECT_LT(annealing.factor({200, 5, 1}), 0.25);
  EXPECT_EQ(annealing.factor({200, 5, 2}), 1.0);
  const Annealing always(Json{{"kind", "stochastic"}}, 3);
  EXPECT_EQ(always.factor({200, 5, 2}), annealing.factor({200, 5, 1}));
}

TEST(Annealing, LaterStagesCanKeepTheRateThatWasReached) {
  const Json options{{"kind", "stochastic"},
                     {"spread", 0.4},
                     {"half_life", 10},
                     {"last_stage", 1},
                     {"afterwards", "reached"}};
  const Annealing annealing(options, 3);
  // The mean of the last annealed epoch, 31, is 0.8 / 4, however long the second stage lasts.
  for (const std::int64_t epoch : {32, 200})
    for (const std::int64_t update : {1, 7})
      EXPECT_DOUBLE_EQ(annealing.factor({epoch, update, 2, 31}), 0.2);
  double sum = 0;
  for (int update = 1; update <= 4000; ++update) sum += annealing.factor({31, update, 1, 30});
  EXPECT_NEAR(sum / 4000, 0.2, 2e-3);
  // Without a previous epoch there is no result yet.
  EXPECT_EQ(annealing.factor({1, 1, 2, 0}), 1.0);
  const Annealing exponential(Json{{"kind", "exponential"},
                                   {"decay", 0.5},
                                   {"minimum", 0.1},
                                   {"last_stage", 1},
                                   {"afterwards", "reached"}},
                              3);
  EXPECT_DOUBLE_EQ(exponential.factor({9, 5, 2, 3}), 0.25);
}

TEST(Annealing, RefusesInvalidOptions) {
  const auto made = [](const Json& options) {
    return message<std::invalid_argument>([&] { Annealing(options, 0); });
  };
  EXPECT_CONTAINS(made({{"kind", "stochastik"}}), "did you mean 'stochastic'?");
  EXPECT_CONTAINS(made({{"kind", "stochastic"}, {"spread", 1.5}}), "'spread'");
  EXPECT_CONTAINS(made({{"kind", "exponential"}, {"decay", -1}}), "'decay'");
  EXPECT_CONTAINS(made({{"kind", "none"}, {"decay", 1}}), "'decay'");
}

}  // namespace
}  // namespace pushdown::annealing_test
