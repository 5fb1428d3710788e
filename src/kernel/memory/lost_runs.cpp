#include "kernel/memory/lost_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/lost_precision.h"
#include "kernel/memory/automaton_range.h"

namespace pushdown {
namespace {

constexpr double kMostLost = 1e-5;
constexpr double kNothing = -std::numeric_limits<double>::infinity();

// The sum of the weights of the moves that can lead to configuration (r, y): its push, its
// replacement and the pop to state r. `weights` are those of the configuration that is left.
double weight_to(const std::vector<double>& weights, std::int64_t configurations,
                 std::int64_t configuration, std::int64_t state) {
  return weights[configuration] + weights[configurations + configuration] +
         weights[2 * configurations + state];
}

}  // namespace

template <class F>
bool follow_lost_runs(const AutomatonStep<F>& step, F* lost) {
  const auto c = step.states * step.symbols, w = 2 * c + step.states;
  double common = kNothing;
  for (std::int64_t a = 0; a < c; ++a)
    if (step.before[a] > 0)
      common = std::max<double>(common,
                                *std::max_element(step.scores + a * w, step.scores + (a + 1) * w));
  // Of the runs that were lost before, and of those that are lost in this step.
  std::vector<double> weights(w), still_lost(c), newly_lost(c);
  for (std::int64_t a = 0; a < c; ++a) {
    const double lost_mass = std::exp(static_cast<double>(lost[a])), kept_mass = step.before[a];
    if (lost_mass == 0 && kept_mass == 0) continue;
    const F* scores = step.scores + a * w;
    double shift = common;
    if (step.normalized) {
      const double greatest = *std::max_element(scores, scores + w);
      double sum = 0;
      for (std::int64_t k = 0; k < w; ++k) sum += std::exp(scores[k] - greatest);
      shift = greatest + std::log(sum);
    }
    for (std::int64_t k = 0; k < w; ++k) weights[k] = std::exp(scores[k] - shift + step.raised);
    for (std::int64_t b = 0; b < c; ++b) {
      const double weight = weight_to(weights, c, b, b / step.symbols);
      if (lost_mass > 0 && weight > 0) still_lost[b] += lost_mass * weight;
      if (kept_mass > 0) newly_lost[b] += kept_mass * weight;
    }
  }
  const double total = std::accumulate(step.mass, step.mass + c, 0.0);
  for (std::int64_t b = 0; b < c; ++b)
    if (step.mass[b] == 0)
      still_lost[b] +=
          std::min<double>(newly_lost[b], AutomatonRange<F>::least(static_cast<F>(total)));
  const double lost_in_all = std::accumulate(still_lost.begin(), still_lost.end(), 0.0);
  for (std::int64_t b = 0; b < c; ++b) lost[b] = static_cast<F>(std::log(still_lost[b] / total));
  if (lost_in_all > kMostLost * total) report_loss();
  return lost_in_all > 0;
}

template bool follow_lost_runs(const AutomatonStep<float>&, float*);
template bool follow_lost_runs(const AutomatonStep<double>&, double*);

}  // namespace pushdown
