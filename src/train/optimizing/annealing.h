// Annealing of the learning rate from update to update: a factor of the trainer's learning rate. It
// is a pure function of options, time and seed, so a resumed run needs no additional state.
//
// `stochastic`: the incremental learning of Mali et al. (2019) refers to a stochastic learning rate
// for its first stage, whose description could not be found. It is interpreted as follows: with
// epochs t = 1, 2, .. and u ~ U[1 - spread, 1] drawn anew for each update,
//   factor = u / (1 + (t - 1) / half_life),
// a rate that falls to one half after `half_life` epochs, below which every update draws its own.
// `exponential`: factor = max(minimum, decay^(t - 1)). `none`: 1. `warmup`: with updates u = 1, 2,
// .., factor = min(1, u / updates). `cosine`: after a warm-up of `warmup` updates of this kind,
// half a period of a cosine down to the update `updates`, and from then on `minimum` (Loshchilov
// and Hutter, 2017, without restarts):
//   factor = minimum + (1 - minimum) (1 + cos(pi (u - warmup) / (updates - warmup))) / 2.
// With last_stage = s, the factor is fixed in the stages of incremental learning after s (Algorithm
// 1 of the paper: a fixed rate in the second stage): 1 with afterwards = 'full'; with 'reached',
// the mean of the factor in the last epoch before.
#pragma once
#include <cstdint>

#include "base/registry.h"

namespace pushdown {

// The time of an update in training, counted from 1. update 0: the mean over an epoch's updates.
struct UpdateTime {
  std::int64_t epoch = 1, update = 1, stage = 1;
  std::int64_t annealed_epochs = 0;  // completed in stages up to last_stage
};

struct AnnealingKind
    : RegistryRow<double (*)(const Json& options, const UpdateTime& time, std::uint64_t seed)> {
  // Fills in options that depend on the length of the whole training, and checks them; or null.
  void (*complete)(Json& options, std::int64_t updates) = nullptr;
};

const std::vector<AnnealingKind>& annealing_kinds();

class Annealing {
 public:
  // {kind = 'stochastic', ...}; the default kind is 'none'. `updates`: length of the whole
  // training, the default of cosine's option.
  Annealing(const Json& options, std::uint64_t seed, std::int64_t updates = 0);

  // Returns all options with their defaults.
  Json options() const;
  // 0: all stages are annealed.
  std::int64_t last_stage() const { return options_.value("last_stage", std::int64_t{0}); }
  // Returns whether the factor can differ from 1.
  bool active() const { return kind_->name != "none"; }
  // Returns the factor, in (0, 1].
  double factor(const UpdateTime& time) const;

 private:
  const AnnealingKind* kind_;
  Json options_;
  std::uint64_t seed_;
};

}  // namespace pushdown
