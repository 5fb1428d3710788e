// The content that the nondeterministic stack with a window takes over from a previous run and
// leaves behind (automaton_content.h), for the CUDA kernels. See device_nondeterministic_layout.h.
#pragma once
#include "kernel/memory/device_nondeterministic_layout.h"

namespace pushdown::device {

template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::take_over(
    const Team& team, const AutomatonContent<F>& content) {
  F* u = forward_weights + head * c;
  each(team, c, [&](Index b) { u[b] = content.forward()[b]; });
  // The gradients of these columns are not divided by a mass.
  each(team, (head + 1) * c, [&](Index i) { mass[i] = 1; });
  each(team, m * c, [&](Index i) { head_vectors[i] = content.vectors()[i]; });
  for (Index j = 1; j <= head; ++j)
    each(team, (1 + m) * c * length(j),
         [&](Index i) { (row(columns, j, 0, 0) + origin(j))[i] = 0; });
  team.sync();
  content.write_edges(team, rows_of(columns));
  if (first_update > 0) {
    team.sync();
    return advance(team, 0, content.actions());
  }
  if (m == 0) return read(team, head);
  each(team, c * m, [&](Index i) { readings[i] = u[i / m] * head_vectors[i % m * c + i / m]; });
}

template <class F, int kQ, int kS, bool kLimited>
template <class Team>
requires kLimited PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::leave(
    const Team& team, F* numbers) const {
  const auto content = left(numbers);
  content.read_edges(team, rows_of(columns));
  each(team, c, [&](Index b) { content.forward()[b] = forward_weights[last * c + b]; });
  each(team, m * c, [&](Index i) {
    const F* own = row(columns, last, 0, c + i);
    F sum = 0;
    for (Index e = lowest(last) * c; e < last * c; ++e) sum += own[e];
    last_vectors[i] = content.vectors()[i] = sum;
  });
}

// The gradient of the content that the run took over, see memory/nondeterministic.h.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::give_back(
    const Team& team, const AutomatonContent<F>& content, const F* reading_gradient) {
  if (first_update > 0) {
    undo(team, 0, reading_gradient, content.actions());
    team.sync();
  }
  if (held_constant) {
    const auto count = static_cast<Index>(content.actions() - content.numbers);
    return each(team, count, [&](Index i) { content.numbers[i] = 0; });
  }
  const bool read_first = first_update == 0;
  const F* u = forward_weights + head * c;
  each(team, c, [&](Index b) {
    F slope = 0;
    for (Index k = 0; u[b] >= AutomatonRange<F>::kSmallest && k < w; ++k)
      slope += weights[b * w + k] * weight_gradient[b * w + k] / u[b];
    if (m == 0 && read_first) slope += reading_gradient[state_symbol ? b : b % s];
    for (Index k = 0; k < m; ++k) {
      const F given = read_first ? reading_gradient[b * m + k] : F(0);
      slope += given * head_vectors[k * c + b];
      content.vectors()[k * c + b] = given * u[b];
    }
    content.forward()[b] = slope;
  });
  each(team, (1 + m) * c, [&](Index i) { reading_rows[i] = 0; });
  for (Index j = 1; j < head; ++j)
    each(team, (1 + m) * c * length(j),
         [&](Index i) { (row(numerators, j, 0, 0) + origin(j))[i] = 0; });
  for (Index j = head; j > 1; --j) {
    each(team, (head + 1) * c, [&](Index i) { forward_gradients[i] = 0; });
    finish(team, j);
    team.sync();
  }
  content.read_edges(team, rows_of(numerators));
  if (left_gradient == nullptr) return;
  team.sync();
  const auto after = left(left_gradient);
  for (Index j = after.oldest + 1; j <= head; ++j)
    for (Index r = 0; r < (1 + m) * c; ++r)
      each_between(team, after.begin(), j * c,
                   [&](Index e) { content.row(j, r)[e] += after.row(j, r)[e]; });
}

}  // namespace pushdown::device
