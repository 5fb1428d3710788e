// The audience of trainings. A training tells that it began, its updates and epochs, and that it
// ended, failed or was interrupted. Of each event the audience passes on to
//   the live view     a block on a terminal, lines elsewhere, the newest text in a notebook
//   the logs          also log.txt of the run folder
//   the run folder    the learning curves, the record in the registry of runs
//   the mirror        files for other programs
// what concerns them; for a silent training only to the last two and, at level debug, to the logs.
// `name` is that of the training among several, "" for a training alone.
#pragma once
#include <atomic>

#include "bindings/train/trainer.h"

namespace pushdown {

// Before a round: tells, once each, that the training continues a run, or that it begins.
void tell_began(Training& training, const std::string& name);
// After an epoch. `rate`: the learning rate before it.
void tell_epoch(lua_State* L, Training& training, const EpochMetrics& metrics, double rate,
                const std::string& name);
// A limit ended the training within an epoch.
void tell_ended(lua_State* L, Training& training, const std::string& name);
void tell_failed(const Training& training, const std::string& name, const std::string& error);
void tell_interrupted(const std::vector<TrainingPtr>& trainings);

// Passes the updates of a round to the live view during its lifetime. The threads that train only
// count; one that finds the view due shows what all have counted.
class RoundView {
 public:
  RoundView(const std::vector<Training*>& trainings, std::vector<std::string> names);
  ~RoundView();
  RoundView(const RoundView&) = delete;
  RoundView& operator=(const RoundView&) = delete;

 private:
  struct Count {
    std::atomic<std::int64_t> done = 0;
    std::int64_t total = 1;
    std::atomic<double> seconds = 0;
  };
  void show();

  LiveView& view_ = LiveView::of_process();
  const std::vector<Training*>& trainings_;
  const std::vector<std::string> names_;
  std::vector<Count> counts_;
};

// Returns the name of the training's row in the live view and in summaries.
std::string row_name(const Training& training, const std::string& name);
// The log of the run folder, as long as the handle exists; null without a folder.
std::shared_ptr<void> log_file_of(const Trainer& trainer);
// Draws the learning curves of a run folder. A failure is logged and has no other effect.
void draw_curves(lua_State* L, const Trainer& trainer, const Path& folder);

}  // namespace pushdown
