// pd.train: trainers, evaluation, run folders.
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/define/definition.h"
#include "bindings/model/classes.h"
#include "bindings/session/log.h"
#include "bindings/session/progress.h"
#include "bindings/train/evaluation.h"
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

namespace {

Json history_of(const Trainer& trainer) {
  Json list = Json::array();
  for (const auto& epoch : trainer.history()) list.push_back(to_json(epoch));
  return list;
}

// pushdown.plot draws the curves. A failure is logged and has no other effect.
void draw_curves(lua_State* L, const Trainer& trainer, const Path& folder) {
  if (trainer.history().empty()) return;
  const auto wrong = call_library(L, "pushdown.plot", "curves", [&] {
    lua_createtable(L, 0, 2);
    Value<std::string>::push(L, (folder / "curves.svg").string());
    lua_setfield(L, -2, "path");
    Value<Json>::push(L, history_of(trainer));
    lua_setfield(L, -2, "history");
    return 1;
  });
  if (wrong) log_message("warn", fmt::format("the learning curves were not drawn: {}", *wrong));
}

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

}  // namespace

void tell_epoch(lua_State* L, Training& training, const EpochMetrics& metrics, double rate,
                const std::string& name) {
  const Trainer& trainer = *training.trainer;
  const char* level = training.progress ? "info" : "debug";
  std::vector<std::string> lines{name + epoch_line(metrics)};
  if (metrics.stage && *metrics.stage != trainer.stage())
    lines.push_back(fmt::format("{}stage {} of {} begins, learning rate {:.3g}", name,
                                trainer.stage(), trainer.stages(), trainer.learning_rate()));
  else if (trainer.learning_rate() != rate)
    lines.push_back(
        fmt::format("{}the learning rate falls to {:.3g} after {} epochs without "
                    "improvement",
                    name, trainer.learning_rate(), metrics.epochs_since_improvement));
  if (!trainer.finished().empty())
    lines.push_back(fmt::format("{}training ends: {}; best was epoch {}", name, trainer.finished(),
                                metrics.best_epoch));
  tell_progress(level, lines);
  if (!training.bound_warned && metrics.cross_entropy_difference && metrics.difference_error) {
    const auto warning = bound_warning(*metrics.cross_entropy_difference, *metrics.difference_error,
                                       metrics.bound_includes_end);
    if (!warning.empty()) log_message("warn", name + warning);
    training.bound_warned = !warning.empty();
  }
  if (const auto loss = diverged_loss(metrics))
    log_message("warn",
                fmt::format("{}epoch {}: the mean loss is {:.3g}: training has diverged; {}; the "
                            "best epoch is {}",
                            name, metrics.epoch, *loss, kDivergenceAdvice, metrics.best_epoch));
  draw_when_due(L, training);
  if (training.mirrored) mirror_training(L, *trainer.run_folder(), "epoch");
  if (!trainer.finished().empty() && trainer.run_folder() != nullptr)
    record_training(L, trainer, "ended", *trainer.run_folder());
  if (!trainer.finished().empty() && training.mirrored)
    mirror_training(L, *trainer.run_folder(), "ended");
}

namespace {

// Trains the rest of the current epoch, with a progress line on stderr.
std::optional<EpochMetrics> epoch_with_progress(Training& training) {
  Trainer& trainer = *training.trainer;
  if (!training.progress) return trainer.run_epoch();
  ProgressLine line;
  // Formatting costs more than a small update, so it is done only if something can be shown.
  auto next_look = std::chrono::steady_clock::now();
  trainer.callbacks.progress = [&](const Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look && progress.done > 1) return;
    next_look = now + std::chrono::milliseconds(50);
    std::string title =
        fmt::format("{} {} of {}", progress.validating ? "validating epoch" : "epoch",
                    progress.epoch, progress.epochs);
    if (progress.stages > 1)
      title += fmt::format(", stage {} of {}", progress.stage, progress.stages);
    line.show({title, progress.done, progress.total, progress.validating ? "batches" : "updates",
               fmt::format("loss {:.4f}", progress.loss)});
  };
  // Removes the line when this call ends for any reason.
  const std::shared_ptr<void> forget(nullptr, [&](void*) { trainer.callbacks.progress = nullptr; });
  return trainer.run_epoch();
}

