// What holds for a whole session: the defaults that --device, --threads and --seed set, and where
// the product's own scripts lie. One for each Lua state.
#pragma once
#include <cstdint>
#include <filesystem>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <vector>

#include "base/random.h"
#include "bindings/inputs.h"
#include "bindings/options.h"
#include "tensor/torch.h"

namespace pushdown {

struct TrainingKinds;

struct Session {
  at::Device device = at::Device(at::kCPU);  // where tensors and models are made unless told
  std::optional<std::uint64_t> seed;         // of things made without a seed of their own
  std::uint64_t drawn_seed = 0;              // of `random` while there is no `seed`
  Random random{0};                          // draws where neither a seed nor an option is given
  std::filesystem::path root;                // holds scripts/ and grammars/
  // What models and trainings are made of, with what scripts have defined; session_kinds().
  std::shared_ptr<TrainingKinds> kinds;
  std::vector<Input> inputs;  // what was read, in its order
};

Session& session(lua_State* L);
// Where the module itself lies.
std::filesystem::path module_folder();
// The `seed` given, else the next of the session's seeds: the same in every run under --seed.
std::uint64_t seed_or_next(lua_State* L, const std::optional<std::uint64_t>& seed);
// The options of a function that has no other.
struct SeedOption {
  std::optional<std::uint64_t> seed;
  static OptionRows rows();
};

}  // namespace pushdown
