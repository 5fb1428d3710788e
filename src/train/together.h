// Several trainers side by side: random restarts or learning rates of one experiment, each with
// its own parameters, optimizer state and order of the data. The pool of base/parallel.h takes
// whole updates of different trainers, so that the cores are full without any of them waiting for
// another inside an update. Each trainer's numbers are those of training it alone. Where scripts
// defined parts of one of them, all are trained in turn on the calling thread.
//
// On a CUDA device those whose models differ in the values of their parameters alone make their
// updates as one (train/shared_updates.h).
#pragma once
#include "model/step_engine.h"
#include "train/trainer.h"

namespace pushdown {

// What became of one trainer in a round.
struct TogetherResult {
  std::optional<EpochMetrics> epoch;  // absent when it was finished, stopped or failed
  bool stopped = false;               // should_stop said so; the next round goes on there
  std::string error;                  // why it failed: training has diverged, a full disk, ...
};

// Trains each trainer to the end of its running epoch; finished ones are passed over, and the
// failure of one does not touch the others. Callbacks are called from any thread, one at a time
// for each trainer. Throws std::invalid_argument when two trainers share a model. `engine`: what
// stands for the device of shared updates, null for the device where the models are.
std::vector<TogetherResult> run_epoch_together(const std::vector<Trainer*>& trainers,
                                               const StepEnginePtr& engine = nullptr);

}  // namespace pushdown
