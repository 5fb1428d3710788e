// trainer:epochs() and trainer:run(): training by epochs, with its log and its live view.
#include "base/check.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/options.h"
#include "bindings/define/definition.h"
#include "bindings/session/log.h"
#include "bindings/session/progress.h"
#include "bindings/train/epoch_text.h"
#include "bindings/train/trainer.h"
#include "train/evaluation/evaluation.h"

namespace pushdown {

// The result of trainer:epochs().
struct Epochs {
  std::shared_ptr<Training> training;
};

template <>
struct ClassName<Epochs> {
  static constexpr const char* value = "Epochs";
};

void draw_curves(lua_State* L, const Trainer& trainer, const Path& folder) {
  if (trainer.history().empty()) return;
  const auto wrong = call_library(L, "pushdown.plot", "curves", [&] {
    lua_createtable(L, 0, 2);
    Value<std::string>::push(L, (folder / "curves.svg").string());
    lua_setfield(L, -2, "path");
    Value<std::vector<EpochTable>>::push(L, history_of(trainer));
    lua_setfield(L, -2, "history");
    return 1;
  });
  if (wrong) log_message("warn", fmt::format("the learning curves were not drawn: {}", *wrong));
}

std::shared_ptr<void> log_file_of(const Trainer& trainer) {
  if (trainer.run_folder() == nullptr) return nullptr;
  return add_log_file((*trainer.run_folder() / "log.txt").string());
}

void show_epochs(LiveRow& row, const Trainer& trainer) {
  const auto& history = trainer.history();
  row.epoch = trainer.epochs_done();
  row.epochs = trainer.options()["epochs"];
  row.part = 0;
  for (auto k = row.curve.size(); k < history.size(); ++k)
    row.curve.push_back(trainer.problem().value(history[k]));
  if (!history.empty()) {
    row.best_epoch = history.back().best_epoch;
    const EpochMetrics& best = history[row.best_epoch - 1];
    row.best = measured_text(best);
    row.value = trainer.problem().value(best);
  }
  if (trainer.stages() > 1)
    row.note = fmt::format("stage {} of {}", trainer.stage(), trainer.stages());
  if (trainer.finished().empty()) return;
  row.state = LiveRow::State::finished;
  row.note = "finished";
}

namespace {

// Draws after an epoch, unless drawing would take a noticeable part of the time.
void draw_when_due(lua_State* L, Training& training) {
  const Path* folder = training.trainer->run_folder();
  if (folder == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  const double since = std::chrono::duration<double>(now - training.drawn).count();
  if (since < 20 * training.drawing_seconds && training.trainer->finished().empty()) return;
  draw_curves(L, *training.trainer, *folder);
  training.drawn = std::chrono::steady_clock::now();
  training.drawing_seconds = std::chrono::duration<double>(training.drawn - now).count();
}

std::string row_name(const Training& training, const std::string& name) {
  return name.empty() ? model_name(*training.trainer->model()) : name;
}

// Logs messages to the files, and shows the short ones.
void tell(const Training& training, const std::vector<std::string>& logged,
          const std::vector<std::string>& shown) {
  if (!training.progress) {
    for (const auto& text : logged) log_message("debug", text);
    return;
  }
  // A notebook shows the newest results of a loop, and in a run the view.
  if (has_listener() && !LiveView::of_process().stays()) return tell_progress("info", logged);
  for (const auto& text : logged) log_to_files("info", text);
  for (const auto& text : shown) LiveView::of_process().say(text);
}

}  // namespace

void tell_epoch(lua_State* L, Training& training, const EpochMetrics& metrics, double rate,
                const std::string& name) {
  const Trainer& trainer = *training.trainer;
  LiveView& view = LiveView::of_process();
  const std::string prefix = name.empty() ? "" : name + ": ",
                    start = name.empty() ? "" : name + "  ";
  std::vector<std::string> lines{prefix + epoch_line(metrics)}, shown{start + epoch_text(metrics)};
  if (metrics.stage && *metrics.stage != trainer.stage()) {
    lines.push_back(fmt::format("{}stage {} of {} begins, learning rate {:.3g}", prefix,
                                trainer.stage(), trainer.stages(), trainer.learning_rate()));
    shown.push_back(
        fmt::format("{}stage {} of {} begins", start, trainer.stage(), trainer.stages()));
  } else if (trainer.learning_rate() != rate) {
    lines.push_back(
        fmt::format("{}the learning rate falls to {:.3g} after {} epochs without "
                    "improvement",
                    prefix, trainer.learning_rate(), metrics.epochs_since_improvement));
  }
  if (!trainer.finished().empty()) {
    const std::string end =
        fmt::format("training ends: {}; best was epoch {}", trainer.finished(), metrics.best_epoch);
    lines.push_back(prefix + end);
    shown.push_back(start + end);
  }
  if (training.progress)
    view.change(row_name(training, name), [&](LiveRow& row) { show_epochs(row, trainer); });
  // A block that stays has a row for the epoch.
  if (view.stays() && view.style() != LiveView::Style::plain) shown.clear();
  tell(training, lines, shown);
  if (!training.bound_warned && metrics.cross_entropy_difference && metrics.difference_error) {
    const auto warning = bound_warning(*metrics.cross_entropy_difference, *metrics.difference_error,
                                       metrics.bound_includes_end);
    if (!warning.empty()) log_message("warn", prefix + warning);
    training.bound_warned = !warning.empty();
  }
  if (const auto loss = diverged_loss(metrics))
    log_message("warn",
                fmt::format("{}epoch {}: the mean loss is {:.3g}: training has diverged; {}; the "
                            "best epoch is {}",
                            prefix, metrics.epoch, *loss, kDivergenceAdvice, metrics.best_epoch));
  draw_when_due(L, training);
  if (training.mirrored) mirror_training(L, *trainer.run_folder(), "epoch");
  if (!trainer.finished().empty() && trainer.run_folder() != nullptr)
    record_training(L, trainer, "ended", *trainer.run_folder());
  if (!trainer.finished().empty() && training.mirrored)
    mirror_training(L, *trainer.run_folder(), "ended");
}

void tell_continued(Training& training, const std::string& name) {
  if (!std::exchange(training.continues, false) || !training.progress) return;
  const Trainer& trainer = *training.trainer;
  const std::string finished = trainer.finished();
  const std::string text =
      finished.empty()
          ? fmt::format("continues after update {}, in epoch {} of {}", trainer.updates_done(),
                        trainer.epochs_done() + 1, trainer.options()["epochs"].get<std::int64_t>())
          : "is finished: " + finished;
  LiveView::of_process().say(fmt::format("{}the run in '{}' {}", name.empty() ? "" : name + ": ",
                                         trainer.run_folder()->string(), text));
}

Results push_summaries(lua_State* L, const std::vector<const Training*>& trainings,
                       const std::vector<std::string>& names,
                       const std::vector<std::string>& errors, bool list) {
  Json all = Json::array();
  for (std::size_t i = 0; i < trainings.size(); ++i) {
    const Trainer& trainer = *trainings[i]->trainer;
    Json one{{"model", row_name(*trainings[i], names[i])},
             {"parameters", trainer.model()->parameter_count()},
             {"epochs", trainer.epochs_done()},
             {"updates", trainer.updates_done()}};
    double seconds = 0;
    for (const auto& epoch : trainer.history()) seconds += epoch.seconds;
    one["seconds"] = seconds;
    if (!trainer.history().empty()) {
      const auto best = trainer.history().back().best_epoch;
      const Json metrics = to_json(trainer.history()[best - 1]);
      one["best_epoch"] = best;
      for (const char* key :
           {"cross_entropy", "cross_entropy_difference", "lower_bound", "perplexity", "accuracy",
            "train_cross_entropy", "train_accuracy", "coarse", "fine"})
        if (metrics.contains(key)) one[key] = metrics[key];
      one["parameters_of"] = trainer.uses_best() ? "best" : "last";
      for (const auto& epoch : trainer.history()) one["history"].push_back(to_json(epoch));
    }
    if (!trainer.finished().empty()) one["finished"] = trainer.finished();
    if (i < errors.size() && !errors[i].empty()) one["error"] = errors[i];
    if (const Path* folder = trainer.run_folder()) one["folder"] = folder->string();
    all.push_back(std::move(one));
  }
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.plot.summary");
  call_lua(L, 1, 1);
  lua_getfield(L, -1, list ? "list" : "one");
  Value<Json>::push(L, list ? all : all[0]);
  call_lua(L, 1, 1);
  return {1};
}

namespace {

// Trains the rest of the current epoch, and shows it.
std::optional<EpochMetrics> epoch_with_view(Training& training, const std::string& name) {
  Trainer& trainer = *training.trainer;
  if (!training.progress) return trainer.run_epoch();
  LiveView& view = LiveView::of_process();
  const LiveScope scope(true, false, "", &training.pace);
  const std::string row = row_name(training, name);
  view.change(row, [&](LiveRow& shown) { show_epochs(shown, trainer); });
  trainer.callbacks.progress = [&](const Progress& progress) {
    if (!view.due()) return;
    view.change(row, [&](LiveRow& shown) {
      shown.part = progress.validating
                       ? 1
                       : static_cast<double>(progress.done) / static_cast<double>(progress.total);
      if (!progress.validating && progress.seconds > 0)
        shown.speed =
            fmt::format("{:.0f}/s", static_cast<double>(progress.done) / progress.seconds);
    });
  };
  // Removes the line when this call ends for any reason.
  const std::shared_ptr<void> forget(nullptr, [&](void*) { trainer.callbacks.progress = nullptr; });
  return trainer.run_epoch();
}

// How an interrupted training continues.
std::string interrupted_text(const Trainer& trainer) {
  const Path* folder = trainer.run_folder();
  return fmt::format("interrupted at update {}, in epoch {} of {}; {} continues",
                     trainer.updates_done(), trainer.epochs_done() + 1,
                     trainer.options()["epochs"].get<std::int64_t>(),
                     folder ? fmt::format("pd.train.resume('{}'):run()", folder->string())
                            : "run() of the same trainer");
}

// Trains one epoch and returns its metrics, or nothing when training is over.
std::optional<EpochMetrics> next_epoch(lua_State* L, Training& training, const std::string& name) {
  Trainer& trainer = *training.trainer;
  tell_continued(training, name);
  if (!trainer.finished().empty()) return std::nullopt;
  const auto log_file = log_file_of(trainer);
  if (trainer.updates_done() == 0)
    tell(training,
         {fmt::format("training: {} {}, {} updates an epoch, {} parameters",
                      trainer.problem().training_strings(), trainer.problem().unit(),
                      trainer.updates_per_epoch(), trainer.model()->parameter_count())},
         {});
  std::optional<EpochMetrics> metrics;
  const double rate = trainer.learning_rate();
  try {
    metrics = epoch_with_view(training, name);
  } catch (const ScriptError&) {
    // The update in which the error occurred has no effect.
    trainer.checkpoint();
    throw;
  } catch (const std::runtime_error& error) {
    if (log_file) log_message("error", error.what());
    throw;
  }
  if (!metrics && !trainer.finished().empty()) {
    const auto text =
        fmt::format("training ends: {}, at update {}", trainer.finished(), trainer.updates_done());
    tell(training, {text}, {text});
    draw_when_due(L, training);
    return std::nullopt;
  }
  if (!metrics) {
    const auto text = interrupted_text(trainer);
    if (!LiveView::of_process().stays()) tell(training, {text}, {text});
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  tell_epoch(L, training, *metrics, rate, name);
  return metrics;
}

std::optional<EpochTable> next_of_epochs(lua_State* L, Epochs& epochs, Rest) {
  const auto metrics = next_epoch(L, *epochs.training, "");
  if (!metrics) return std::nullopt;
  return EpochTable{to_json(*metrics)};
}

struct TrainerRunOptions {
  std::string name;
  bool best = true;
  std::optional<std::int64_t> seeds;
  using Self = TrainerRunOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"name", &Self::name,
          "name of the model in the view and the summary; absent: the kinds of its parts"},
         restore_option(&Self::best),
         {"seeds", &Self::seeds,
          "repeats the training: seed k adds k - 1 to the seeds of the model and of the trainer; "
          "the result is the list of all summaries, with mean, deviation and the best model",
          at_least(1)}});
  }
};

