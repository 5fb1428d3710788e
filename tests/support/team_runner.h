// The kernels of CUDA devices by teams of threads of the processor, for tensors of the processor.
#pragma once
#include <algorithm>
#include <limits>

#include "kernel/device_scan_loop.h"
#include "model/device_runner.h"
#include "support/step_team.h"
#include "support/thread_team.h"

namespace pushdown::testing_support {

class TeamRunner final : public DeviceRunner {
 public:
  explicit TeamRunner(int size = 1, int lanes = 1) : size_(size), lanes_(lanes) {}

  std::size_t memory = std::numeric_limits<std::size_t>::max();
  mutable int passes = 0;  // run so far

  void forward(const DeviceScan<float>& scan) const override { run_scan(scan, false); }
  void forward(const DeviceScan<double>& scan) const override { run_scan(scan, false); }
  void backward(const DeviceScan<float>& scan) const override { run_scan(scan, true); }
  void backward(const DeviceScan<double>& scan) const override { run_scan(scan, true); }
  void run(const DeviceStepProgram<float>& program, bool backward) const override {
    ++passes;
    run_step_teams(program, backward, size_, lanes_);
  }
  void run(const DeviceStepProgram<double>& program, bool backward) const override {
    ++passes;
    run_step_teams(program, backward, size_, lanes_);
  }
  std::size_t free_bytes() const override { return memory; }

 private:
  template <class F>
  void run_scan(const DeviceScan<F>& scan, bool backward) const {
    ++passes;
    check_device_scan(scan, backward);
    const auto places = scan.models * scan.batch;
    // What lies there from other calls is not to matter.
    std::fill_n(scan.scratch, places * device_scan_sizes(scan.shape).scratch,
                std::numeric_limits<F>::quiet_NaN());
    device::with_scan_loop<F>(scan.shape, [&]<class Loop>() {
      for (std::int64_t place = 0; place < places; ++place)
        run_team(size_, lanes_, [&](const ThreadTeam& team) {
          Loop loop(scan, place / scan.batch, place % scan.batch, nullptr);
          if (backward)
            loop.backward(team);
          else
            loop.forward(team);
        });
    });
    if (!backward) return;
    const auto count = device_gradients(scan.shape, scan.symbols).count;
    for (std::int64_t model = 0; model < scan.models; ++model)
      for (std::int64_t i = 0; i < count; ++i) device::sum_over_sequences(scan, count, model, i);
  }

  int size_, lanes_;
};

}  // namespace pushdown::testing_support
