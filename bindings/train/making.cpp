// pd.train.trainer and pd.train.resume: a trainer from its options, or from a run folder.
#include <fmt/chrono.h>

#include <ctime>
#include <filesystem>

#include "base/check.h"
#include "bindings/binder/bind.h"
#include "bindings/binder/interrupt.h"
#include "bindings/binder/kinds.h"
#include "bindings/binder/options.h"
#include "bindings/binder/path.h"
#include "bindings/define/definition.h"
#include "bindings/grammar/classes.h"
#include "bindings/model/classes.h"
#include "bindings/session/log.h"
#include "bindings/session/state.h"
#include "bindings/task/classes.h"
#include "bindings/train/evaluation.h"
#include "bindings/train/trainer.h"
#include "record/git_state.h"
#include "train/problems/stages.h"

namespace pushdown {

Json about_now(lua_State* L) {
  std::error_code ignored;
  const auto folder = std::filesystem::current_path(ignored);
  return {{"version", PUSHDOWN_VERSION},
          {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"command_line", command_line(L)},
          {"working_directory", folder.string()},
          {"git", git_state(folder)}};
}

namespace {

TrainingPtr watched(lua_State* L, std::unique_ptr<Trainer> trainer, bool progress) {
  auto training = std::make_shared<Training>();
  training->trainer = std::move(trainer);
  training->progress = progress;
  training->trainer->callbacks.should_stop = interrupt_check(L);
  return training;
}

constexpr auto kMirrorMeaning =
    "'tensorboard:FOLDER' or 'wandb:FOLDER': also writes the metrics of the run there";

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

void tell_missing_locks(const Trainer& trainer) {
  if (trainer.folder_locked()) return;
  log_message("warn",
              fmt::format("the file system of '{}' has no locks, so a second training in this "
                          "folder would not be refused, and the two would destroy the run",
                          trainer.run_folder()->string()));
}

// A run continues with the data of its folder. `given`: those that the script has made this time.
void tell_other_data(const Trainer& trainer, const Path& folder, const Problem& given) {
  const Json before = describe_data(trainer.problem()), now = describe_data(given);
  const auto differs = [&](const std::string& part) {
    return nlohmann::json(before.value(part, Json())) != nlohmann::json(now.value(part, Json()));
  };
  for (const auto& part : {"train", "valid", "earlier_stages"})
    if (differs(part))
      log_message("warn", fmt::format("the run in '{}' continues with the data of its folder, "
                                      "which differ from the given ones ({}); give datasets a seed",
                                      folder.string(), part));
}

void begin_mirror(lua_State* L, Training& training, const Path& folder, const std::string& target) {
  if (target.empty() || !training.trainer->finished().empty()) return;
  training.mirrored = true;
  mirror_training(L, folder, "begins", target);
}

// The resumed training of a folder. given: the problem of the script, or null.
TrainingPtr opened(lua_State* L, std::unique_ptr<Trainer> trainer, const Path& folder,
                   bool progress, const std::string& target, const Problem* given) {
  tell_changed_definitions(*trainer, folder);
  if (given != nullptr) tell_other_data(*trainer, folder, *given);
  tell_missing_locks(*trainer);
  record_training(L, *trainer, "resumed", folder);
  auto training = watched(L, std::move(trainer), progress);
  training->continues = true;
  begin_mirror(L, *training, folder, target);
  return training;
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
  std::optional<bool> resume;
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
                {"resume", &Self::resume,
                 "continues the run in run_folder, if it contains one with the same model and "
                 "options; if absent, true unless overwrite is set"},
                {"mirror", &Self::mirror, kMirrorMeaning}})
        .open(&Self::rest, "", trainer_groups);
  }
};

// Returns the option `resume` or its default.
bool resumes(const TrainerOptions& options) {
  const Json& rest = options.rest;
  const bool overwrite = rest.contains("overwrite") && rest["overwrite"] == true;
  const bool named = rest.contains("run_folder") && rest["run_folder"].is_string();
  if (named) check_path("train.trainer", "run_folder", rest["run_folder"]);
  if (!options.resume) return named && !overwrite;
  check(!*options.resume || named, "train.trainer", "resume needs run_folder, which names the run");
  check(!*options.resume || !overwrite, "train.trainer",
        "resume and overwrite exclude each other: the run in the folder continues or is replaced");
  return *options.resume;
}

