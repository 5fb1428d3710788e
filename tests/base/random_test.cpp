#include "base/random.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pushdown::random_test {
namespace {

TEST(Random, SameSeedSameNumbersAndStreamsDiffer) {
  Random a(7, "weights"), b(7, "weights"), c(7, "data");
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
  EXPECT_NE(Random(7, "weights").next(), c.next());
  EXPECT_NE(Random(0, 1).next(), Random(1, 0).next());
}

TEST(Random, StateRoundTripsThroughText) {
  Random a(3);
  a.next();
  Random b;
  b.set_state(random_state_from_text(to_text(a.state())));
  EXPECT_EQ(a.next(), b.next());
  EXPECT_THROW(random_state_from_text("xyz"), std::invalid_argument);
}

TEST(Random, MomentsOfTheDistributions) {
  Random random(11);
  double sum = 0, squares = 0, normal_squares = 0;
  std::vector<int> counts(7);
  constexpr int kDraws = 200000;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    sum += u;
    squares += u * u;
    const double z = random.normal();
    normal_squares += z * z;
    ++counts[random.below(7)];
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 0.005);
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.005);
  EXPECT_NEAR(normal_squares / kDraws, 1.0, 0.02);
  for (const int count : counts) EXPECT_NEAR(count, kDraws / 7.0, 5 * std::sqrt(kDraws / 7.0));
}

}  // namespace
}  // namespace pushdown::random_test
