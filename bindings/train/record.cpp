// The records of a training besides its own files: its provenance, a row in the registry of runs,
// and a mirror for other programs. Lua code makes them (scripts/lib/store/training.lua,
// mirror/files.lua).
#include <cstdlib>

#include "base/check.h"
#include "bindings/binder/library.h"
#include "bindings/session/log.h"
#include "bindings/train/trainer.h"

namespace pushdown {

void record_training(lua_State* L, const Trainer& trainer, const char* event, const Path& folder) {
  const auto wrong = try_library(L, "pushdown.store.training", event, [&] {
    Value<std::string>::push(L, folder.string());
    lua_pushboolean(L, trainer.finished().empty() ? 0 : 1);
    return 2;
  });
  if (wrong)
    log_message("warn", fmt::format("the provenance of the run in '{}' was not recorded: {}",
                                    folder.string(), *wrong));
}

namespace {

std::optional<std::string> call_mirror(lua_State* L, const char* function,
                                       const std::vector<std::string>& texts) {
  return try_library(L, "pushdown.mirror.files", function, [&] {
    for (const auto& text : texts) Value<std::string>::push(L, text);
    return static_cast<int>(texts.size());
  });
}

}  // namespace

std::string mirror_target(lua_State* L, const std::optional<std::string>& option) {
  const char* variable = std::getenv("PUSHDOWN_MIRROR");
  const std::string target = option ? *option : variable != nullptr ? variable : "";
  if (target.empty()) return target;
  if (const auto wrong = call_mirror(L, "target", {target})) throw std::invalid_argument(*wrong);
  return target;
}

void mirror_training(lua_State* L, const Path& folder, const char* function,
                     const std::string& target) {
  std::vector<std::string> texts{folder.string()};
  if (!target.empty()) texts.push_back(target);
  if (const auto wrong = call_mirror(L, function, texts))
    log_message("warn",
                fmt::format("the training in '{}' is not mirrored: {}", folder.string(), *wrong));
}

}  // namespace pushdown
