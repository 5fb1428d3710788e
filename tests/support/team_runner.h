// The kernels of CUDA devices by teams of processor threads, for tensors of the processor.
#pragma once
#include <limits>

#include "model/device_runner.h"
#include "support/step_team.h"

namespace pushdown::testing_support {

class TeamRunner final : public DeviceRunner {
 public:
  explicit TeamRunner(int size = 1, int lanes = 1) : size_(size), lanes_(lanes) {}

  std::size_t memory = std::numeric_limits<std::size_t>::max();
  mutable int passes = 0;  // number of passes so far

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
  int size_, lanes_;
};

}  // namespace pushdown::testing_support
