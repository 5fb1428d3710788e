#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "base/buffer_pool.h"
#include "support/message.h"

namespace pushdown::memory_test {
namespace {

using testing_support::message;

TEST(Memory, TooLargeRequestsAreRefusedWithBothNumbers) {
  EXPECT_EQ(message([] { check_memory("here", "a list", 63e6); }), "no error");
  const std::string text = message([] { check_memory("here", "a list", 4e18); });
  EXPECT_TRUE(std::regex_match(text, std::regex(R"(\[here\] a list needs 4 EB of memory, )"
                                                R"([0-9.]+ [kMGT]?B are available)")))
      << text;
  const auto pool = std::make_shared<BufferPool>(1 << 20);
  EXPECT_CONTAINS(message([&] { Buffer(pool, std::size_t{1} << 50); }), "1.27 PB");
}

TEST(Memory, IsNotMoreThanTheSystemHas) {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::uint64_t kilobytes = 0;
  file >> name >> kilobytes >> unit;
  ASSERT_EQ(name, "MemTotal:");
  EXPECT_LE(available_memory(), kilobytes * 1024);
  EXPECT_GT(available_memory(), 0u);
}

TEST(Memory, FreedMemoryIsUsedAgainWithoutTheSystem) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
  GTEST_SKIP() << "another allocator";
#endif
  if (std::getenv("MALLOC_TRIM_THRESHOLD_") != nullptr || std::getenv("GLIBC_TUNABLES") != nullptr)
    GTEST_SKIP() << "the environment decides";
  keep_freed_memory();
  const auto use = [] {  // 80 MB
    std::vector<std::vector<char>> parts;
    for (int k = 0; k < 8; ++k) parts.emplace_back(10'000'000, 'x');
  };
  const auto faults = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  use();
  const auto before = faults();
  use();
  EXPECT_LT(faults() - before, 1000);  // of 20,000 pages
}

TEST(Memory, LimitsOfTheShellCount) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer reserves more address space than the limit";
#endif
  rlimit old{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &old), 0);
  const rlimit small{rlim_t{1} << 42, old.rlim_max};
  if (old.rlim_max < small.rlim_cur || ::setrlimit(RLIMIT_AS, &small) != 0) GTEST_SKIP();
  EXPECT_LE(available_memory(), std::uint64_t{1} << 42);
  ::setrlimit(RLIMIT_AS, &old);
}

}  // namespace
}  // namespace pushdown::memory_test
