// Stopping long work from outside, as Ctrl-C does. Whoever starts work says with a StopScope which
// flag asks it to stop, and the loops of the core look at that flag with a StopCheck. The scope
// belongs to the thread, and parallel_for passes it on to its helpers. Work that nobody asked to
// stop computes the same as without a scope.
#pragma once
#include <atomic>
#include <stdexcept>

namespace pushdown {

// Thrown by a StopCheck. The work is dropped; the objects that it used are as before.
struct Stopped : std::runtime_error {
  Stopped() : std::runtime_error("interrupted") {}
};

using StopFlag = std::atomic<int>;  // not 0: stop

// The flag of this thread's scope, null without one.
const StopFlag* stop_flag() noexcept;

// While it lives, the flag is that of this thread. Null: nothing stops the work, which is for what
// must not be left half done.
class StopScope {
 public:
  explicit StopScope(const StopFlag* flag) noexcept;
  ~StopScope();
  StopScope(const StopScope&) = delete;
  StopScope& operator=(const StopScope&) = delete;

 private:
  const StopFlag* outer_;
};

// Finds the flag once, so that a loop can look at it in each round.
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
