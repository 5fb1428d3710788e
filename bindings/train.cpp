// pd.train: trainers, evaluation, run folders.
#include <fmt/chrono.h>

#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/define/definition.h"
#include "bindings/grammar.h"
#include "bindings/model.h"
#include "bindings/modules.h"
#include "bindings/session/log.h"
#include "bindings/session/progress.h"
#include "bindings/session/session.h"
#include "bindings/task_dataset.h"
#include "bindings/train_evaluation.h"
#include "bindings/train_trainer.h"
#include "record/git_state.h"
#include "train/learning/learning.h"
#include "train/problems/stages.h"

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

// Returns the words of the command line from `arg`, with those of the program at negative indices.
Json command_line(lua_State* L) {
  std::map<int, std::string> words;
  lua_getglobal(L, "arg");
  if (lua_istable(L, -1))
    for (lua_pushnil(L); lua_next(L, -2) != 0; lua_pop(L, 1))
      if (lua_type(L, -2) == LUA_TNUMBER && lua_type(L, -1) == LUA_TSTRING)
        words[static_cast<int>(lua_tointeger(L, -2))] = lua_tostring(L, -1);
  lua_pop(L, 1);
  Json list = Json::array();
  for (const auto& [index, word] : words) list.push_back(word);
  return list;
}

// The facts that a run folder records besides the options.
Json about_now(lua_State* L) {
  std::error_code ignored;
  const auto folder = std::filesystem::current_path(ignored);
  return {{"version", PUSHDOWN_VERSION},
          {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"command_line", command_line(L)},
          {"working_directory", folder.string()},
          {"git", git_state(folder)}};
}

TrainingPtr watched(lua_State* L, std::unique_ptr<Trainer> trainer, bool progress) {
  auto training = std::make_shared<Training>();
  training->trainer = std::move(trainer);
  training->progress = progress;
  training->trainer->callbacks.should_stop = interrupt_check(L);
  return training;
}

constexpr auto kMirrorMeaning =
    "'tensorboard:FOLDER' or 'wandb:FOLDER': also writes the metrics of the run there";

void tell_missing_locks(const Trainer& trainer) {
  if (trainer.folder_locked()) return;
  log_message("warn", fmt::format("the file system of '{}' has no locks, so a second training of "
                                  "this folder is not refused: the two would destroy the run",
                                  trainer.run_folder()->string()));
}

struct StageOptions {
  AnyData train;
  std::optional<AnyData> valid, test;
  Json rest;
  using Self = StageOptions;
  static OptionRows rows() {
    return declare<Self>({{"train", &Self::train, "training set of the stage", required},
                          {"valid", &Self::valid, "validation set of the stage"},
                          {"test", &Self::test, "for a transducer: test pairs of the stage",
                           TypeText{"Pairs"}}})
        .raw(&Self::rest, stage_options());
  }
};

struct TrainerOptions {
  AnyModel model;
  std::optional<AnyData> train, valid, test;
  std::vector<StageOptions> stages;
  std::shared_ptr<Grammar> grammar;
  bool progress = true;
  std::optional<std::string> mirror;
  Json rest;
  using Self = TrainerOptions;
  static OptionRows rows() {
    return declare<Self>(
               {{"model", &Self::model, "model to train", required},
                {"train", &Self::train,
                 "training set, of the model's kind; required without stages"},
                {"valid", &Self::valid, "validation set, which decides which epoch is the best"},
                {"test", &Self::test, "for a transducer: pairs on which accuracy is measured",
                 TypeText{"Pairs"}},
                {"stages", &Self::stages,
                 "curriculum, in place of train and valid: list of stages, each with train, valid "
                 "(or test), epochs, learning_rate, difference and accuracy"},
                {"grammar", &Self::grammar, "grammar of the strings, used in measurements"},
                {"progress", &Self::progress, "shows progress on stderr"},
                {"mirror", &Self::mirror, kMirrorMeaning}})
        .open(&Self::rest, "", trainer_groups);
  }
};

void begin_mirror(lua_State* L, Training& training, const Path& folder, const std::string& target) {
  if (target.empty() || !training.trainer->finished().empty()) return;
  training.mirrored = true;
  mirror_training(L, folder, "begins", target);
}

