#include "train/optimizing/schedule.h"

#include <algorithm>

namespace pushdown {

const std::vector<OptionSpec>& schedule_options() {
  static const std::vector<OptionSpec> specs{
      number_option("decay_factor", 0.9, "factor of the learning rate when improvement stalls")
          .between(1e-6, 1),
      integer_option(
          "decay_patience", 5,
          "number of epochs without improvement before the learning rate decays; 0: never", 0),
      number_option("minimum_learning_rate", 0.0, "lower bound of the learning rate", 0),
      integer_option("stop_patience", 10,
                     "early stopping after this number of epochs without improvement; 0: never", 0),
      number_option("minimum_improvement", 0.0,
                    "minimum gain that counts as an improvement: nats per symbol, or accuracy of a "
                    "recognizer",
                    0)};
  return specs;
}

Schedule::Schedule(const Json& options)
    : factor_(options["decay_factor"]),
      minimum_rate_(options["minimum_learning_rate"]),
      minimum_improvement_(options["minimum_improvement"]),
      decay_patience_(options["decay_patience"]),
      stop_patience_(options["stop_patience"]) {}

bool Schedule::observe(double value) {
  decay_now_ = false;
  if (!best_ || value < *best_ - minimum_improvement_) {
    best_ = value;
    since_best_ = since_decay_ = 0;
    return true;
  }
  ++since_best_;
  if (++since_decay_ >= decay_patience_ && decay_patience_ > 0) {
    decay_now_ = true;
    since_decay_ = 0;
  }
  return false;
}

double Schedule::decayed(double learning_rate) const {
  if (!decay_now_) return learning_rate;
  // A rate that starts below the minimum is not raised to it.
  return std::min(learning_rate, std::max(learning_rate * factor_, minimum_rate_));
}

Json Schedule::state() const {
  return {{"best", best_ ? Json(*best_) : Json()},
          {"since_best", since_best_},
          {"since_decay", since_decay_}};
}

void Schedule::set_state(const Json& state) {
  const Json& best = state.at("best");
  best_ = best.is_null() ? std::nullopt : std::optional(best.get<double>());
  since_best_ = state.at("since_best");
  since_decay_ = state.at("since_decay");
  decay_now_ = false;
}

}  // namespace pushdown
