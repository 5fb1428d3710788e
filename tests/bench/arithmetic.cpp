#include "arithmetic.h"

#include <algorithm>

#include "bench.h"
#include "kernel/dense/dense.h"

namespace pushdown::bench {

double multiply_add_peak() {
  const auto kernel = kernel_for<DenseKernel<float>>(current_isa());
  double count = 0;
  const Timing time =
      measure(50, [&] { count = static_cast<double>(kernel.multiply_add_loop(2000)); });
  return count / time.best_ms * 1e3;
}

double stack_multiply_adds(const Workload& work, int length) {
  const double updates = std::max(length - 2, 0);
  const double q = work.states, c = q * work.symbols;
  const double m = static_cast<double>(work.size), channels = static_cast<double>(work.channels);
  double count = 0;
  if (work.stack == "superposition") {
    for (double u = 1; u <= updates; ++u) count += 9 * m * std::min(u, updates + 1 - u);
  } else if (work.stack == "stratification") {
    count = 3 * updates * (updates + 1) / 2;
  } else if (work.stack == "nondeterministic") {
    for (double p = 1; p <= updates; ++p) {
      const double nodes = work.window > 0 ? std::min(p, static_cast<double>(work.window - 1)) : p;
      count += 3 * (1 + channels) * q * c * c * nodes * (nodes - 1) / 2 +
               3 * ((1 + channels) * c + q) * c * c * nodes;
    }
  }
  return static_cast<double>(work.batch) * count;
}

double history_reads(const Workload& work, int length) {
  if (work.stack != "nondeterministic") return 0;
  constexpr double kReads = 3;  // one forward, two backward
  const double c = static_cast<double>(work.states) * work.symbols;
  double count = 0;
  for (double p = 1; p <= std::max(length - 2, 0); ++p) {
    const double nodes = work.window > 0 ? std::min(p, static_cast<double>(work.window - 1)) : p;
    count += kReads * c * c * nodes * (nodes - 1) / 2;
  }
  return static_cast<double>(work.batch) * count;
}

double multiply_adds(const Workload& work, int length) {
  const double h = static_cast<double>(work.hidden), v = static_cast<double>(work.vocabulary);
  const double steps = length - 1, updates = std::max(length - 2, 0);
  const double q = work.states, c = q * work.symbols, w = 2 * c + q;
  const double m = static_cast<double>(work.size), channels = static_cast<double>(work.channels);
  double reading = 0, actions = 0;
  if (work.stack == "superposition") {
    reading = m;
    actions = 3 + m;
  } else if (work.stack == "stratification") {
    reading = m;
    actions = 2 + m;
  } else if (work.stack == "nondeterministic") {
    reading = channels > 0 ? c * channels : work.state_symbol ? c : work.symbols;
    actions = c * w + channels;
  }
  const double gates = static_cast<double>(work.gates) * h;
  return static_cast<double>(work.batch) *
             (3 * steps * gates * (h + reading) + 3 * updates * actions * h + 3 * length * v * h) +
         stack_multiply_adds(work, length);
}

}  // namespace pushdown::bench
