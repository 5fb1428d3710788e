// Stops long work from outside, for example on Ctrl-C. The code that starts the work sets a stop
// flag with a StopScope, and the loops of the core read that flag with a StopCheck. The scope
// belongs to the thread; parallel_for passes it on to its helper threads. A scope does not change
// the result of work that is not stopped.
#pragma once
#include <atomic>
#include <stdexcept>

namespace pushdown {

// Thrown by a StopCheck. The work is discarded; the objects that it used are unchanged.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("interrupted") {}
};

using StopFlag = std::atomic<int>;  // not 0: stop

// Returns the flag of this thread's scope, or null if there is no scope.
const StopFlag* stop_flag() noexcept;

// Sets this thread's stop flag during its lifetime. A null flag protects work that must not be left
// half done: nothing can stop it.
class StopScope {
 public:
  explicit StopScope(const StopFlag* flag) noexcept;
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* outer_;
};

// Looks up the flag once, so that a loop can read it cheaply in each iteration.
class StopCheck {
 public:
  StopCheck() noexcept : flag_(stop_flag()) {}
  bool asked() const noexcept {
    return flag_ != nullptr && flag_->load(std::memory_order_relaxed) != 0;
  }
  // Throws Stopped if the work was asked to stop.
  void operator()() const {
    if (asked()) stop();
  }
  const StopFlag* flag() const noexcept { return flag_; }

 private:
  [[noreturn]] static void stop();
  const StopFlag* flag_;
};

}  // namespace pushdown