// The problem of the given data. The options of stages are added to `rest`.
ProblemPtr problem_of(lua_State* L, const TrainerOptions& options, Json& rest) {
  constexpr const char* kPlace = "train.trainer";
  const bool transducer = std::holds_alternative<TransducerPtr>(options.model);
  const auto made = [&](const AnyData& train, const auto& given) {
    check(!(transducer ? given.valid : given.test), kPlace,
          "there is no option '{}' with this model", transducer ? "valid" : "test");
    ProblemParts parts{model_of(options.model), data_of(train), std::nullopt, options.grammar,
                       session_kinds(L).objectives};
    if (const auto& second = transducer ? given.test : given.valid) parts.second = data_of(*second);
    return make_problem(kPlace, parts);
  };
  if (options.stages.empty()) {
    check(options.train.has_value(), kPlace, "expected train, the training set, or stages");
    return made(*options.train, options);
  }
  check(!options.train && !options.valid && !options.test, kPlace,
        "stages have their own data: leave out train, valid and test beside them");
  std::vector<ProblemPtr> stages;
  std::int64_t epochs = 0;
  bool limited = true;  // whether every stage has a number of epochs
  for (const StageOptions& stage : options.stages) {
    stages.push_back(made(stage.train, stage));
    rest["stages"].push_back(stage.rest);
    const Json own = stage.rest.value("epochs", Json());
    limited = limited && own.is_number_integer();
    if (limited) epochs += own.get<std::int64_t>();
  }
  if (limited && epochs > 0 && !rest.contains("epochs")) rest["epochs"] = epochs;
  return staged(std::move(stages));
}

TrainingPtr make_trainer(lua_State* L, const TrainerOptions& options) {
  Json rest = options.rest;
  ProblemPtr problem = problem_of(L, options, rest);
  check(!options.mirror || options.rest.contains("run_folder"), "train.trainer",
        "mirror needs run_folder, which names the run");
  const std::string target = mirror_target(L, options.mirror);
  if (!rest.contains("seed")) rest["seed"] = seed_or_next(L, std::nullopt);
  // Calling git takes milliseconds, which are only worth it for a record.
  const Json about = rest.contains("run_folder") ? about_now(L) : Json::object();
  auto training =
      watched(L, std::make_unique<Trainer>(std::move(problem), rest, about), options.progress);
  if (const Path* folder = training->trainer->run_folder()) {
    tell_missing_locks(*training->trainer);
    record_training(L, *training->trainer, "begins", *folder);
    begin_mirror(L, *training, *folder, target);
  }
  return training;
}

// A run continues with the current definitions. The folder has the definitions from its beginning.
void tell_changed_definitions(const Trainer& trainer, const Path& folder) {
  for (const OriginPtr& origin : trainer.problem().origins()) {
    const Path copy = definition_file(folder, *origin);
    std::error_code ignored;
    if (!std::filesystem::exists(copy, ignored) || read_file(copy) == origin->source) continue;
    log_message("warn", fmt::format("the {} '{}' is defined by a script that has changed since "
                                    "the run began, '{}'",
                                    origin->registry, origin->name, copy.string()));
  }
}

struct ResumeOptions {
  bool progress = true;
  std::optional<std::string> mirror;
  Json changes;
  static OptionRows rows() {
    return declare<ResumeOptions>(
               {{"progress", &ResumeOptions::progress, "shows progress on stderr"},
                {"mirror", &ResumeOptions::mirror, kMirrorMeaning}})
        .raw(&ResumeOptions::changes, resume_options());
  }
};

TrainingPtr resume(lua_State* L, const std::string& folder, const ResumeOptions& options) {
  const std::string target = mirror_target(L, options.mirror);
  auto trainer = resume_trainer(folder, options.changes, about_now(L), session_kinds(L));
  tell_changed_definitions(*trainer, folder);
  tell_missing_locks(*trainer);
  record_training(L, *trainer, "resumed", folder);
  auto training = watched(L, std::move(trainer), options.progress);
  begin_mirror(L, *training, folder, target);
  return training;
}

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
    module
        .def<&make_trainer>(
            "trainer",
            "trainer{options} -> Trainer  Returns a trainer of a LanguageModel on a Dataset, a "
            "RunningText or Sentences, of a Recognizer on a LabelledDataset, or of a Transducer on "
            "Pairs; see pd.train.describe(kind).")
        .def<&resume>("resume",
                      "resume(folder, {options}) -> Trainer  Resumes the run in a folder bit for "
                      "bit. Given options replace limits of the run.");
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
