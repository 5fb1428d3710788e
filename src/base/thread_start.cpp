#include "base/thread_start.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>

#include "base/check.h"
#include "base/wait.h"

namespace pushdown {

void start_threads(std::vector<std::thread>& threads, int count, const std::function<void()>& body,
                   const std::function<void()>& stop) {
  threads.reserve(static_cast<std::size_t>(std::max(count, 0)));
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back(body);
  } catch (const std::system_error& error) {
    const auto started = threads.size();
    stop();
    for (auto& thread : threads) thread.join();
    threads.clear();
    fail_environment("threads",
                     "cannot start {} threads, only {} ({}): expected higher limits of processes "
                     "(ulimit -u) and of memory (ulimit -v)",
                     count, started, error.code().message());
  }
}

void require_threads(int count) {
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
  const auto end = [&] {
    const std::lock_guard lock(mutex);
    ended = true;
    changed.notify_all();
  };
  std::vector<std::thread> threads;
  start_threads(
      threads, count,
      [&] {
        std::unique_lock lock(mutex);
        wait(changed, lock, [&] { return ended; });
      },
      end);
  end();
  for (auto& thread : threads) thread.join();
}

}  // namespace pushdown
