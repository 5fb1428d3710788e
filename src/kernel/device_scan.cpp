#include "kernel/device_scan.h"

#include <algorithm>

#include "base/check.h"
#include "kernel/device_scan_loop.h"

namespace pushdown {

DeviceScanSizes device_scan_sizes(const ScanShape& shape) {
  return device::with_scan_loop<float>(shape, [&]<class Loop>() { return Loop::sizes(shape); });
}

DeviceGradients device_gradients(const ScanShape& shape, std::int64_t symbols) {
  return device::gradient_places(shape, symbols);
}

template <class F>
void check_device_scan(const DeviceScan<F>& scan, bool backward) {
  constexpr auto kDeviceScanPlace = "device_scan";
  const ScanShape& shape = scan.shape;
  check(shape.stack != ScanStack::shifted && shape.stack != ScanStack::analog, kDeviceScanPlace,
        "stack must be none, superposition, stratification or nondeterministic");
  check(shape.steps >= 1 && shape.hidden >= 1, kDeviceScanPlace,
        "sequences need at least one step and one unit, got {} and {}", shape.steps, shape.hidden);
  check(shape.layers >= 1 && shape.layers <= kMaxScanLayers, kDeviceScanPlace,
        "layers must be 1 to {}, got {}", kMaxScanLayers, shape.layers);
  check(shape.gates == device::cell_gates(shape.cell) * shape.hidden, kDeviceScanPlace,
        "gates must be {}, got {}", device::cell_gates(shape.cell) * shape.hidden, shape.gates);
  // The limit of the second axis of a grid.
  check(scan.models >= 1 && scan.models <= 65535, kDeviceScanPlace,
        "models must be 1 to 65535, got {}", scan.models);
  check(scan.batch >= 1, kDeviceScanPlace, "the batch must hold a sequence, got {}", scan.batch);
  const auto sizes = device_scan_sizes(shape);
  const auto most =
      std::max({sizes.tape, sizes.scratch, device_gradients(shape, scan.symbols).count,
                shape.layers * shape.steps * shape.gates});
  check(most <= device::kMostNumbers, kDeviceScanPlace,
        "a sequence of {} steps takes {} numbers, the kernels {} at most", shape.steps, most,
        device::kMostNumbers);
  check(!backward || !device::cell_splits(shape.cell) || scan.recurrent_gradient != nullptr,
        kDeviceScanPlace, "gru needs memory for recurrent_gradient");
}

template void check_device_scan(const DeviceScan<float>&, bool);
template void check_device_scan(const DeviceScan<double>&, bool);

}  // namespace pushdown
