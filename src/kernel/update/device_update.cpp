#include "kernel/update/device_update.h"

#include "base/check.h"
#include "kernel/update/device_update_loop.h"

namespace pushdown {

std::int64_t device_update_blocks(std::int64_t count) {
  return (count + device::kNumbersOfBlock - 1) / device::kNumbersOfBlock;
}

template <class F>
void check_device_update(const DeviceUpdate<F>& update) {
  constexpr auto kWhere = "device_update";
  check(update.models >= 1 && update.models <= 65535, kWhere, "models must be 1 to 65535, got {}",
        update.models);
  check(update.batch >= 1 && update.steps >= 1 && update.hidden >= 1 && update.outcomes >= 1,
        kWhere, "there must be a sequence, a step, a hidden number and an outcome");
  const auto positions = update.steps + 1;
  const auto most =
      std::max({update.count, positions * update.outcomes, positions * update.hidden});
  check(most <= device::kMostNumbers, kWhere, "a model takes {} numbers, the kernels {} at most",
        most, device::kMostNumbers);
}

template void check_device_update(const DeviceUpdate<float>&);
template void check_device_update(const DeviceUpdate<double>&);

}  // namespace pushdown
