// What a training leaves besides its own files: its provenance, and a row in the registry of runs.
// Lua does both (scripts/lib/runs/training.lua).
#include "bindings/interrupt.h"
#include "bindings/log.h"
#include "bindings/training.h"

namespace pushdown {

void record_training(lua_State* L, const Trainer& trainer, const char* event, const Path& folder) {
  const int top = lua_gettop(L);
  luaL_checkstack(L, 8, "recording a training");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "pushdown.runs.training");
  bool done = lua_pcall(L, 1, 1, 0) == 0;
  if (done) {
    lua_getfield(L, -1, event);
    Value<std::string>::push(L, folder.string());
    lua_pushboolean(L, trainer.finished().empty() ? 0 : 1);
    done = lua_pcall(L, 2, 0, 0) == 0;
  }
  const char* message = done ? nullptr : lua_tostring(L, -1);
  const std::string reason = message != nullptr ? message : "an error";
  lua_settop(L, top);
  if (done) return;
  stop_if_interrupted(L);
  log_message("warn", fmt::format("the provenance of the run in '{}' was not recorded: {}",
                                  folder.string(), reason));
}

}  // namespace pushdown
