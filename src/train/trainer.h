// Trains a model by gradient descent on the mean loss over a batch of strings. The problem
// (problem.h) defines the loss and the value by which epochs are compared. An epoch takes every
// batch of equal-length strings of the current phase once, in an order shuffled by a seeded
// generator, then evaluates the validation set and applies the schedule.
//
// Batches differ in size. The option `average` says of what the mean gradient of an epoch is the
// gradient: of the mean loss over all strings of the phase, or over all their symbols, or of the
// mean over the updates of the mean loss of each. The loss of an update that has s of the S strings
// of a phase with U updates is therefore multiplied by s U / S (symbols: divided by the mean number
// of symbols of an update), which is 1 if all updates have equally many strings.
//
// Training can be stopped at any update, by should_stop, by an exception or by a kill. Continuing
// with the same object or with resume_trainer() gives the numbers of an uninterrupted run, bit for
// bit, whatever the number of threads (wall-clock times aside).
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include "train/optimizing/adaptive_noise.h"
#include "train/optimizing/annealing.h"
#include "train/optimizing/common_updates.h"
#include "train/optimizing/optimizer.h"
#include "train/optimizing/schedule.h"
#include "train/optimizing/used_rows.h"
#include "train/problems/batch_order.h"
#include "train/problems/language_modelling.h"
#include "train/records/metrics.h"
#include "train/records/run_folder.h"

namespace pushdown {

// Returns the options batch, average, those of the problem, epochs, accumulate, optimizer,
// clip_norm, clip_value, annealing, noise, schedule_options(), seed, run_folder, overwrite,
// checkpoint_every, checkpoint_seconds, log_every, max_seconds.
std::vector<OptionSpec> trainer_options(const std::vector<OptionSpec>& of_problem);

struct TrainerCallbacks {
  std::function<bool()> should_stop;              // called before every batch
  std::function<void(const Progress&)> progress;  // called after every batch
};

class Trainer {
 public:
  // The run folder's configuration records `about` (version, command line). Throws
  // std::invalid_argument for unknown or wrong options or a run folder that contains another run,
  // and std::runtime_error for a run folder that cannot be written.
  Trainer(ProblemPtr problem, const Json& options, const Json& about = Json::object());
  // Trains a language model; `valid` may be null. Also throws std::invalid_argument for no data or
  // an alphabet that is not the model's.
  Trainer(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid, const Json& options,
          const Json& about = Json::object())
      : Trainer(language_modelling(std::move(model), std::move(train), std::move(valid)), options,
                about) {}

  const Json& options() const { return options_; }
  const SequenceModelPtr& model() const { return model_; }
  const Problem& problem() const { return *problem_; }
  // Returns the run folder; nullptr if there is none.
  const Path* run_folder() const { return folder_ ? &folder_->path() : nullptr; }
  bool folder_locked() const { return folder_ && folder_->locked(); }

  TrainerCallbacks callbacks;
  // The engine for updates by kernels (optimizing/common_updates.h); null: that of the model's
  // device, if it has such kernels.
  StepEnginePtr engine;

  // Makes one update; the last one of an epoch is followed by validation and schedule, see
  // run_epoch(). Returns nothing if should_stop returned true, or if the training ends with a
  // validation that was interrupted before. Throws std::runtime_error, before the parameters
  // change, for a loss or gradient that is not finite.
  std::optional<UpdateMetrics> step();
  // Runs the rest of the current epoch, validation and schedule. Returns nothing if should_stop
  // returned true; the next call continues from there.
  std::optional<EpochMetrics> run_epoch();
  // Makes at most `count` updates of the current epoch. When its last batch is done, also runs
  // validation and schedule (closed: history() has the epoch's metrics). stopped: should_stop
  // returned true.
  enum class Advance { running, closed, stopped };
  Advance advance(std::int64_t count);

  // Returns why training is over, or "".
  std::string finished() const;
  // The current phase of the curriculum, from 0, and its stage out of how many, from 1.
  std::int64_t phase() const { return phase_; }
  std::int64_t stage() const { return running().stage; }
  std::int64_t stages() const { return phases_.back().stage; }
  std::int64_t epochs_done() const { return static_cast<std::int64_t>(history_.size()); }
  std::int64_t updates_done() const { return updates_; }
  std::int64_t updates_per_epoch() const { return updates_of(order_->count()); }
  // in the current epoch
  std::int64_t updates_left() const { return updates_of(order_->count() - order_->position()); }
  double learning_rate() const { return optimizer_->learning_rate(); }  // before annealing
  const std::vector<EpochMetrics>& history() const { return history_; }

