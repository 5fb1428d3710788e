// Trains several trainers in parallel: random restarts or learning rates of one experiment, each
// with its own parameters, optimizer state and data order. The thread pool of base/parallel.h runs
// whole updates of different trainers, so that the cores are busy and no trainer waits for another
// inside an update. Each trainer's results equal those of training it alone. An update that needs a
// function of a script runs on the calling thread.
//
// On a CUDA device, trainers whose models differ only in the values of their parameters share their
// updates (train/shared_updates.h).
#pragma once
#include <exception>

#include "model/step_engine.h"
#include "train/trainer.h"

namespace pushdown {

// The result of one trainer in a round.
struct TogetherResult {
  std::optional<EpochMetrics> epoch;  // absent if it was finished, stopped or failed
  bool stopped = false;               // should_stop returned true; the next round continues there
  std::string error;                  // reason of a failure: training diverged, full disk, ...
  std::exception_ptr failure;         // the same

  // Notes the exception that is handled.
  void fail(const std::exception& exception);
};

// Trains each trainer to the end of its current epoch. Finished trainers are skipped, and the
// failure of one does not affect the others. Callbacks may be called from any thread, one at a time
// for each trainer. Throws std::invalid_argument if two trainers share a model. `engine`: the
// engine for shared updates; null: the one of the models' device.
std::vector<TogetherResult> run_epoch_together(const std::vector<Trainer*>& trainers,
                                               const StepEnginePtr& engine = nullptr);

}  // namespace pushdown
