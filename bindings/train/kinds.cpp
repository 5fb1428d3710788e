// The part of pd.train that describes what is available: the options of trainers, objectives,
// learning algorithms and optimizers.
#include "bindings/binder/kinds.h"
#include "base/check.h"
#include "bindings/contract.h"
#include "bindings/define/definition.h"
#include "bindings/session/state.h"
#include "bindings/train/trainer.h"
#include "train/learning/learning.h"
#include "train/problems/problem_kinds.h"
#include "train/problems/stages.h"

namespace pushdown {
namespace {

std::string describe_trainer(std::optional<std::string> given) {
  const auto& kind = find_row("train.describe", problem_kinds(), given.value_or("language_model"));
  std::string text = fmt::format(
      "trainer: trains {} by gradient descent\n  model              {}, required: what is trained"
      "\n  train              {}, required: the strings to learn\n  {:<18} {}, optional: {}"
      "\n  stages             list of tables, optional: a curriculum in place of train and {}, "
      "each "
      "stage with its own data and the options below"
      "\n  progress           boolean, default true: show progress on stderr"
      "\n  mirror             text, optional: a copy of the metrics for another program, "
      "tensorboard:FOLDER or wandb:FOLDER",
      kind.doc, kind.model_name, data_name(kind.data), kind.second, data_name(kind.data),
      kind.second == std::string("test") ? "accuracy is measured on them"
                                         : "decides which epoch is best",
      kind.second);
  for (const auto& spec : with_session_defaults(trainer_options(kind.options())))
    text += "\n  " + describe(spec);
  text += "\na stage:";
  for (const auto& spec : stage_options()) text += "\n  " + describe(spec);
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
  for (const auto& kind : problem_kinds())
    groups.push_back({kind.doc, declared(with_session_defaults(trainer_options(kind.options())))});
  return groups;
}

void bind_training_kinds(Module& module) {
  module
      .def<&describe_trainer>(
          "describe",
          "describe(kind='language_model') -> string  Describes the options of trainer for one "
          "kind of model and data: a 'language_model' on strings, on a running 'text' or on "
          "'sentences', a 'recognizer' or a 'transducer'.")
      .def<&objective_names>(
          "objectives",
          "objectives() -> table  Returns the objectives that recognizers can be trained with.")
      .def<&describe_objective>(
          "describe_objective",
          "describe_objective(kind) -> string  Describes an objective and its options.")
      .def<&define_objective>("define_objective",
                              "define_objective{options} -> string  Makes a kind of objective from "
                              "a Lua function and returns its name; see docs/extending.md.")
      .def<&check_objective>("check_objective",
                             "check_objective(kind or {options}) -> Contract  Runs the contract "
                             "tests on an objective: losses, gradients, batches, pieces, options.")
      .def<&learning_names>(
          "learning_algorithms",
          "learning_algorithms() -> table  Returns the learning algorithms of recognizers.")
      .def<&describe_learning>(
          "describe_learning",
          "describe_learning(kind) -> string  Describes a learning algorithm and its options.")
      .def<&optimizer_names>("optimizers",
                             "optimizers() -> table  Returns the names of the optimizers.")
      .def<&describe_optimizer>(
          "describe_optimizer",
          "describe_optimizer(kind) -> string  Describes an optimizer and its options.")
      .def<&annealing_names>("annealings",
                             "annealings() -> table  Returns the kinds of annealing, which change "
                             "the learning rate from update to update.")
      .def<&describe_annealing>(
          "describe_annealing",
          "describe_annealing(kind) -> string  Describes an annealing and its options.")
      .def<&describe_noise>(
          "describe_noise",
          "describe_noise() -> string  Describes the options of adaptive noise on weights.");
}

}  // namespace pushdown
