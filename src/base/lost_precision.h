// Tells the code that starts a computation that its results may be wrong, because a number type
// cannot hold what they depend on. That code sets a flag with a LossScope; the computation asks for
// it with watches_losses() and reports with report_loss(). The scope belongs to the thread;
// parallel_for passes it on to its helper threads.
#pragma once
#include <atomic>

namespace pushdown {

using LossFlag = std::atomic<bool>;

// Returns the flag of this thread's scope, or null.
LossFlag* loss_flag() noexcept;

class LossScope {
 public:
  explicit LossScope(LossFlag* flag) noexcept;
  ~LossScope();
  LossScope(const LossScope&) = delete;
  LossScope& operator=(const LossScope&) = delete;

 private:
  LossFlag* outer_;
};

// Returns whether somebody wants to know and does not know yet, so that looking is worth its time.
bool watches_losses() noexcept;
void report_loss() noexcept;

}  // namespace pushdown
