// Waiting for a condition variable without std::condition_variable::wait, which got a new version
// in the C++ library of GCC 12. A program that calls it does not start on systems with an older
// library (Rocky and Alma 9), wherever it was built.
#pragma once
#include <pthread.h>

#include <condition_variable>
#include <mutex>

namespace pushdown {

// Does what that function does. May return before another thread notifies.
inline void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock) {
  ::pthread_cond_wait(changed.native_handle(), lock.mutex()->native_handle());
}

// Returns when ready() is true.
void wait(std::condition_variable& changed, std::unique_lock<std::mutex>& lock, auto&& ready) {
  while (!ready()) wait(changed, lock);
}

}  // namespace pushdown
