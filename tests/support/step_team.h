// Step programs by the source of the CUDA kernels, in teams of threads of the processor.
#pragma once
#include <algorithm>
#include <limits>

#include "kernel/device_step_loop.h"
#include "support/thread_team.h"

namespace pushdown::testing_support {

// All sequences by teams of `size` threads in groups of `lanes`. What lies in scratch from before
// is not to matter, nor is where the fast numbers are.
template <class F>
void run_step_teams(const DeviceStepProgram<F>& program, bool backward, int size, int lanes) {
  constexpr F kNaN = std::numeric_limits<F>::quiet_NaN();
  check_device_step(program, backward);
  const auto places = program.models * program.batch;
  const auto sizes = device_step_sizes(program.memory);
  if (program.scratch != nullptr) std::fill_n(program.scratch, places * sizes.scratch, kNaN);
  if (backward) std::fill_n(program.sequence_gradients, places * program.parameters, kNaN);
  device::with_step_loop<F>(program.memory.stack, [&]<class Loop>() {
    for (std::int64_t place = 0; place < places; ++place) {
      std::vector<F> near(static_cast<std::size_t>(sizes.fast), kNaN);
      F* fast = backward || program.scratch == nullptr ? near.data() : nullptr;
      run_team(size, lanes, [&](const ThreadTeam& team) {
        Loop loop(program, place / program.batch, place % program.batch, fast);
        if (backward)
          loop.backward(team);
        else
          loop.forward(team);
      });
    }
  });
  if (!backward) return;
  for (std::int64_t model = 0; model < program.models; ++model)
    for (std::int64_t i = 0; i < program.parameters; ++i)
      device::sum_over_sequences(program, model, i);
}

}  // namespace pushdown::testing_support
