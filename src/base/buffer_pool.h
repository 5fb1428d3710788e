// Working memory that is reused instead of being allocated for every call. A pool belongs to the
// object whose calls use it. Any number of threads may take buffers from it.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace pushdown {

class BufferPool;
using BufferPoolPtr = std::shared_ptr<BufferPool>;

// Borrowed memory with undefined contents, aligned to cache lines, from 6 MB on to large pages. The
// destructor returns it to its pool.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const BufferPoolPtr& pool, std::size_t bytes);
  ~Buffer() { give_back(); }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;

  template <class T>
  T* as() const {
    return static_cast<T*>(static_cast<void*>(memory_));
  }

 private:
  void give_back();

  BufferPoolPtr pool_;
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0, wanted_ = 0;
};

class BufferPool {
 public:
  // Keeps returned buffers as long as they fit into `limit` bytes together, or as all buffers are
  // no more than what was in use at once not long ago: an update of a large network. What it gives
  // back to the system has to be cleared by the system at its next use, which can take a third of
  // the time of an update.
  explicit BufferPool(std::size_t limit = std::size_t{256} << 20) : limit_(limit) {}
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;

  std::size_t idle_bytes() const;

 private:
  friend class Buffer;
  struct Block {
    std::byte* memory;
    std::size_t bytes;
  };
  Block take(std::size_t bytes);
  void keep(Block block, std::size_t wanted);
  void used(std::size_t bytes);

  mutable std::mutex mutex_;
  std::vector<Block> idle_;
  std::size_t idle_bytes_ = 0, bytes_in_use_ = 0, limit_;
  std::size_t most_now_ = 0, most_in_use_ = 0;  // at once: since nothing was in use, and lately
};

}  // namespace pushdown
