// The passes of language models whose kernels are simulated: an LSTM of 20 units with each kind of
// stack, in float32.
#pragma once
#include "base/json.h"
#include "gpu/simulate/kernel_library.h"

namespace pushdown::gpu_simulate {

struct PassCase {
  std::string name;
  Json stack;
  int vocabulary;
};
const std::vector<PassCase>& pass_cases();
// Throws std::invalid_argument with the names of all.
const PassCase& pass_case(const std::string& name);

struct PassSizes {
  int length = 12, batch = 2;  // symbols, sequences of a model
  int models = 1;
  // Only the first round of each launch runs, with as many blocks as a full multiprocessor holds;
  // zero blocks: all run, one after the other. The numbers of other blocks are not computed.
  bool first_round = false;
  unsigned together = 0;  // this many instead of all that fit; 0: those
  bool full_device = false;
};

struct SimulatedLaunch {
  std::string kernel;
  const CompiledKernel* compiled = nullptr;
  bool backward = false;
  Launch launch;
  Statistics statistics;
  TimingModel model;
  double steps = 0;  // of the sequences of all blocks that ran

  // Milliseconds of this launch with `models` instead of the number of PassSizes.
  double milliseconds(double models) const;
  double per_step(std::uint64_t count) const { return static_cast<double>(count) / steps; }
  int models_run = 1;
};

struct SimulatedPasses {
  std::vector<SimulatedLaunch> launches;
  // The largest deviation from the kernels of the CPU, relative to the largest number; not with
  // first_round.
  double values = 0, gradients = 0;
};

// Compiles the kernels that are not there yet, and runs the passes.
SimulatedPasses simulate_passes(KernelLibrary& library, const PassCase& which,
                                const PassSizes& sizes);
// Returns the printed text of a case, of a form of its own.
std::string source_of(const PassCase& which, bool is_double, int threads);

}  // namespace pushdown::gpu_simulate
