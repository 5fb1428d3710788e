#include "base/buffer_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace pushdown::buffer_pool_test {
namespace {

TEST(BufferPool, MemoryIsAlignedAndUsedAgain) {
  const auto pool = std::make_shared<BufferPool>();
  void* first = nullptr;
  {
    const Buffer buffer(pool, 100000);
    first = buffer.as<std::byte>();
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
    std::memset(first, 1, 100000);
    EXPECT_EQ(pool->idle_bytes(), 0u);
  }
  EXPECT_GE(pool->idle_bytes(), 100000u);
  const Buffer again(pool, 90000);
  EXPECT_EQ(again.as<void>(), first);
  const Buffer other(pool, 90000);
  EXPECT_NE(other.as<void>(), first);
}

TEST(BufferPool, LargeMemoryBeginsWithALargePage) {
  const auto pool = std::make_shared<BufferPool>();
  constexpr std::size_t kBytes = 9'000'000;
  const Buffer buffer(pool, kBytes);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.as<void>()) % (std::size_t{2} << 20), 0u);
  std::memset(buffer.as<std::byte>(), 1, kBytes);
}

TEST(BufferPool, TheSmallestThatFitsIsTaken) {
  const auto pool = std::make_shared<BufferPool>();
  void *small = nullptr, *large = nullptr;
  {
    const Buffer a(pool, 10000), b(pool, 1000000);
    small = a.as<void>();
    large = b.as<void>();
  }
  const Buffer buffer(pool, 9000);
  EXPECT_EQ(buffer.as<void>(), small);
  const Buffer next(pool, 9000);
  EXPECT_EQ(next.as<void>(), large);
}

TEST(BufferPool, KeepsNoMoreThanItsLimitOrWhatWasInUseAtOnce) {
  const auto pool = std::make_shared<BufferPool>(100000);
  for (const std::size_t bytes : {50000, 60000, 70000}) const Buffer alone(pool, bytes);
  EXPECT_GE(pool->idle_bytes(), 70000u);
  EXPECT_LE(pool->idle_bytes(), 100000u);
  const auto together = [&] { const Buffer a(pool, 150000), b(pool, 150000), c(pool, 40000); };
  for (int k = 0; k < 4; ++k) {
    together();
    EXPECT_GE(pool->idle_bytes(), 340000u);
    EXPECT_LE(pool->idle_bytes(), 425000u);
  }
  { const Buffer alone(pool, 500000); }
  EXPECT_GE(pool->idle_bytes(), 500000u);
  // If no more is needed for long, the limit counts again.
  for (int k = 0; k < 200; ++k) const Buffer small(pool, 1000);
  EXPECT_LE(pool->idle_bytes(), 100000u);
}

TEST(BufferPool, KeepsTheMemoryOfAWideNetworkByDefault) {
  const auto pool = std::make_shared<BufferPool>();
  void* first = nullptr;
  {
    const Buffer buffer(pool, 200'000'000);
    first = buffer.as<void>();
  }
  const Buffer again(pool, 200'000'000);
  EXPECT_EQ(again.as<void>(), first);
}

TEST(BufferPool, MovedBuffersGoBackOnceAndOutliveTheOwner) {
  auto pool = std::make_shared<BufferPool>();
  Buffer a(pool, 5000);
  Buffer b = std::move(a);
  EXPECT_EQ(a.as<void>(), nullptr);
  const std::weak_ptr<BufferPool> watched = pool;
  pool.reset();
  EXPECT_FALSE(watched.expired());
  b = Buffer();
  EXPECT_TRUE(watched.expired());
}

TEST(BufferPool, ThreadsNeverShareABuffer) {
  const auto pool = std::make_shared<BufferPool>();
  std::vector<std::thread> threads;
  std::atomic<int> clashes = 0;
  for (int id = 1; id <= 4; ++id)
    threads.emplace_back([&, id] {
      for (int round = 0; round < 500; ++round) {
        const Buffer buffer(pool, 4096);
        auto* numbers = buffer.as<int>();
        for (int i = 0; i < 1024; ++i) numbers[i] = id;
        for (int i = 0; i < 1024; ++i) clashes += numbers[i] != id;
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(clashes, 0);
}

}  // namespace
}  // namespace pushdown::buffer_pool_test
