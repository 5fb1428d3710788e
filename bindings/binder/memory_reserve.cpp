#include "bindings/binder/memory_reserve.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace pushdown {
namespace {

constexpr std::size_t kForRetry = std::size_t{1} << 20, kForUnwinding = std::size_t{8} << 20;

// Pages that have not been written to cost nothing.
std::atomic<void*> for_retry{nullptr}, for_unwinding{nullptr};

void use_memory_reserve() {
  if (void* const memory = for_retry.exchange(nullptr)) return std::free(memory);
  std::free(for_unwinding.exchange(nullptr));
  throw std::bad_alloc();
}

void take(std::atomic<void*>& place, std::size_t size) noexcept {
  if (place.load(std::memory_order_relaxed) != nullptr) return;
  std::free(place.exchange(std::malloc(size)));
}

}  // namespace

void keep_memory_reserve() {
  refill_memory_reserve();
  std::set_new_handler(use_memory_reserve);
}

void refill_memory_reserve() noexcept {
  take(for_unwinding, kForUnwinding);
  take(for_retry, kForRetry);
}

}  // namespace pushdown