std::optional<Json> next_epoch(lua_State* L, Epochs& epochs, Rest) {
  Training& training = *epochs.training;
  Trainer& trainer = *training.trainer;
  if (!trainer.finished().empty()) return std::nullopt;
  const char* level = training.progress ? "info" : "debug";
  std::shared_ptr<void> log_file;
  if (trainer.run_folder() != nullptr)
    log_file = add_log_file((*trainer.run_folder() / "log.txt").string());
  if (trainer.updates_done() == 0)
    tell_progress(level,
                  {fmt::format("training: {} {}, {} updates an epoch, {} parameters",
                               trainer.problem().training_strings(), trainer.problem().unit(),
                               trainer.updates_per_epoch(), trainer.model()->parameter_count())});
  std::optional<EpochMetrics> metrics;
  const double rate = trainer.learning_rate();
  try {
    metrics = epoch_with_progress(training);
  } catch (const ScriptError&) {
    // The update in which the error occurred has no effect.
    trainer.checkpoint();
    throw;
  } catch (const std::runtime_error& error) {
    if (log_file) log_message("error", error.what());
    throw;
  }
  if (!metrics && !trainer.finished().empty()) {
    log_message(level, fmt::format("training ends: {}, at update {}", trainer.finished(),
                                   trainer.updates_done()));
    draw_when_due(L, training);
    return std::nullopt;
  }
  if (!metrics) {
    log_message(level, fmt::format("interrupted at update {}", trainer.updates_done()));
    stop_if_interrupted(L);
    throw std::runtime_error("interrupted");
  }
  tell_epoch(L, training, *metrics, rate);
  return to_json(*metrics);
}

Json step(lua_State* L, Training& training) {
  std::optional<UpdateMetrics> metrics;
  try {
    metrics = training.trainer->step();
  } catch (const ScriptError&) {
    training.trainer->checkpoint();
    throw;
  }
  if (!metrics) {
    stop_if_interrupted(L);
    const std::string over = training.trainer->finished();
    throw std::runtime_error(over.empty() ? "interrupted" : "training is over: " + over);
  }
  return to_json(*metrics);
}

struct SaveTrainerOptions {
  bool overwrite = false;
  static OptionRows rows() {
    return declare<SaveTrainerOptions>(
        {{"overwrite", &SaveTrainerOptions::overwrite, "replaces another run in the folder"}});
  }
};

void save_trainer(lua_State* L, Training& training, const std::string& folder,
                  const SaveTrainerOptions& options) {
  training.trainer->save(folder, options.overwrite, about_now(L));
  draw_curves(L, *training.trainer, folder);
  record_training(L, *training.trainer, "saved", folder);
}

Json trainer_evaluate(lua_State* L, Training& training, const AnyData& data,
                      const EvaluateOptions& given) {
  return evaluate_model(L, training.trainer->model(), data, given);
}

struct LoadModelOptions {
  std::string which = "best", device;
  using Self = LoadModelOptions;
  static OptionRows rows() {
    return declare<Self>(
        {{"which", &Self::which, "the best parameters of a run, or the newest",
          OneOf{{"best", "last"}}},
         {"device", &Self::device, "'cpu', 'cuda' or 'cuda:n'; if absent, that of the model"}});
  }
};

SequenceModelPtr load_trainer(lua_State* L, const std::string& path,
                              const LoadModelOptions& options) {
  return load_model(path, options.which, options.device, session_kinds(L));
}

