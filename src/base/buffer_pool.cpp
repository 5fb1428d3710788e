#include "base/buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/memory.h"

namespace pushdown {
namespace {

// Larger buffers consist of large pages, where the system has them: loops that go from row to row
// of a large history would otherwise wait for the addresses of its pages.
constexpr std::size_t kLargePage = std::size_t{2} << 20, kLarge = 3 * kLargePage;

std::align_val_t alignment(std::size_t bytes) {
  return std::align_val_t{bytes < kLarge ? 64 : kLargePage};
}

std::byte* allocate(std::size_t bytes) {
  void* memory = ::operator new(bytes, alignment(bytes));
#ifdef MADV_HUGEPAGE
  // Without large pages, the memory is the same.
  if (bytes >= kLarge) madvise(memory, bytes / kLargePage * kLargePage, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(memory);
}

void release(std::byte* memory, std::size_t bytes) { ::operator delete(memory, alignment(bytes)); }

}  // namespace

Buffer::Buffer(const BufferPoolPtr& pool, std::size_t bytes) : pool_(pool) {
  const auto block = pool_->take(bytes);
  memory_ = block.memory;
  bytes_ = block.bytes;
  wanted_ = bytes;
}

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  if (this == &other) return *this;
  give_back();
  pool_ = std::move(other.pool_);
  memory_ = std::exchange(other.memory_, nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  wanted_ = std::exchange(other.wanted_, 0);
  return *this;
}

void Buffer::give_back() {
  if (memory_ != nullptr) pool_->keep({memory_, bytes_}, wanted_);
  memory_ = nullptr;
}

BufferPool::~BufferPool() {
  for (const Block& block : idle_) release(block.memory, block.bytes);
}

std::size_t BufferPool::idle_bytes() const {
  std::lock_guard lock(mutex_);
  return idle_bytes_;
}

BufferPool::Block BufferPool::take(std::size_t bytes) {
  {
    std::lock_guard lock(mutex_);
    // The smallest buffer that is large enough.
    auto best = idle_.end();
    for (auto block = idle_.begin(); block != idle_.end(); ++block)
      if (block->bytes >= bytes && (best == idle_.end() || block->bytes < best->bytes))
        best = block;
    if (best != idle_.end()) {
      const Block found = *best;
      idle_.erase(best);
      idle_bytes_ -= found.bytes;
      used(bytes);
      return found;
    }
  }
  // Allocates an eighth more, so that sequences of nearly the same length can share buffers.
  const std::size_t size = (bytes + bytes / 8 + 4095) / 4096 * 4096;
  check_memory("memory", "a computation of this size", static_cast<double>(size));
  const Block made{allocate(size), size};
  std::lock_guard lock(mutex_);
  used(bytes);
  return made;
}

void BufferPool::used(std::size_t bytes) {
  bytes_in_use_ += bytes;
  most_now_ = std::max(most_now_, bytes_in_use_);
  most_in_use_ = std::max(most_in_use_, most_now_);
}

void BufferPool::keep(Block block, std::size_t wanted) {
  std::lock_guard lock(mutex_);
  bytes_in_use_ -= wanted;
  idle_.push_back(block);
  idle_bytes_ += block.bytes;
  // What was once in use at once is forgotten slowly, by a thirtieth with each use of less.
  if (bytes_in_use_ == 0)
    most_in_use_ = std::max(std::exchange(most_now_, 0), most_in_use_ - most_in_use_ / 32);
  // Buffers are larger than what was wanted, see take().
  const std::size_t most = std::max(limit_, (most_in_use_ - bytes_in_use_) / 4 * 5);
  while (idle_bytes_ > most) {
    // Frees the smallest first: larger buffers can serve more requests.
    const auto smallest = std::min_element(
        idle_.begin(), idle_.end(),
        [](const Block& left, const Block& right) { return left.bytes < right.bytes; });
    idle_bytes_ -= smallest->bytes;
    release(smallest->memory, smallest->bytes);
    idle_.erase(smallest);
  }
}

}  // namespace pushdown
