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

// The weight of configuration a's transition to (r, y), of whatever kind.
double moves(const std::vector<double>& row, std::int64_t configurations, std::int64_t b,
             std::int64_t r) {
  return row[b] + row[configurations + b] + row[2 * configurations + r];
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
  std::vector<double> row(w), next(c), reached(c);
  for (std::int64_t a = 0; a < c; ++a) {
    const double own = std::exp(static_cast<double>(lost[a])), left = step.before[a];
    if (own == 0 && left == 0) continue;
    const F* scores = step.scores + a * w;
    double shift = common;
    if (step.normalized) {
      const double greatest = *std::max_element(scores, scores + w);
      double sum = 0;
      for (std::int64_t k = 0; k < w; ++k) sum += std::exp(scores[k] - greatest);
      shift = greatest + std::log(sum);
    }
    for (std::int64_t k = 0; k < w; ++k) row[k] = std::exp(scores[k] - shift + step.raised);
    for (std::int64_t b = 0; b < c; ++b) {
      const double weight = moves(row, c, b, b / step.symbols);
      if (own > 0 && weight > 0) next[b] += own * weight;
      if (left > 0) reached[b] += left * weight;
    }
  }
  const double total = std::accumulate(step.mass, step.mass + c, 0.0);
  for (std::int64_t b = 0; b < c; ++b)
    if (step.mass[b] == 0)
      next[b] += std::min<double>(reached[b], AutomatonRange<F>::least(static_cast<F>(total)));
  const double all = std::accumulate(next.begin(), next.end(), 0.0);
  for (std::int64_t b = 0; b < c; ++b) lost[b] = static_cast<F>(std::log(next[b] / total));
  if (all > kMostLost * total) report_loss();
  return all > 0;
}

template bool follow_lost_runs(const AutomatonStep<float>&, float*);
template bool follow_lost_runs(const AutomatonStep<double>&, double*);

}  // namespace pushdown
