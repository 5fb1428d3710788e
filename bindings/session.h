// What holds for a whole session: the defaults that --device, --threads and --seed set, and where
// the product's own scripts lie. One for each Lua state.
#pragma once
#include <cstdint>
#include <filesystem>
#include <lua.hpp>
#include <memory>
#include <optional>

#include "base/random.h"
#include "tensor/torch.h"

namespace pushdown {

struct TrainingKinds;

struct Session {
  at::Device device = at::Device(at::kCPU);  // where tensors and models are made unless told
  std::optional<std::uint64_t> seed;         // of things made without a seed of their own
  Random random{0};                          // draws where neither a seed nor an option is given
  std::filesystem::path root;                // holds scripts/ and grammars/
  // What models and trainings are made of, with what scripts have defined; session_kinds().
  std::shared_ptr<TrainingKinds> kinds;
};

Session& session(lua_State* L);
// The `seed` given, else the next of the session's seeds: the same in every run under --seed.
std::uint64_t seed_or_next(lua_State* L, const std::optional<std::uint64_t>& seed);

}  // namespace pushdown
