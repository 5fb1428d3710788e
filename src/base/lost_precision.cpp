#include "base/lost_precision.h"

#include <utility>

namespace pushdown {
namespace {

constinit thread_local LossFlag* scope_losses = nullptr;

}  // namespace

LossFlag* loss_flag() noexcept { return scope_losses; }

LossScope::LossScope(LossFlag* flag) noexcept : outer_(std::exchange(scope_losses, flag)) {}

LossScope::~LossScope() { scope_losses = outer_; }

bool watches_losses() noexcept {
  return scope_losses != nullptr && !scope_losses->load(std::memory_order_relaxed);
}

void report_loss() noexcept {
  if (scope_losses != nullptr) scope_losses->store(true, std::memory_order_relaxed);
}

}  // namespace pushdown
