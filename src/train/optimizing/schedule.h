// The learning rate schedule and early stopping. After `decay_patience` epochs in a row without
// improvement, the learning rate is multiplied by a factor (and again after as many more). After
// `stop_patience` such epochs, training ends (paper: DuSell and Chiang 2020, section 5.5: 0.9, 5
// and 10).
//
// An epoch improves if its value (a cross-entropy) is below the best one so far by more than
// `minimum_improvement`.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "base/options.h"

namespace pushdown {

// Returns the options decay_factor, decay_patience, minimum_learning_rate, stop_patience,
// minimum_improvement.
const std::vector<OptionSpec>& schedule_options();

class Schedule {
 public:
  explicit Schedule(const Json& options);  // resolved; other keys are ignored

  // Records the value of an epoch, a finite number. Returns true if it improves on the best.
  bool observe(double value);
  // Returns the learning rate after the last observe().
  double decayed(double learning_rate) const;
  bool should_stop() const { return since_best_ >= stop_patience_ && stop_patience_ > 0; }

  std::optional<double> best() const { return best_; }
  std::int64_t since_best() const { return since_best_; }  // epochs

  Json state() const;
  void set_state(const Json& state);

 private:
  double factor_, minimum_rate_, minimum_improvement_;
  std::int64_t decay_patience_, stop_patience_;
  std::optional<double> best_;
  std::int64_t since_best_ = 0;
  std::int64_t since_decay_ = 0;  // epochs without improvement since the last decay
  bool decay_now_ = false;
};

}  // namespace pushdown
