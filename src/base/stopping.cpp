#include "base/stopping.h"

#include <utility>

namespace pushdown {
namespace {

constinit thread_local const StopFlag* scope_flag = nullptr;

}  // namespace

const StopFlag* stop_flag() noexcept { return scope_flag; }

StopScope::StopScope(const StopFlag* flag) noexcept : outer_(std::exchange(scope_flag, flag)) {}

StopScope::~StopScope() { scope_flag = outer_; }

void StopCheck::stop() { throw Stopped(); }

}  // namespace pushdown
