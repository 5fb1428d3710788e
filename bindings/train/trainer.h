// A trainer as a Lua object, with progress, log and curves.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bindings/binder/bind.h"
#include "bindings/binder/options.h"
#include "bindings/session/live.h"
#include "train/trainer.h"

namespace pushdown {

struct Training {
  std::unique_ptr<Trainer> trainer;
  // Makes seed k of this training, from 2, see trainer:run(); empty for a resumed folder.
  std::function<std::shared_ptr<Training>(lua_State* L, std::int64_t k)> repeat;
  std::string initial;  // checksum of the parameters with which the training began
  std::vector<std::shared_ptr<Training>> repeated;  // seeds 2, 3, ...
  bool progress = true;
  bool mirrored = false;       // see mirror_training
  bool bound_warned = false;   // of a cross-entropy below the lower bound
  bool continues = false;      // a run of its folder, and nobody has been told
  double drawing_seconds = 0;  // time of the last drawing of the curves
  std::chrono::steady_clock::time_point drawn;
};
using TrainingPtr = std::shared_ptr<Training>;

template <>
inline constexpr auto kClassName<Training> = "Trainer";

// Several trainings that train at once (pd.train.together()), or one alone.
struct Together {
  std::vector<TrainingPtr> trainings;
  std::vector<std::string> names;   // of the trainers, in messages
  std::vector<std::string> errors;  // of the trainers that failed; they no longer take part
  LivePace pace = {};
  bool listed = true;  // false: one alone, whose errors are raised and whose summary is no list
};

template <>
inline constexpr auto kClassName<Together> = "Together";

// Trains all to their ends, and gives the models the parameters of their best epochs if `best`.
// Pushes the list of the summaries, or the summary of a training alone.
Results run_together(lua_State* L, Together& all, bool best);
// Returns a checksum of the model's parameters.
std::string parameters_checksum(const SequenceModel& model);
// trainer:run{ seeds = count }.
Results run_seeds(lua_State* L, const TrainingPtr& training, std::int64_t count, bool best);

// Records the provenance of the training whose files are in `folder`, and enters it in the registry
// of runs. event: "begins", "resumed", "saved", or "ended" when training is over. Errors are
// logged.
void record_training(lua_State* L, const Trainer& trainer, const char* event, const Path& folder);

// The options of trainers, by the kind of model and data.
std::vector<OptionGroup> trainer_groups(lua_State* L);
// Mirrors a training for a program that shows trainings (scripts/lib/mirror/files.lua). Function
// and argument: "begins" and the target, "epoch" or "ended". Errors are logged.
void mirror_training(lua_State* L, const Path& folder, const char* function,
                     const std::string& target = "");
// Returns the target of the option `mirror` or of PUSHDOWN_MIRROR, or "" if there is none. Throws
// std::invalid_argument for a text that is not a target.
std::string mirror_target(lua_State* L, const std::optional<std::string>& option);

// The facts that a run folder records besides the options: version, time, command line, git.
Json about_now(lua_State* L);
// Binds pd.train.trainer and pd.train.resume.
void bind_making(Module& module);
// The descriptions of trainers, objectives, learning algorithms and optimizers.
void bind_training_kinds(Module& module);
// Binds trainer:run and trainer:epochs, and pd.train.together and its class.
void bind_rounds(Module& module, Class<Training>& trainer);

}  // namespace pushdown
