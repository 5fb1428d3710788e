#include "train/optimizing/annealing.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/random.h"

namespace pushdown {
namespace {

std::vector<OptionSpec> with_stages(std::vector<OptionSpec> specs) {
  specs.push_back(integer_option(
      "last_stage", 0, "last stage of incremental learning with annealing; 0: all stages", 0));
  specs.push_back(text_option("afterwards", "full",
                              "constant rate of later stages: the full rate, or the rate reached",
                              {"full", "reached"}));
  return specs;
}

// Returns the warm-up factor, which is 1 after `updates` updates.
double warmed_up(const UpdateTime& time, std::int64_t updates) {
  if (time.update == 0 || time.update >= updates) return 1;
  return static_cast<double>(time.update) / static_cast<double>(updates);
}

}  // namespace

AnnealingKind no_annealing() {
  return {
      "none", "A constant learning rate.", {}, [](const Json&, const UpdateTime&, std::uint64_t) {
        return 1.0;
      }};
}

AnnealingKind exponential_annealing() {
  return {
      "exponential", "Multiplies the learning rate by a constant factor after every epoch.",
      with_stages({number_option("decay", 0.99, "factor per epoch").between(1e-6, 1),
                   number_option("minimum", 0.01, "lower bound of the factor").between(1e-12, 1)}),
      [](const Json& options, const UpdateTime& time, std::uint64_t) {
        return std::max(
            options["minimum"].get<double>(),
            std::pow(options["decay"].get<double>(), static_cast<double>(time.epoch - 1)));
      }};
}

AnnealingKind stochastic_annealing() {
  return {
      "stochastic",
      "A rate that falls with the epochs, multiplied by a random factor for each update.",
      with_stages({number_option("spread", 0.5, "the random factor is uniform in [1 - spread, 1]")
                       .between(0, 0.999),
                   number_option("half_life", 50.0,
                                 "number of epochs after which the rate is half the first rate")
                       .between(1e-3, 1e9)}),
      [](const Json& options, const UpdateTime& time, std::uint64_t seed) {
        Random random(seed, fmt::format("learning rate of update {}", time.update));
        const double share = time.update == 0 ? 0.5 : random.uniform();
        const double draw = 1 - options["spread"].get<double>() * share;
        return draw /
               (1 + static_cast<double>(time.epoch - 1) / options["half_life"].get<double>());
      }};
}

AnnealingKind warmup_annealing() {
  return {
      "warmup", "A learning rate that rises linearly over the first updates.",
      with_stages({integer_option("updates", 1000, "number of updates until the full rate", 1)}),
      [](const Json& options, const UpdateTime& time, std::uint64_t) {
        return warmed_up(time, options["updates"]);
      }};
}

AnnealingKind cosine_annealing() {
  return {
      "cosine", "A linear warm-up, then half a period of a cosine (Loshchilov and Hutter, 2017).",
      with_stages({integer_option("warmup", 0, "number of updates until the full rate", 0),
                   integer_option(
                       "updates", nullptr,
                       "number of updates until the minimum; absent: the updates of all epochs", 1),
                   number_option("minimum", 0.0, "final factor").between(0, 1)}),
      [](const Json& options, const UpdateTime& time, std::uint64_t) {
        const std::int64_t warm = options["warmup"], last = options["updates"];
        if (time.update > 0 && time.update < warm) return warmed_up(time, warm);
        const double minimum = options["minimum"];
        // The mean over an epoch is taken as the value at its end.
        const auto update = time.update == 0 ? last : std::min(time.update, last);
        const double share = static_cast<double>(update - warm) / static_cast<double>(last - warm);
        return minimum + (1 - minimum) * (1 + std::cos(M_PI * share)) / 2;
      },
      [](Json& options, std::int64_t updates) {
        if (options["updates"].is_null()) options["updates"] = std::max<std::int64_t>(updates, 1);
        const std::int64_t warm = options["warmup"], last = options["updates"];
        check(warm < last, "annealing cosine", "warmup must be below updates, got {} and {}", warm,
              last);
      }};
}

PUSHDOWN_REGISTRY(AnnealingKind, annealing_kinds, no_annealing(), exponential_annealing(),
                  stochastic_annealing(), warmup_annealing(), cosine_annealing())

Annealing::Annealing(const Json& options, std::uint64_t seed, std::int64_t updates) : seed_(seed) {
  const auto [row, resolved] =
      resolve_kind("annealing", annealing_kinds(), with_kind(options, "none"));
  kind_ = &row;
  options_ = resolved;
  if (row.complete) row.complete(options_, updates);
}

Json Annealing::options() const {
  Json all{{"kind", kind_->name}};
  all.update(options_);
  return all;
}

double Annealing::factor(const UpdateTime& time) const {
  if (last_stage() == 0 || time.stage <= last_stage()) return kind_->make(options_, time, seed_);
  if (options_["afterwards"] == "full" || time.annealed_epochs == 0) return 1.0;
  return kind_->make(options_, {time.annealed_epochs, 0, last_stage()}, seed_);
}

}  // namespace pushdown