// The problem of the given data. The options of stages are added to `rest`.
ProblemPtr problem_of(lua_State* L, const TrainerOptions& options, Json& rest) {
  constexpr const char* kWhere = "train.trainer";
  const bool transducer = std::holds_alternative<TransducerPtr>(options.model);
  const auto made = [&](const AnyData& train, const auto& given) {
    check(!(transducer ? given.valid : given.test), kWhere,
          "there is no option '{}' with this model", transducer ? "valid" : "test");
    ProblemParts parts{model_of(options.model), data_of(train), std::nullopt, options.grammar,
                       session_kinds(L).objectives};
    if (const auto& second = transducer ? given.test : given.valid) parts.second = data_of(*second);
    return make_problem(kWhere, parts);
  };
  if (options.stages.empty()) {
    check(options.train.has_value(), kWhere, "expected train, the training set, or stages");
    return made(*options.train, options);
  }
  check(!options.train && !options.valid && !options.test, kWhere,
        "stages have their own data: leave out train, valid and test");
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

TrainingPtr new_training(lua_State* L, const TrainerOptions& options) {
  Json rest = options.rest;
  ProblemPtr problem = problem_of(L, options, rest);
  check(!options.mirror || options.rest.contains("run_folder"), "train.trainer",
        "mirror needs run_folder, which names the run");
  const std::string target = mirror_target(L, options.mirror);
  if (resumes(options))
    if (const Path folder = rest["run_folder"].get<std::string>(); contains_run(folder))
      return opened(L, continue_trainer(problem->model(), rest, about_now(L), session_kinds(L)),
                    folder, options.progress, target, problem.get());
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

TrainingPtr make_trainer(lua_State* L, const TrainerOptions& options) {
  const SequenceModelPtr model = model_of(options.model);
  const std::string initial = parameters_checksum(*model);
  auto training = new_training(L, options);
  training->initial = initial;
  training->repeat = [options, initial,
                      seed = training->trainer->options()["seed"].get<std::int64_t>()](
                         lua_State* L, std::int64_t k) {
    const SequenceModelPtr first = model_of(options.model);
    Json description = describe_model(*first);
    const auto made = [&] { return model_from_description(description, "", session_kinds(L)); };
    check(parameters_checksum(*made()) == initial, "Trainer:run",
          "seeds cannot repeat this training, because the model's parameters were changed before "
          "the trainer was made: make a trainer for each seed, and train them by "
          "pd.train.together");
    Json& own = description["options"]["seed"];
    own = own.get<std::int64_t>() + k - 1;
    const SequenceModelPtr model = made();
    for (std::size_t i = 0; i < model->parameters().size(); ++i) {
      Tensor parameter = model->parameters()[i].second;
      parameter.set_requires_grad(first->parameters()[i].second.requires_grad());
    }
    TrainerOptions again = options;
    std::visit(
        [&]<class M>(std::shared_ptr<M>& held) { held = std::dynamic_pointer_cast<M>(model); },
        again.model);
    again.rest["seed"] = seed + k - 1;
    if (again.rest.contains("run_folder"))
      again.rest["run_folder"] =
          (Path(again.rest["run_folder"].get<std::string>()) / fmt::format("seed-{}", k)).string();
    return make_trainer(L, again);
  };
  return training;
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

TrainingPtr resume(lua_State* L, const PathText& folder, const ResumeOptions& options) {
  const std::string target = mirror_target(L, options.mirror);
  return opened(L, resume_trainer(folder, options.changes, about_now(L), session_kinds(L)), folder,
                options.progress, target, nullptr);
}

}  // namespace

void bind_making(Module& module) {
  module
      .def<&make_trainer>(
          "trainer{options} -> Trainer  Returns a trainer of a LanguageModel on a Dataset, a "
          "RunningText or Sentences, of a Recognizer on a LabelledDataset, or of a Transducer on "
          "Pairs; see pd.train.describe(kind).")
      .def<&resume>(
          "resume(folder, {options}) -> Trainer  Resumes the run in a folder bit for bit. Given "
          "options replace limits of the run.");
}

}  // namespace pushdown