std::string training_line(const Training& training) {
  const Trainer& trainer = *training.trainer;
  std::string text =
      fmt::format("Trainer: {} updates, {} epochs of {} updates", trainer.updates_done(),
                  trainer.epochs_done(), trainer.updates_per_epoch());
  if (!trainer.history().empty()) {
    const EpochMetrics& last = trainer.history().back();
    text += last.train_accuracy ? fmt::format(", best accuracy {:.2f} % in epoch {}",
                                              100 * last.best_accuracy, last.best_epoch)
                                : fmt::format(", best cross-entropy {:.4f} in epoch {}",
                                              last.best_cross_entropy, last.best_epoch);
  }
  if (!trainer.finished().empty()) text += ", finished: " + trainer.finished();
  return text;
}

}  // namespace

void bind_train(lua_State* L) {
  {
    Module module(L, "train", "Training, evaluation and run folders.");
    bind_making(module);
    bind_evaluation(module);
    bind_training_kinds(module);
    bind_together(module);
    Class<Training>(module, "Trains one model. Training can be stopped and resumed at any update.")
        .def<&step>("step",
                    "trainer:step() -> table  Makes one update. Returns loss (nats per symbol of "
                    "the batch, or per string for a recognizer), gradient_norm, learning_rate, "
                    "epoch and update.")
        .def<[](const TrainingPtr& training) { return Epochs{training}; }>(
            "epochs",
            "trainer:epochs() -> iterator  Returns an iterator: `for epoch in trainer:epochs()` "
            "trains until early stopping or the last epoch and gives the metrics of each epoch.")
        .def<&save_trainer>(
            "save",
            "trainer:save(folder, {options})  Writes a run folder from which pd.train.resume "
            "continues.")
        .def<&trainer_evaluate>("evaluate",
                                "trainer:evaluate(data, {options}) -> table  Returns the result of "
                                "pd.train.evaluate for the current parameters of the model.")
        .def<[](const Training& t) { return history_of(*t.trainer); }>(
            "history", "trainer:history() -> table  Returns the metrics of every epoch so far.")
        .def<[](const Training& t) { return t.trainer->model(); }>(
            "model",
            "trainer:model() -> LanguageModel, Recognizer or Transducer  Returns the model that is "
            "trained.")
        .def<[](const Training& t) { return t.trainer->options(); }>(
            "options",
            "trainer:options() -> table  Returns all options, with the defaults filled in.")
        .def<[](const Training& t) -> std::optional<std::string> {
          const Path* folder = t.trainer->run_folder();
          return folder ? std::optional(folder->string()) : std::nullopt;
        }>("run_folder",
           "trainer:run_folder() -> string  Returns the path of the run folder, or nil.")
        .def<[](const Training& t) -> std::optional<std::string> {
          const auto reason = t.trainer->finished();
          return reason.empty() ? std::nullopt : std::optional(reason);
        }>("finished",
           "trainer:finished() -> string  Returns the reason why training has ended, or nil.")
        .def<[](const Training& t) { return t.trainer->updates_done(); }>(
            "updates",
            "trainer:updates() -> integer  Returns the number of updates since training began.")
        .def<[](const Training& t) { return t.trainer->updates_per_epoch(); }>(
            "updates_per_epoch",
            "trainer:updates_per_epoch() -> integer  Returns the number of batches in an epoch.")
        .def<&training_line>("__tostring",
                             "tostring(trainer) -> string  Returns one line about the trainer.");
    Class<Epochs>(module, "The epochs of a trainer, one after the other.")
        .def<&next_epoch>("__call",
                          "epochs() -> table  Trains one epoch and returns its metrics, or nil "
                          "when training is over.");
  }
  lua_getfield(L, -1, "model");
  define(L, lua_gettop(L), "pd.model.load", "load", bound<&load_trainer>(),
         "load(path, {options}) -> LanguageModel, Recognizer or Transducer  Returns the model in a "
         "run folder, an exported folder, a checkpoint file or a file of model:save.");
  lua_pop(L, 1);
}

}  // namespace pushdown
