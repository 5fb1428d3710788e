#include "train/optimizing/schedule.h"

#include <gtest/gtest.h>

namespace pushdown::schedule_test {
namespace {

Json options(const Json& given = Json::object()) {
  return resolve_options("test", schedule_options(), given);
}

TEST(Schedule, DefaultsFollowThePaper) {
  Schedule schedule(options());
  double rate = 1;
  EXPECT_TRUE(schedule.observe(2.0));
  rate = schedule.decayed(rate);
  for (int bad = 1; bad <= 10; ++bad) {
    EXPECT_FALSE(schedule.should_stop()) << bad;
    EXPECT_FALSE(schedule.observe(2.0));
    rate = schedule.decayed(rate);
    EXPECT_DOUBLE_EQ(rate, bad < 5 ? 1.0 : bad < 10 ? 0.9 : 0.81) << bad;
  }
  EXPECT_TRUE(schedule.should_stop());
}

TEST(Schedule, ImprovementStartsTheCountsAgain) {
  Schedule schedule(options());
  schedule.observe(2.0);
  for (int i = 0; i < 4; ++i) schedule.observe(3.0);
  EXPECT_TRUE(schedule.observe(1.9));
  EXPECT_EQ(schedule.since_best(), 0);
  for (int i = 0; i < 4; ++i) schedule.observe(3.0);
  EXPECT_EQ(schedule.decayed(1.0), 1.0);
  schedule.observe(3.0);
  EXPECT_DOUBLE_EQ(schedule.decayed(1.0), 0.9);
  EXPECT_EQ(*schedule.best(), 1.9);
}

TEST(Schedule, SmallGainsDoNotCount) {
  Schedule schedule(options({{"minimum_improvement", 0.1}}));
  schedule.observe(2.0);
  EXPECT_FALSE(schedule.observe(1.95));
  EXPECT_FALSE(schedule.observe(1.9));  // the gain must be more than the minimum
  EXPECT_TRUE(schedule.observe(1.85));
}

TEST(Schedule, MinimumHoldsAndNeverRaises) {
  Schedule schedule(options({{"decay_patience", 1}, {"minimum_learning_rate", 0.5}}));
  schedule.observe(1);
  schedule.observe(1);
  EXPECT_DOUBLE_EQ(schedule.decayed(1.0), 0.9);
  EXPECT_DOUBLE_EQ(schedule.decayed(0.52), 0.5);
  EXPECT_DOUBLE_EQ(schedule.decayed(0.1), 0.1);
}

TEST(Schedule, ZeroPatienceMeansNever) {
  Schedule schedule(options({{"decay_patience", 0}, {"stop_patience", 0}}));
  for (int i = 0; i < 50; ++i) schedule.observe(1);
  EXPECT_FALSE(schedule.should_stop());
  EXPECT_EQ(schedule.decayed(1.0), 1.0);
}

TEST(Schedule, StateRoundTripsThroughText) {
  Schedule whole(options()), split(options());
  EXPECT_EQ(Schedule(options()).state()["best"], Json());
  const std::vector<double> values{2, 1.0 / 3, 3, 3, 3, 0.2, 1, 1, 1, 1, 1, 1};
  double a = 1, b = 1;
  for (const double value : values) {
    Schedule restored(options());
    restored.set_state(parse_json(split.state().dump()));
    split = restored;
    EXPECT_EQ(whole.observe(value), split.observe(value));
    a = whole.decayed(a);
    b = split.decayed(b);
    EXPECT_EQ(a, b);
    EXPECT_EQ(whole.best(), split.best());
  }
  EXPECT_LT(a, 1);
}

}  // namespace
}  // namespace pushdown::schedule_test