Results run_trainer(lua_State* L, const TrainingPtr& given, const TrainerRunOptions& options) {
  Training& training = *given;
  if (options.seeds) return run_seeds(L, given, *options.seeds, options.best);
  {
    const LiveScope scope(training.progress, true, "", &training.pace);
    try {
      while (next_epoch(L, training, options.name)) {
      }
      LiveView::of_process().finish();
    } catch (const std::exception&) {
      // Also an interrupt between two epochs.
      if (interrupt_check(L)()) {
        const auto log_file = log_file_of(*training.trainer);
        const std::string text = interrupted_text(*training.trainer);
        tell(training, {text}, {text});
      }
      throw;
    }
  }
  options.best ? training.trainer->use_best() : training.trainer->use_last();
  return push_summaries(L, {&training}, {options.name}, {}, false);
}

}  // namespace

void bind_epochs(Class<Training>& trainer) {
  trainer
      .def<&run_trainer>(
          "run",
          "trainer:run({options}) -> table  Trains until early stopping or the last epoch "
          "and shows one live view. Returns the summary: model, epochs, best_epoch, "
          "cross_entropy and cross_entropy_difference (nats per symbol) or accuracy of the "
          "best epoch, seconds, finished (why it ended), folder and history. The model then has "
          "the parameters of the best epoch. A run that is in the folder already continues. An "
          "interrupted trainer continues with the next call.")
      .def<[](const TrainingPtr& training) { return Epochs{training}; }>(
          "epochs",
          "trainer:epochs() -> iterator  Returns an iterator: `for epoch in trainer:epochs()` "
          "trains until early stopping or the last epoch and gives the metrics of each epoch. The "
          "model keeps the parameters of the last one, see trainer:restore().");
}

void bind_iterator(Module& module) {
  Class<Epochs>(module, "The epochs of a trainer, one after the other.")
      .def<&next_of_epochs>("__call",
                            "epochs() -> table  Trains one epoch and returns its metrics, or nil "
                            "when training is over.");
}

}  // namespace pushdown
