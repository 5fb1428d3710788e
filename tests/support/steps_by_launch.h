// A device whose passes of steps are a function of a test.
#pragma once
#include <limits>

#include "model/device_runner.h"
#include "recurrence/device/steps.h"
#include "support/step_team.h"

namespace pushdown::testing_support {

// Runs the steps by a launch, and updates by teams of processor threads.
template <class F>
class StepsByLaunch final : public TypedDeviceRunner<StepsByLaunch<F>> {
 public:
  explicit StepsByLaunch(DeviceStepLaunch<F> launch) : launch_(std::move(launch)) {}

  std::function<bool(const std::string&)> owns;  // for runs_own()

  template <class Program>
  void steps(const Program& program, bool backward) const {
    if constexpr (std::is_same_v<Program, DeviceStepProgram<F>>) launch_(program, backward);
  }
  template <class Update>
  void update(const Update& update, DeviceUpdatePart part) const {
    run_update_teams(update, part, 1, 1);
  }
  template <class Step>
  void optimizers(const Step& step) const {
    run_optimizer_teams(step);
  }
  bool runs_own(const std::string& text) const override { return owns && owns(text); }
  std::size_t free_bytes() const override { return std::numeric_limits<std::size_t>::max(); }

 private:
  DeviceStepLaunch<F> launch_;
};

}  // namespace pushdown::testing_support
