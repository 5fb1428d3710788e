// The state of a whole session: the defaults that --device, --threads and --seed set, and the place
// of the program's own scripts. There is one for each Lua state.
#pragma once
#include <cstdint>
#include <filesystem>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "bindings/binder/options.h"
#include "bindings/session/inputs.h"
#include "tensor/torch.h"

namespace pushdown {

struct TrainingKinds;

struct Session {
  at::Device device = at::Device(at::kCPU);  // default for tensors and models
  std::optional<std::uint64_t> seed;         // for objects made without a seed
  std::uint64_t drawn_seed = 0;              // seed of `random` if there is no `seed`
  Random random{0};                          // used if neither a seed nor an option is given
  std::filesystem::path root;                // contains scripts/ and grammars/
  // The kinds of parts of models and trainings, with those that scripts have defined;
  // session_kinds().
  std::shared_ptr<TrainingKinds> kinds;
  std::vector<Input> inputs;  // all inputs in the order in which they were read
};

Session& session(lua_State* L);
// Returns the words of the command line, starting with the program.
std::vector<std::string> command_line(lua_State* L);
// Returns the options that a function in Lua has declared by pd._options.
std::optional<Json> options_in_lua(lua_State* L, const std::string& full_name);
// Returns the folder of the module.
std::filesystem::path module_folder();
// Returns the given `seed`, or the next seed of the session, which is the same in every run with
// the same --seed.
std::uint64_t seed_or_next(lua_State* L, const std::optional<std::uint64_t>& seed);
// Returns the options of a model or a trainer as scripts see them: a seed or a device that is not
// given comes from the session.
std::vector<OptionSpec> with_session_defaults(std::vector<OptionSpec> specs);
// The options of a function whose only option is a seed.
struct SeedOption {
  std::optional<std::uint64_t> seed;
  static OptionRows rows();
};

}  // namespace pushdown
