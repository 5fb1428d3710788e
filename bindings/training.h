// A trainer as Lua sees it: with progress, log and curves.
#pragma once
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bindings/bind.h"
#include "train/trainer.h"

namespace pushdown {

struct Training {
  std::unique_ptr<Trainer> trainer;
  bool progress = true;
  bool mirrored = false;       // see mirror_training
  double drawing_seconds = 0;  // what the last drawing of the curves took
  std::chrono::steady_clock::time_point drawn;
};
using TrainingPtr = std::shared_ptr<Training>;

template <>
struct ClassName<Training> {
  static constexpr const char* value = "Trainer";
};

// Logs what an epoch brought and draws the curves when that is due. `rate` was the learning rate
// before the epoch; `name` goes before every message.
void tell_epoch(lua_State* L, Training& training, const EpochMetrics& metrics, double rate,
                const std::string& name = "");

// Records the provenance of the training whose files are in `folder`, and enters it in the registry
// of runs. event: "begins", "resumed", "saved", or "ended" when training is over. What cannot be
// recorded is logged.
void record_training(lua_State* L, const Trainer& trainer, const char* event, const Path& folder);

// The options of trainers by what they train.
std::vector<OptionGroup> trainer_groups(lua_State* L);
// Calls a function of a module of the Lua library. `push_arguments` pushes its arguments and
// returns how many. Returns why the call failed, or nothing. An interrupt goes on to the caller.
std::optional<std::string> call_library(lua_State* L, const char* module, const char* function,
                                        const std::function<int()>& push_arguments);
// Mirrors a training for a program that shows trainings (scripts/lib/mirror.lua). function and
// argument: "begins" and the target, "epoch" or "ended". What cannot be written is logged.
void mirror_training(lua_State* L, const Path& folder, const char* function,
                     const std::string& target = "");
// The target of the option `mirror`, or of PUSHDOWN_MIRROR; empty: none. A text that is no target
// is a std::invalid_argument.
std::string mirror_target(lua_State* L, const std::optional<std::string>& option);

// The descriptions of trainers, objectives, learning algorithms and optimizers.
void bind_training_kinds(Module& module);
// pd.train.together and its class.
void bind_together(Module& module);

}  // namespace pushdown
