#include "support/step_team.h"

#include <algorithm>
#include <limits>

#include "kernel/step/device_step_sums.h"
#include "kernel/update/device_update_loop.h"
#include "support/thread_team.h"

namespace pushdown::testing_support {
namespace {

// Fills all memory that the pass must write before it reads it with NaN.
template <class F>
void spoil(const DeviceStepProgram<F>& program, bool backward) {
  constexpr F kNaN = std::numeric_limits<F>::quiet_NaN();
  const auto places = program.models * program.batch;
  const auto sizes = device_step_sizes(program.memory);
  if (program.scratch != nullptr) std::fill_n(program.scratch, places * sizes.scratch, kNaN);
  if (program.array_memory > 0)
    std::fill_n(program.array_room, places * 2 * program.array_memory, kNaN);
  if (backward)
    std::fill_n(program.sequence_gradients, places * program.parameters, kNaN);
  else if (program.tape != nullptr)
    std::fill_n(program.tape, places * sizes.tape, kNaN);
  for (std::int64_t n = 0; n < program.count; ++n) {
    const StepNode& node = program.nodes[n];
    const DeviceStepPlace<F>& place = program.places[n];
    if (row_of(node.op).source == StepOperation::Source::elsewhere || node.op == StepOp::constant ||
        node.op == StepOp::held || place.value == nullptr)
      continue;
    for (std::int64_t model = 0; model < program.models; ++model)
      for (std::int64_t b = 0; b < program.batch; ++b) {
        // The values from before the first step are given, and so are sequences.
        if (!backward && node.op != StepOp::sequence)
          for (std::int64_t t = 1; t <= (place.step > 0 ? program.steps : 1); ++t)
            std::fill_n(place.value + model * place.model + b * place.row + t * place.step,
                        node.size, kNaN);
        // The gradient with respect to the final memory is given.
        if (backward && place.gradient != nullptr && node.op != StepOp::left)
          for (std::int64_t slot = 0; slot < place.slots; ++slot)
            std::fill_n(place.gradient + model * place.gradient_model + b * place.gradient_row +
                            slot * place.gradient_step,
                        node.size, kNaN);
      }
  }
}

}  // namespace

template <class F>
void run_step_teams(const DeviceStepProgram<F>& program, bool backward, int size, int lanes) {
  constexpr F kNaN = std::numeric_limits<F>::quiet_NaN();
  check_device_step(program, backward);
  spoil(program, backward);
  const auto places = program.models * program.batch;
  const auto sizes = device_step_sizes(program.memory);
  // The place of the fast numbers must not matter.
  const auto run = [&]<class Loop>() {
    for (std::int64_t place = 0; place < places; ++place) {
      std::vector<F> near(sizes.fast, kNaN);
      F* fast = backward || program.scratch == nullptr ? near.data() : nullptr;
      run_team(size, lanes, [&](const ThreadTeam& team) {
        Loop loop(program, place / program.batch, place % program.batch, fast);
        if (backward)
          loop.backward(team);
        else
          loop.forward(team);
      });
    }
  };
  if (program.has_long_code)
    device::with_step_loop<F, true>(program.memory, run);
  else
    device::with_step_loop<F, false>(program.memory, run);
  if (!backward) return;
  for (std::int64_t model = 0; model < program.models; ++model)
    for (std::int64_t i = 0; i < program.parameters; ++i)
      device::sum_over_sequences(program, model, i);
}

template <class F>
void run_update_teams(const DeviceUpdate<F>& update, DeviceUpdatePart part, int size, int lanes) {
  check_device_update(update);
  const auto spoil = [](auto* numbers, std::int64_t count) {
    std::fill_n(numbers, count, std::numeric_limits<F>::quiet_NaN());
  };
  const auto sequences = update.models * update.batch;
  const auto blocks = device_update_blocks(update.count);
  // Calls body(team, model, block).
  const auto run = [&](std::int64_t count, const auto& body) {
    for (std::int64_t model = 0; model < update.models; ++model)
      for (std::int64_t block = 0; block < count; ++block)
        run_team(size, lanes, [&](const ThreadTeam& team) { body(team, model, block); });
  };
  double near[device::kMostUpdateGroups];
  if (part == DeviceUpdatePart::begin) {
    for (std::int64_t k = 0; k < update.copy_count; ++k) {
      const DeviceCopy<F>& copy = update.copies[k];
      for (std::int64_t m = 0; m < update.models; ++m)
        for (std::int64_t b = 0; b < update.batch; ++b)
          spoil(copy.to + m * copy.to_model + b * copy.to_sequence, copy.rows * copy.columns);
    }
    return run(update.batch, [&](const ThreadTeam& team, std::int64_t model, std::int64_t b) {
      device::begin_update(team, update, model, b);
    });
  }
  if (part == DeviceUpdatePart::outputs) {
    const auto positions = update.steps + 1;
    spoil(update.likelihoods, sequences * positions);
    spoil(update.scores, sequences * positions * update.outcomes);
    spoil(update.slopes, sequences * update.steps * update.hidden);
    const auto parts = update.steps / device::kPositionsOfBlock + 1;
    return run(update.batch * parts,
               [&](const ThreadTeam& team, std::int64_t model, std::int64_t block) {
                 device::update_outputs(team, update, model, block / parts, block % parts);
               });
  }
  spoil(update.gradients, update.models * update.count);
  spoil(update.squares, update.models * blocks);
  run(blocks, [&](const ThreadTeam& team, std::int64_t model, std::int64_t block) {
    device::collect_gradients(team, update, model, block, blocks, near);
  });
  run(1, [&](const ThreadTeam& team, std::int64_t model, std::int64_t) {
    device::sum_update(team, update, model, blocks, near);
  });
}

template <class F>
void run_optimizer_teams(const DeviceOptimizerStep<F>& step) {
  for (std::int64_t k = 0; k < step.member_count; ++k)
    for (std::int64_t i = 0; i < step.count; ++i) device::optimizer_step(step, k, i);
}

template void run_step_teams(const DeviceStepProgram<float>&, bool, int, int);
template void run_step_teams(const DeviceStepProgram<double>&, bool, int, int);

template void run_update_teams(const DeviceUpdate<float>&, DeviceUpdatePart, int, int);
template void run_update_teams(const DeviceUpdate<double>&, DeviceUpdatePart, int, int);
template void run_optimizer_teams(const DeviceOptimizerStep<float>&);
template void run_optimizer_teams(const DeviceOptimizerStep<double>&);

}  // namespace pushdown::testing_support
