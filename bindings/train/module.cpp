// pd.train: trainers, evaluation, run folders.
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/define/definition.h"
#include "bindings/model/classes.h"
#include "bindings/session/drawing.h"
#include "bindings/session/log.h"
#include "bindings/train/audience.h"
#include "bindings/train/epoch_text.h"
#include "bindings/train/evaluation.h"
#include "train/evaluation/evaluation.h"

namespace pushdown {

namespace {

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

void restore_parameters(Training& training, const std::optional<std::string>& which) {
  const std::string of = which.value_or("best");
  check(of == "best" || of == "last", "Trainer:restore", "expected 'best' or 'last', got '{}'", of);
  check(of == "last" || !training.trainer->history().empty(), "Trainer:restore",
        "no epoch is done, so there are no best parameters");
  of == "best" ? training.trainer->use_best() : training.trainer->use_last();
}

Results draw_curve(lua_State* L, Any training, const std::optional<PathText>& path) {
  check(!Value<Training>::get(L, training.index).trainer->history().empty(), "Trainer:curve",
        "no epoch is done");
  return draw(L, "curves", "of", training, path);
}

struct SaveTrainerOptions {
  bool overwrite = false;
  static OptionRows rows() {
    return declare<SaveTrainerOptions>(
        {{"overwrite", &SaveTrainerOptions::overwrite, "replaces another run in the folder"}});
  }
};

void save_trainer(lua_State* L, Training& training, const PathText& folder,
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

SequenceModelPtr load_trainer(lua_State* L, const PathText& path, const LoadModelOptions& options) {
  return load_model(path, options.which, options.device, session_kinds(L));
}

std::string training_line(const Training& training) {
  const Trainer& trainer = *training.trainer;
  const std::string finished = trainer.finished();
  std::string text =
      fmt::format("Trainer: {}, epoch {} of {}", model_name(*trainer.model()),
                  trainer.epochs_done(), trainer.options()["epochs"].get<std::int64_t>());
  if (!trainer.history().empty()) {
    const auto best = trainer.history().back().best_epoch;
    text += fmt::format(", best {} in epoch {}", measured_text(trainer.history()[best - 1]), best);
    if (trainer.uses_best()) text += ", whose parameters the model has";
  }
  if (const Path* folder = trainer.run_folder())
    text += fmt::format(", run folder '{}'", folder->string());
  if (!finished.empty()) return text + ", finished: " + finished;
  return text + (trainer.updates_done() > 0 ? ", paused" : ", not begun");
}

}  // namespace

void bind_train(lua_State* L) {
  {
    Module module(L, "train", "Training, evaluation and run folders.");
    bind_making(module);
    bind_evaluation(module);
    bind_training_kinds(module);
    Class<Training> trainer(module,
                            "Trains one model. Training can be stopped and resumed at any update.");
    trainer
        .def<&step>(
            "trainer:step() -> table  Makes one update. Returns loss (nats per symbol of the "
            "batch, or per string for a recognizer), gradient_norm, learning_rate, epoch and "
            "update, and with annealing used_learning_rate.")
        .def<&save_trainer>(
            "trainer:save(folder, {options})  Writes a run folder from which pd.train.resume "
            "continues.")
        .def<&trainer_evaluate>(
            "trainer:evaluate(data, {options}) -> table  Returns the result of pd.train.evaluate "
            "for the current parameters of the model.")
        .def<&restore_parameters>(
            "trainer:restore(which)  Gives the model the parameters of the best epoch ('best', the "
            "default) or of the last update ('last'). Training always continues from those of the "
            "last update.")
        .def<&draw_curve>(
            "trainer:curve(path) -> string  Returns the learning curves as SVG, which the prompt "
            "shows as text; pd.plot.curves has options. Also writes them to the path, if one is "
            "given.")
        .def<[](const Training& t) { return history_of(*t.trainer); }>(
            "trainer:history() -> table  Returns the metrics of every epoch so far.")
        .def<[](const Training& t) { return t.trainer->model(); }>(
            "trainer:model() -> LanguageModel, Recognizer or Transducer  Returns the model that is "
            "trained.")
        .def<[](const Training& t) { return t.trainer->options(); }>(
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
            "trainer:updates() -> integer  Returns the number of updates since training began.")
        .def<[](const Training& t) { return t.trainer->updates_per_epoch(); }>(
            "trainer:updates_per_epoch() -> integer  Returns the number of batches in an epoch.")
        .def<&training_line>("tostring(trainer) -> string  Returns one line about the trainer.");
    bind_rounds(module, trainer);
  }
  lua_getfield(L, -1, "model");
  define(L, lua_gettop(L), "pd.model.load", "load", bound<&load_trainer>(),
         "load(path, {options}) -> LanguageModel, Recognizer or Transducer  Returns the model in a "
         "run folder, an exported folder, a checkpoint file or a file of model:save.");
  lua_pop(L, 1);
}

}  // namespace pushdown
