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

std::vector<std::string> objective_names(lua_State* L) {
  return row_names(session_kinds(L).objectives);
}
std::string describe_objective(lua_State* L, const std::string& kind) {
  return description_of("train.describe_objective", session_kinds(L).objectives, kind,
                        origin_text(L, "objective", kind));
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
          "describe(kind='language_model') -> string  Describes the options of trainer for one "
          "kind of model and data: a 'language_model' on strings, on a running 'text' or on "
          "'sentences', a 'recognizer' or a 'transducer'.")
      .texts<&registry_names<&problem_kinds>>()
      .def<&objective_names>(
          "objectives() -> table  Returns the objectives that recognizers can be trained with.")
      .def<&describe_objective>(
          "describe_objective(kind) -> string  Describes an objective and its options.")
      .texts<&objective_names>("an objective", "objective")
      .def<&define_objective>(
          "define_objective{options} -> string  Makes a kind of objective from a Lua function and "
          "returns its name; see docs/extending.md.")
      .def<&check_objective>(
          "check_objective(kind or {options}) -> Contract  Runs the contract tests on an "
          "objective: losses, gradients, batches, pieces, options.")
      .def<&registry_names<&learning_kinds>>(
          "learning_algorithms() -> table  Returns the learning algorithms of recognizers.")
      .def<&registry_description<&learning_kinds>>(
          "describe_learning(kind) -> string  Describes a learning algorithm and its options.")
      .texts<&registry_names<&learning_kinds>>("a learning algorithm", "learning")
      .def<&registry_names<&optimizer_kinds>>(
          "optimizers() -> table  Returns the names of the optimizers.")
      .def<&registry_description<&optimizer_kinds>>(
          "describe_optimizer(kind) -> string  Describes an optimizer and its options.")
      .texts<&registry_names<&optimizer_kinds>>("an optimizer", "optimizer")
      .def<&registry_names<&annealing_kinds>>(
          "annealings() -> table  Returns the kinds of annealing, which change the learning rate "
          "from update to update.")
      .def<&registry_description<&annealing_kinds>>(
          "describe_annealing(kind) -> string  Describes an annealing and its options.")
      .texts<&registry_names<&annealing_kinds>>("an annealing", "annealing")
      .def<&describe_noise>(
          "describe_noise() -> string  Describes the options of adaptive noise on weights.");
}

}  // namespace pushdown
