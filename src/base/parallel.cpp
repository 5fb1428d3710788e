#include "base/parallel.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/check.h"
#include "base/flush_denormals.h"
#include "base/lost_precision.h"
#include "base/stopping.h"
#include "base/thread_start.h"
#include "base/wait.h"

namespace pushdown {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Waits a short while for a condition, without sleeping. Waking a thread takes about 50
// microseconds, and a training update calls parallel_for several times within one or two
// milliseconds.
template <class Condition>
void spin(const Condition& condition) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::microseconds(200);
  while (!condition() && Clock::now() < end)
    for (int i = 0; i < 20 && !condition(); ++i) pause();
}

class Pool {
 public:
  explicit Pool(int helpers) {
    start_threads(
        threads_, helpers, [this] { serve(); }, [this] { stop(); });
  }
  ~Pool() {
    stop();
    for (auto& thread : threads_) thread.join();
  }

  int helpers() const { return static_cast<int>(threads_.size()); }

  void run(std::int64_t count, const std::function<void(std::int64_t)>& body) {
    {
      std::lock_guard lock(mutex_);
      body_ = &body;
      flag_ = stop_flag();
      losses_ = loss_flag();
      count_ = count;
      next_ = 0;
      error_ = nullptr;
      open_ = true;
      ++round_;
    }
    wake_.notify_all();
    work();
    spin([this] { return busy_ == 0; });
    std::unique_lock lock(mutex_);
    // A helper that wakes up after this finds the round closed; nobody waits for it.
    open_ = false;
    wait(idle_, lock, [this] { return busy_ == 0; });
    body_ = nullptr;
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
  }

  void serve() {
    const FlushDenormals flush;
    inside = true;
    std::uint64_t seen = 0;
    for (;;) {
      spin([&] { return open_ && round_ != seen; });
      {
        std::unique_lock lock(mutex_);
        wait(wake_, lock, [&] { return stopping_ || (open_ && round_ != seen); });
        if (stopping_) return;
        seen = round_;
        ++busy_;
      }
      {
        const StopScope scope(flag_);
        const LossScope losses(losses_);
        work();
      }
      std::lock_guard lock(mutex_);
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  void work() {
    const StopCheck stop;
    for (;;) {
      const std::int64_t item = next_.fetch_add(1);
      if (item >= count_) return;
      try {
        stop();
        (*body_)(item);
      } catch (const std::exception&) {
        std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
        next_ = count_;
      }
    }
  }

 public:
  static thread_local bool inside;

 private:
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  const std::function<void(std::int64_t)>* body_ = nullptr;
  const StopFlag* flag_ = nullptr;  // the caller's, as the next one
  LossFlag* losses_ = nullptr;
  std::int64_t count_ = 0;
  std::atomic<std::int64_t> next_{0};
  std::exception_ptr error_;
  // Written under the mutex.
  std::atomic<int> busy_{0};  // helpers in the current round
  std::atomic<bool> open_{false};
  std::atomic<std::uint64_t> round_{0};
  bool stopping_ = false;
};

thread_local bool Pool::inside = false;

std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> instance;
  return instance;
}

}  // namespace

void set_thread_count(int count) {
  check(count >= 1 && count <= 1024, "threads", "the number of threads must be 1 to 1024, got {}",
        count);
  if (count == thread_count()) return;
  pool() = count > 1 ? std::make_unique<Pool>(count - 1) : nullptr;
}

int thread_count() { return pool() ? pool()->helpers() + 1 : 1; }

void parallel_for(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  if (!pool() || Pool::inside || count < 2) {
    const StopCheck stop;
    for (std::int64_t item = 0; item < count; ++item) {
      stop();
      body(item);
    }
    return;
  }
  Pool::inside = true;
  struct Restore {
    ~Restore() { Pool::inside = false; }
  } restore;
  pool()->run(count, body);
}

}  // namespace pushdown
