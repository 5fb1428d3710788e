#include "base/flush_denormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <limits>
#include <stdexcept>
#include <thread>

#include "base/parallel.h"

namespace pushdown::flush_denormals_test {
namespace {

// Returns whether the arithmetic of this thread takes denormal results for zero, and operands.
bool flushes_results() {
  volatile float x = std::numeric_limits<float>::min();
  x = x * 0.5f;
  volatile double y = std::numeric_limits<double>::min();
  y = y * 0.5;
  const std::uint64_t control = float_control();
  set_float_control(control & ~kFlushBits);  // so that the comparison sees denormal numbers
  const bool zero = x == 0 && y == 0;
  set_float_control(control);
  return zero;
}
bool flushes_operands() {
  volatile float x = std::numeric_limits<float>::denorm_min();
  return x * 1e30f == 0;
}
bool flushes() { return flushes_results() && flushes_operands(); }

class FlushDenormalsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (kFlushBits == 0) GTEST_SKIP() << "this processor has no setting that is known";
    ASSERT_FALSE(flushes_results() || flushes_operands());
  }
};

TEST_F(FlushDenormalsTest, EndsWithItsScope) {
  {
    const FlushDenormals flush;
    EXPECT_TRUE(flushes());
    { const FlushDenormals inner; }
    EXPECT_TRUE(flushes());
  }
  EXPECT_FALSE(flushes_results() || flushes_operands());
}

TEST_F(FlushDenormalsTest, EndsWithAnException) {
  const auto work = [] {
    const FlushDenormals flush;
    const HostFloats host;
    const FlushDenormals inner;
    throw std::invalid_argument("an error");
  };
  EXPECT_THROW(work(), std::invalid_argument);
  EXPECT_FALSE(flushes_results() || flushes_operands());
}

// A host that has chosen the setting itself keeps it.
TEST_F(FlushDenormalsTest, TheHostHasItsOwnSettingBack) {
  for (const std::uint64_t own : {std::uint64_t{0}, kFlushBits}) {
    const std::uint64_t before = float_control();
    set_float_control(before | own);
    {
      const FlushDenormals flush;
      EXPECT_TRUE(flushes());
      {
        const HostFloats host;
        EXPECT_EQ(float_control() & kFlushBits, own);
        {
          const FlushDenormals called_back;
          EXPECT_TRUE(flushes());
        }
        EXPECT_EQ(float_control() & kFlushBits, own);
      }
      EXPECT_TRUE(flushes());
    }
    EXPECT_EQ(float_control() & kFlushBits, own);
    set_float_control(before);
  }
}

TEST_F(FlushDenormalsTest, TheOtherBitsAreLeftAlone) {
  const std::uint64_t before = float_control();
  volatile float one = 1, three = 3;
  {
    const FlushDenormals flush;
    one = one / three;  // inexact
  }
  EXPECT_EQ(float_control() & kFlushBits, before & kFlushBits);
#if defined(__x86_64__)
  EXPECT_NE(float_control() & 0x20, 0u);  // that exception is still visible
#endif
}

TEST_F(FlushDenormalsTest, AllThreadsOfThePoolHaveIt) {
  set_thread_count(3);
  std::atomic<int> helpers{0}, wrong{0};
  const auto caller = std::this_thread::get_id();
  // Until both helpers have taken an item.
  std::atomic<int> arrived{0};
  parallel_for(3, [&](std::int64_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
    if (std::this_thread::get_id() == caller) return;
    ++helpers;
    if (!flushes()) ++wrong;
  });
  set_thread_count(1);
  EXPECT_EQ(helpers, 2);
  EXPECT_EQ(wrong, 0);
  EXPECT_FALSE(flushes_results() || flushes_operands());
}

// Autograd's and OpenMP's threads are made while a bound function runs.
TEST_F(FlushDenormalsTest, NewThreadsInheritIt) {
  bool inherited = false;
  const FlushDenormals flush;
  std::thread([&] { inherited = flushes(); }).join();
  EXPECT_TRUE(inherited);
}

}  // namespace
}  // namespace pushdown::flush_denormals_test
