#include "base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/lost_precision.h"
#include "base/thread_start.h"
#include "support/message.h"

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

// The system has no room for so many stacks of threads.
TEST(ParallelCount, ThreadsThatTheSystemRefusesAreNamed) {
  struct Limit {
    rlimit before{};
    Limit() {
      getrlimit(RLIMIT_AS, &before);
      const rlimit low{std::size_t{1} << 30, before.rlim_max};
      setrlimit(RLIMIT_AS, &low);
    }
    ~Limit() { setrlimit(RLIMIT_AS, &before); }
  };
  for (const auto& action :
       {std::function<void()>([] { require_threads(1000); }), {[] { set_thread_count(1000); }}}) {
    std::string text;
    {
      const Limit limit;
      text = testing_support::message(action);
    }
    EXPECT_TRUE(text.starts_with("[threads] cannot start ") && text.find("ulimit") != text.npos)
        << text;
    EXPECT_EQ(thread_count(), 1);
  }
  require_threads(3);
  require_threads(0);
  require_threads(-1);
}

}  // namespace
}  // namespace pushdown::parallel_test
