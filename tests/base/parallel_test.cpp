#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "base/lost_precision.h"

namespace pushdown::parallel_test {
namespace {

class Parallel : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { set_thread_count(GetParam()); }
  void TearDown() override { set_thread_count(1); }
};

TEST_P(Parallel, EveryItemRunsOnce) {
  for (int round = 0; round < 200; ++round) {
    std::vector<int> seen(17);
    parallel_for(17, [&](std::int64_t i) { ++seen[i]; });
    EXPECT_EQ(seen, std::vector<int>(17, 1));
  }
}

TEST_P(Parallel, FirstErrorComesBackAndThePoolSurvives) {
  EXPECT_THROW(parallel_for(8,
                            [](std::int64_t i) {
                              if (i == 3) throw std::invalid_argument("three");
                            }),
               std::invalid_argument);
  std::atomic<int> count{0};
  parallel_for(8, [&](std::int64_t) { ++count; });
  EXPECT_EQ(count, 8);
}

TEST_P(Parallel, NestedCallsRunInPlace) {
  std::atomic<int> count{0};
  parallel_for(4, [&](std::int64_t) { parallel_for(5, [&](std::int64_t) { ++count; }); });
  EXPECT_EQ(count, 20);
}

TEST_P(Parallel, LossesAreReportedFromAllThreads) {
  for (int reporting = 0; reporting < 8; ++reporting) {
    LossFlag lost{false};
    const LossScope scope(&lost);
    EXPECT_TRUE(watches_losses());
    parallel_for(8, [&](std::int64_t i) {
      if (i == reporting) report_loss();
    });
    EXPECT_TRUE(lost);
    EXPECT_FALSE(watches_losses());
  }
  report_loss();  // nobody watches
  EXPECT_FALSE(watches_losses());
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 5));

TEST(ParallelCount, RefusesInvalidNumbers) {
  EXPECT_THROW(set_thread_count(0), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::parallel_test
