// The part of pd.train that says what there is: the options of trainers, objectives, learning
// algorithms, optimizers.
#include "base/check.h"
#include "bindings/contract.h"
#include "bindings/definition.h"
#include "bindings/kinds.h"
#include "bindings/training.h"
#include "train/learning.h"
#include "train/recognition.h"
#include "train/text_modelling.h"
#include "train/transduction.h"

namespace pushdown {
namespace {

struct TrainerKind {
  const char *name, *trains, *model, *data, *second;
  const std::vector<OptionSpec>& (*options)();
};

const std::vector<TrainerKind>& trainer_kinds() {
  constexpr auto kValid = "valid              {}, optional: decides which epoch is best";
  constexpr auto kTest = "test               {}, optional: accuracy is measured on them";
  static const std::vector<TrainerKind> kinds{
      {"language_model", "language model", "LanguageModel", "Dataset", kValid,
       language_modelling_options},
      {"text", "language model on a running text", "LanguageModel", "RunningText", kValid,
       text_modelling_options},
      {"recognizer", "recognizer", "Recognizer", "LabelledDataset", kValid, recognition_options},
      {"transducer", "transducer", "Transducer", "Pairs", kTest, transduction_options}};
  return kinds;
}

std::string describe_trainer(std::optional<std::string> kind) {
  const auto& kinds = trainer_kinds();
  const auto of = kind.value_or("language_model");
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const TrainerKind& row) { return row.name == of; });
  check(found != kinds.end(), "train.describe",
        "expected 'language_model', 'text', 'recognizer' or 'transducer', got '{}'", of);
  std::string text = fmt::format("trainer: trains a {} by gradient descent", found->trains);
  text += fmt::format("\n  model              {}, required: what is trained", found->model);
  text += fmt::format("\n  train              {}, required: the strings to learn", found->data);
  text += "\n  " + fmt::format(fmt::runtime(found->second), found->data);
  text += "\n  progress           boolean, default true: show progress on stderr";
  text += "\n  mirror             text, optional: a copy of the metrics for another program, ";
  text += "tensorboard:FOLDER or wandb:FOLDER";
  for (const auto& spec : trainer_options(found->options())) text += "\n  " + describe(spec);
  return text;
}

template <class Kinds>
std::string train_describe_kind(const char* where, const Kinds& kinds, const std::string& kind) {
  const auto& row = find_row(where, kinds, kind);
  return describe_row(row, row.options);
}

std::vector<std::string> objective_names(lua_State* L) {
  return row_names(session_kinds(L).objectives);
}
std::string describe_objective(lua_State* L, const std::string& kind) {
  const auto& row = find_row("train.describe_objective", session_kinds(L).objectives, kind);
  return describe_row(row, row.options, origin_text(L, "objective", kind));
}
std::vector<std::string> learning_names() { return row_names(learning_kinds()); }
std::string describe_learning(const std::string& kind) {
  return train_describe_kind("train.describe_learning", learning_kinds(), kind);
}

std::vector<std::string> optimizer_names() { return row_names(optimizer_kinds()); }
std::string describe_optimizer(const std::string& kind) {
  return train_describe_kind("train.describe_optimizer", optimizer_kinds(), kind);
}

std::vector<std::string> annealing_names() { return row_names(annealing_kinds()); }
std::string describe_annealing(const std::string& kind) {
  return train_describe_kind("train.describe_annealing", annealing_kinds(), kind);
}

std::string describe_noise() {
  std::string text = "noise: scales some matrices of the weights while a gradient is found";
  for (const auto& spec : AdaptiveNoise::options()) text += "\n  " + describe(spec);
  return text;
}

}  // namespace

std::vector<OptionGroup> trainer_groups(lua_State*) {
  std::vector<OptionGroup> groups;
  for (const auto& kind : trainer_kinds())
    groups.push_back({std::string("a ") + kind.trains, declared(trainer_options(kind.options()))});
  return groups;
}

void bind_training_kinds(Module& module) {
  module
      .def<&describe_trainer>("describe",
                              "describe(kind='language_model') -> string  The options of trainer "
                              "for a language_model, a recognizer, a transducer, or a language "
                              "model on a running text (kind 'text').")
      .def<&objective_names>("objectives",
                             "objectives() -> table  What recognizers can be trained to do.")
      .def<&describe_objective>("describe_objective",
                                "describe_objective(kind) -> string  What an objective is, and "
                                "its options.")
      .def<&define_objective>(
          "define_objective",
          "define_objective{options} -> string  Makes an objective of a Lua function a kind like "
          "the others; see docs/extending.md.")
      .def<&check_objective>("check_objective",
                             "check_objective(kind or {options}) -> Contract  Runs the contract "
                             "tests on an objective: losses, gradients, batches, pieces, options.")
      .def<&learning_names>("learning_algorithms",
                            "learning_algorithms() -> table  How the gradient of a recognizer's "
                            "loss can be found.")
      .def<&describe_learning>("describe_learning",
                               "describe_learning(kind) -> string  What a learning algorithm "
                               "does, and its options.")
      .def<&optimizer_names>("optimizers", "optimizers() -> table  The names of the optimizers.")
      .def<&describe_optimizer>(
          "describe_optimizer",
          "describe_optimizer(kind) -> string  What an optimizer does, and its options.")
      .def<&annealing_names>("annealings",
                             "annealings() -> table  How the learning rate can change from update "
                             "to update.")
      .def<&describe_annealing>("describe_annealing",
                                "describe_annealing(kind) -> string  What an annealing does, and "
                                "its options.")
      .def<&describe_noise>(
          "describe_noise",
          "describe_noise() -> string  The options of adaptive noise on weights.");
}

}  // namespace pushdown