  // The parts of an update, for gradients that are computed outside (shared_updates.h):
  // shared_batch(), check_update(), a step of optimizer() with the gradient multiplied by
  // clip_factor() and the learning rate step_rate(), then finish_update().
  // Starts the clock of max_seconds, if it does not run yet, and frees what own updates have kept.
  void begin_sharing();
  // Returns the next update's batch; nothing if the epoch or training is over, or if the gradient
  // is not that of -log p alone: with accumulation, noise, frozen parameters or clip_value.
  std::optional<LikelihoodBatch> shared_batch() const;
  // Returns whether should_stop returns true or max_seconds have passed since the first update of
  // this object.
  bool stopped() const {
    return out_of_time() || (callbacks.should_stop && callbacks.should_stop());
  }
  // Throws if the loss or the norm of the gradient is not finite. Writes a checkpoint that is due.
  void check_update(const BatchLoss& sum, double norm);
  Optimizer& optimizer() { return *optimizer_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  // Returns the factor by which clip_norm scales a gradient of this norm, at most 1.
  double clip_factor(double norm) const;
  double step_rate() const;  // learning rate of the next update, after annealing
  // Counts the update, which took `seconds`, and reports it.
  void finish_update(const BatchLoss& sum, double norm, double seconds);

  // Writes last.safetensors into the run folder, if there is one. Does not write weights that are
  // not finite: the last good checkpoint stays.
  void checkpoint();
  // Writes a complete run folder, from which resume_trainer() continues. Throws for a folder that
  // contains another run, unless `overwrite` is set. `about` is recorded if the constructor was
  // given none.
  void save(const Path& folder, bool overwrite = false, const Json& about = Json::object());

  // Gives the model the parameters of the best epoch; nothing if no epoch is done. Training does
  // not notice it: the next update, checkpoint() and save() use the parameters of the last update,
  // which use_last() gives back. But if something else changes the model's parameters in between,
  // training goes on from these.
  void use_best();
  void use_last();
  // Returns whether the model has the parameters of the best epoch because of use_best().
  bool uses_best() const;

  // The complete state that determines the rest of training. restore() restores it; for a file that
  // does not fit, it throws std::runtime_error with `file_name` and changes nothing.
  TensorFile state() const;
  void restore(const TensorFile& state, const std::string& file_name);

 private:
  friend std::unique_ptr<Trainer> resumed(const Path&, const StoredRun&, const Json&, const Json&);
  using Clock = std::chrono::steady_clock;

  void open_run_folder(const Path& folder, bool overwrite);
  void write_initial(const RunFolder& folder) const;
  Json config() const;
  TensorFile best_file() const;
  bool out_of_time() const;
  std::int64_t updates_of(std::int64_t batches) const {
    return (batches + accumulate_ - 1) / accumulate_;
  }
  bool parameters_finite() const;
  std::optional<UpdateMetrics> take_batch();
  UpdateMetrics update();
  // Makes the update with the kernels of a device; nothing if it must be made without them.
  std::optional<UpdateMetrics> update_by_kernels(Clock::time_point start);
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  void start_clock();
  // Returns the next batch of the epoch, or one that is `ahead` positions later.
  const std::vector<std::int64_t>& batch(std::int64_t ahead = 0) const;
  std::int64_t batches_of_update() const;  // of the next update
  // Returns the rows of tables that the next update uses, if the others may be updated later.
  UsedRows rows_of_update() const;
  // Returns the learning rate of an update of this epoch after annealing, if there is annealing.
  std::optional<double> used_rate(std::int64_t update) const;
  bool trains_everything() const;  // no parameter and no entry of one is frozen
  // Updates all rows of all tables when the caller's scope ends: between the calls of a trainer,
  // and whenever something else than an update reads the parameters, none is behind.
  std::shared_ptr<void> catching_up() {
    return {nullptr, [this](void*) { optimizer_->catch_up(); }};
  }
  UpdateMetrics count_update(const BatchLoss& sum, double norm, double seconds);
  void tell_update(const UpdateMetrics& metrics);
  std::optional<EpochMetrics> close_epoch();
  EpochMetrics write_epoch();
  void report(const Progress& progress) const;
  // Throws an error that says what is not finite, the state of the parameters and what may help.
  [[noreturn]] void diverged(const std::string& what) const;
  // Returns " on string 3 of the training set", the first one of the next update that alone has a
  // loss or gradient that is not finite; "" if there is none, or for other data than strings.
  std::string first_failing();
  std::string end_reason() const;

  BatchOrder order_of(std::int64_t phase) const;
  std::int64_t updates_of_all_phases() const;  // at most
  // Returns the share of a batch in the mean loss of an update: its strings, or its symbols.
  double mass(const std::vector<std::int64_t>& batch) const;
  // Returns the factor of the mean loss of an update with this mass in the current phase.
  double weight(double mass) const;
  const TrainingPhase& running() const { return phases_[phase_]; }
  bool last_phase() const { return phase_ + 1 == static_cast<std::int64_t>(phases_.size()); }
  // Computes the gradient of the next update: of all its batches, or of batch `number`, from 0.
  BatchLoss differentiate_all();
  BatchLoss differentiate(const std::vector<std::int64_t>& batch, std::int64_t number);
  void take_step();

  ProblemPtr problem_;
  SequenceModelPtr model_;
  Json options_, about_;
  std::string run_;  // identity, random
  std::int64_t batch_size_, log_every_, checkpoint_every_, accumulate_ = 1;
  std::optional<double> max_seconds_;
  std::optional<Clock::time_point> began_;
  double clip_norm_, checkpoint_seconds_;
  std::optional<double> clip_value_;
  enum class Average { strings, symbols, batches };
  Average average_ = Average::strings;
  std::vector<TrainingPhase> phases_;
  // A phase, and its number of strings or symbols.
  mutable std::pair<std::int64_t, double> total_{-1, 0};
  std::int64_t phase_ = 0, phase_epochs_ = 0;  // current, and epochs completed in it
  bool converged_ = false;                     // in the last phase
  std::optional<BatchOrder> order_;
  OptimizerPtr optimizer_;
  std::optional<Schedule> schedule_;
  std::optional<Annealing> annealing_;
  std::optional<AdaptiveNoise> noise_;
  UsedRows used_;  // by the update that is being made
  TableGradients table_gradients_;
  bool engine_known_ = false;
  std::optional<CommonUpdates> by_kernels_;  // if there is an engine
  std::unique_ptr<RunFolder> folder_;
  Clock::time_point last_checkpoint_;
  bool checkpoint_due_ = false;
  // A completed epoch whose files could not be written yet; it has no line in metrics.jsonl unless
  // line_written_ is true. The next call tries again and returns its metrics.
  std::optional<EpochMetrics> closed_;
  bool line_written_ = false;

  std::int64_t updates_ = 0;
  // Sums over the current epoch.
  BatchLoss epoch_sum_;
  std::int64_t epoch_strings_ = 0;
  double epoch_norms_ = 0, epoch_seconds_ = 0, last_loss_ = 0;
  std::vector<EpochMetrics> history_;
  // Weights in the order of the parameters: of the best epoch, and of the last update as long as
  // the model has those of the best epoch.
  std::vector<Tensor> best_, last_;
};

// Returns the options of a trainer that a resumed run may change because they do not affect the
// past. They are absent unless given.
std::vector<OptionSpec> resume_options();
// Resumes the run in `folder`, with the model, data, trainer and checkpoint stored there. `changes`
// may contain resume_options().
std::unique_ptr<Trainer> resume_trainer(const Path& folder, const Json& changes = Json::object(),
                                        const Json& about = Json::object(),
                                        const TrainingKinds& kinds = {});
// Resumes the run in options["run_folder"], which began with this model and these options of a
// trainer, and trains this model from the checkpoint on, with the data of the folder. Throws
// std::invalid_argument that names a difference of the model, or of an option that is not one of
// resume_options(). Seeds that are not given may differ.
std::unique_ptr<Trainer> continue_trainer(const SequenceModelPtr& model, const Json& options,
                                          const Json& about = Json::object(),
                                          const TrainingKinds& kinds = {});

}  // namespace pushdown
