#include "base/stopping.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/parallel.h"

namespace pushdown::stopping_test {
namespace {

TEST(Stopping, ACheckThrowsOnceItsScopesFlagIsSet) {
  StopFlag flag{0};
  EXPECT_NO_THROW(StopCheck()());
  {
    const StopScope scope(&flag);
    const StopCheck check;
    EXPECT_NO_THROW(check());
    flag = 1;
    EXPECT_TRUE(check.asked());
    EXPECT_THROW(check(), Stopped);
    {
      const StopScope whole(nullptr);
      EXPECT_NO_THROW(StopCheck()());
    }
    EXPECT_THROW(StopCheck()(), Stopped);
  }
  EXPECT_NO_THROW(StopCheck()());
}

TEST(Stopping, ThreadsHaveTheFlagOfTheirCaller) {
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    StopFlag flag{0};
    std::atomic<int> done{0};
    const auto work = [&](std::int64_t) {
      EXPECT_EQ(stop_flag(), &flag);
      StopCheck()();
      if (++done == 10) flag = 1;
    };
    {
      const StopScope scope(&flag);
      EXPECT_THROW(parallel_for(100000, work), Stopped);
    }
    EXPECT_LT(done, 100);
    EXPECT_EQ(stop_flag(), nullptr);
    // The threads are unchanged.
    std::atomic<int> again{0};
    parallel_for(1000, [&](std::int64_t) {
      EXPECT_EQ(stop_flag(), nullptr);
      ++again;
    });
    EXPECT_EQ(again, 1000);
  }
  set_thread_count(1);
}

}  // namespace
}  // namespace pushdown::stopping_test
