// The kernels of CUDA devices by teams of processor threads, for tensors of the processor.
#pragma once
#include <limits>

#include "model/device_runner.h"
#include "support/step_team.h"

namespace pushdown::testing_support {

class TeamRunner final : public TypedDeviceRunner<TeamRunner> {
 public:
  explicit TeamRunner(int size = 1, int lanes = 1) : size_(size), lanes_(lanes) {}

  std::size_t memory = std::numeric_limits<std::size_t>::max();
  mutable int passes = 0;  // of steps, so far

  template <class F>
  void steps(const DeviceStepProgram<F>& program, bool backward) const {
    ++passes;
    run_step_teams(program, backward, size_, lanes_);
  }
  template <class F>
  void update(const DeviceUpdate<F>& update, DeviceUpdatePart part) const {
    run_update_teams(update, part, size_, lanes_);
  }
  template <class F>
  void optimizers(const DeviceOptimizerStep<F>& step) const {
    run_optimizer_teams(step);
  }
  std::size_t free_bytes() const override { return memory; }

 private:
  int size_, lanes_;
};

}  // namespace pushdown::testing_support
