// The backward pass of the nondeterministic stack of the CUDA kernels. See
// device_nondeterministic_layout.h.
#pragma once
#include "kernel/memory/device_nondeterministic_layout.h"

namespace pushdown::device {

template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::begin_backward(const Team& team) {
  each(team, (last + 1) * c, [&](Index i) { forward_gradients[i] = 0; });
  // The last column's gradient starts from this.
  F* column = row(numerators, last, 0, 0) + origin(last);
  each(team, (1 + m) * c * length(last), [&](Index i) { column[i] = 0; });
  left_gradient = nullptr;
}

template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::undo(const Team& team,
                                                                      Index update,
                                                                      const F* reading_gradient,
                                                                      F* out) {
  const Index p = head + update, j = p + 1;
  const F* u = forward_weights + p * c;
  const F* used = weights + update * c * w;
  const F* pushed = vectors + update * m;
  spread(team, j, reading_gradient);
  if (kLimited && left_gradient != nullptr) {
    team.sync();
    const auto content = left(left_gradient);
    if (content.has_column(j))
      content.add_edges(team, j, rows_of(columns), rows_of(numerators), forward_gradients);
    if (j == last) content.add_head(team, forward_weights + j * c, last_vectors, reading_rows);
  }
  finish(team, j);
  team.sync();
  each(team, c * c, [&](Index i) {
    const Index a = i / c, b = i - a * c;
    F sum = 0;
    for (Index channel = 0; channel <= m; ++channel)
      sum += (channel > 0 ? pushed[channel - 1] : F(1)) * row(numerators, j, channel, b)[p * c + a];
    weight_gradient[a * w + b] = u[a] * sum;
  });
  sums<F>(
      team, m, [&](Index) { return c * c; },
      [&](Index k) {
        return [this, used, u, p, slopes = row(numerators, j, 1 + k, 0)](Index i) {
          const Index a = i / c, b = i - a * c;
          return used[a * w + b] * u[a] * slopes[b * length(p + 1) + p * c + a];
        };
      },
      [&](Index k, F sum) { vector_gradient[k] = sum; });
  // Row a of column p with kTile rows b of the numerators, by a group.
  const Index oldest = lowest(j) * c, nodes = p - lowest(j);
  const Index row_tiles = (c + kTile - 1) / kTile;
  for (Index i = team.group(); i < c * row_tiles; i += team.groups()) {
    const auto [a, tile] = divided(i, row_tiles);
    const Index first = tile * kTile, count = c - first < kTile ? Index(c - first) : Index{kTile};
    F sum[kTile] = {};
    for (Index channel = 0; channel <= m; ++channel) {
      const F *x = row(columns, p, channel, a), *y = row(numerators, j, channel, first);
      PUSHDOWN_UNROLL_SOME
      for (Index e = oldest + team.lane() * kWide; e < p * c; e += team.lanes() * kWide) {
        const Wide value = wide(x + e);
        PUSHDOWN_UNROLL
        for (int b = 0; b < kTile; ++b)
          if (b < count) sum[b] += dot_wide(value, wide(y + b * length(j) + e));
      }
    }
    PUSHDOWN_UNROLL
    for (int b = 0; b < kTile; ++b) {
      const F total = team.group_sum(sum[b]);
      if (b < count && team.lane() == 0) weight_gradient[a * w + c + first + b] = u[a] * total;
    }
  }
  // The rows (t, y) of column k with the rows (r, y) of the numerators, by a part of a group.
  // Those of the oldest node are 0, because nothing pops back to it.
  const Index parts = team.lanes() / team.part();
  const Index items = tiles(q) * tiles(q) * s * nodes;
  for (Index base = team.group() * parts; base < items; base += team.groups() * parts) {
    const Index item = base + team.lane() / team.part();
    const auto [rest, above_oldest] = divided(item < items ? item : 0, nodes);
    const auto [both, y] = divided(rest, s);
    const auto [tile, other] = divided(both, tiles(q));
    const Index k = lowest(j) + above_oldest, from = tile * kTile, to = other * kTile;
    const Index end = item < items ? k * c : 0;
    F sum[kTile][kTile] = {};
    for (Index channel = 0; channel <= m; ++channel) {
      const F* above = row(columns, k, channel, from * s + y);
      const F* slopes = row(numerators, j, channel, to * s + y);
      PUSHDOWN_UNROLL_SOME
      for (Index e = oldest + team.lane() % team.part() * kWide; e < end;
           e += team.part() * kWide) {
        Wide slope[kTile];
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r)
          slope[r] = is_state(to + r) ? wide(slopes + r * s * length(j) + e) : Wide{};
        PUSHDOWN_UNROLL
        for (int t = 0; t < kTile; ++t) {
          if (!is_state(from + t)) continue;
          const Wide value = wide(above + t * s * length(k) + e);
          PUSHDOWN_UNROLL
          for (int r = 0; r < kTile; ++r) sum[t][r] += dot_wide(value, slope[r]);
        }
      }
    }
    PUSHDOWN_UNROLL
    for (int t = 0; t < kTile; ++t) {
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) {
        const F total = team.part_sum(sum[t][r]);
        if (item < items && team.lane() % team.part() == 0 && is_state(from + t) &&
            is_state(to + r))
          popped_gradient[((to + r) * nodes + above_oldest) * c + (from + t) * s + y] = total;
      }
    }
  }
  team.sync();
  sums<F>(
      team, c * q, [&](Index) { return nodes * c; },
      [&](Index i) {
        const F *x = row(columns, p, 0, i / q) + oldest, *y = popped_gradient + i % q * nodes * c;
        return [x, y](Index e) { return x[e] * y[e]; };
      },
      [&](Index i, F sum) { weight_gradient[i / q * w + 2 * c + i % q] = u[i / q] * sum; });
  const Index first = lowest(p) * c;
  each_wide(team, (1 + m) * c * (p * c - first), [&](Index i) {
    const auto [rest, place] = divided(i, p * c - first);
    const auto [channel, a] = divided(rest, c);
    const Index e = first + place;
    Wide sum{};
    const auto add = [&](const Wide& slope, F weight) {
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) sum.of[k] += slope.of[k] * weight;
    };
    for (Index b = 0; e >= oldest && b < c; ++b)
      add(wide(row(numerators, j, channel, b) + e), used[a * w + c + b]);
    for (Index r = 0; channel == 0 && e >= oldest && r < q; ++r)
      add(wide(popped_gradient + r * nodes * c + e - oldest), used[a * w + 2 * c + r]);
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) sum.of[k] *= u[a];
    wide(row(numerators, p, channel, a) + e) = sum;
  });
  team.sync();
  // Backward through the computation of the weights.
  F balance = 0, magnitude = 0;
  for (Index i = 0; !normalized && i < c * w; ++i) {
    const F slope = used[i] * weight_gradient[i];
    balance += slope;
    magnitude += slope < 0 ? -slope : slope;
  }
  const bool noise = !normalized && AutomatonRange<F>::is_noise(balance, magnitude);
  each(team, c, [&](Index a) {
    const F *to = used + a * w, *slope = weight_gradient + a * w;
    // The weights of a configuration sum to 1, or to exp(raised).
    F mean = 0, sum = 0;
    for (Index k = 0; normalized && k < w; ++k) {
      mean += to[k] * slope[k];
      sum += to[k];
    }
    if (sum > 0) mean /= sum;
    for (Index k = 0; k < w; ++k) out[a * w + k] = noise ? F(0) : to[k] * (slope[k] - mean);
  });
  each(team, m, [&](Index k) { out[c * w + k] = vector_gradient[k]; });
}

// Adds the gradient of a reading to the rows of its column, see memory/nondeterministic.h.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::spread(const Team& team,
                                                                        Index node,
                                                                        const F* given) {
  const F* u = forward_weights + node * c;
  F mean = 0;
  if (m > 0) {
    const F* expected = reading_of(node);
    for (Index i = 0; i < c * m; ++i) mean += given[i] * expected[i];
  } else {
    for (Index b = 0; b < c; ++b) mean += given[state_symbol ? b : b % s] * u[b];
  }
  each(team, (1 + m) * c, [&](Index i) {
    const Index channel = i / c, b = i - channel * c;
    F slope;
    if (m > 0)
      slope = channel == 0 ? -mean : given[b * m + channel - 1];
    else
      slope = given[state_symbol ? b : b % s] - mean;
    reading_rows[i] = u[b] * slope;
  });
}

// Completes the gradients of the numerators of column j; those of later nodes must be complete.
// What the caller has written is read after a barrier.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::finish(const Team& team, Index j) {
  // The last node that pops through node j; one that reaches node i must not be above i + D.
  const Index end_node = window > 0 && j + window - 1 < last ? j + window - 1 : last;
  const Index first_node = kLimited && j < head - 1 ? head + 1 : j + 2;
  const Index oldest = lowest(j) * c, count = j * c - oldest;
  const F least = AutomatonRange<F>::least(total_of(mass + j * c));
  // In fast memory: for each tile of states t, later node l and configuration (r, y), the factors
  // of (t, y).
  const Index later = end_node >= first_node ? end_node - first_node + 1 : 0;
  each(team, tiles(q) * later * c, [&](Index i) {
    const auto [tile, rest] = divided(i, later * c);
    const auto [l, b] = divided(rest, c);
    const auto [r, y] = divided(b, s);
    const F* factor = factors(first_node + l, r) + j * c + tile * kTile * s + y;
    Pack all;
    PUSHDOWN_UNROLL
    for (int t = 0; t < kTile; ++t) all.of[t] = is_state(tile * kTile + t) ? factor[t * s] : F(0);
    near[i] = all;
  });
  team.sync();
  each_wide(team, (1 + m) * s * tiles(q) * count, [&](Index i) {
    const auto [rest, place] = divided(i, count);
    const auto [channel, part] = divided(rest, s * tiles(q));
    const auto [tile, y] = divided(part, s);
    const Index e = oldest + place;
    F total[kTile][kWide] = {};
    const Pack* factor = near + (tile * later * c + y);
    const F* column = row(numerators, first_node, channel, y) + e;
    Walk walk = walk_from(first_node, channel, y);
    Index end = end_node * c;
    if (window > 0) {
      const Index reach = (divided(e, c).quotient + window) * c;
      if (reach < end) end = reach;
    }
    PUSHDOWN_UNROLL_SOME
    for (; walk.end <= end; walk.go_on(column)) {
      for (Index r = 0; r < q; ++r) {
        const Wide slope = wide(column + r * s * walk.length);
        const Pack own = factor[r * s];
        PUSHDOWN_UNROLL
        for (int t = 0; t < kTile; ++t) {
          PUSHDOWN_UNROLL
          for (int k = 0; k < kWide; ++k) total[t][k] += slope.of[k] * own.of[t];
        }
      }
      factor += c;
    }
    PUSHDOWN_UNROLL
    for (int t = 0; t < kTile; ++t) {
      const Index state = tile * kTile + t, b = state * s + y;
      if (!is_state(state)) continue;
      const F z = mass[j * c + b], scale = z < least ? F(0) : 1 / z;
      F g = reading_rows[channel * c + b];
      if (channel == 0) g += forward_gradients[j * c + b];
      Wide& gradient = wide(row(numerators, j, channel, b) + e);
      Wide all = gradient;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k)
        all.of[k] = AutomatonRange<F>::limited((all.of[k] + total[t][k] + g) * scale);
      gradient = all;
    }
  });
  each_wide(team, count, [&](Index place) {
    const Index e = oldest + place;
    Wide sum{};
    for (Index i = 0; i < (1 + m) * c; ++i) {
      const F g = reading_rows[i] + (i < c ? forward_gradients[j * c + i] : F(0));
      const Wide own = wide(row(columns, j, 0, i) + e);
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) sum.of[k] += g * own.of[k];
    }
    Wide& gradient = wide(forward_gradients + e);
    Wide all = gradient;
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) all.of[k] += sum.of[k];
    gradient = all;
  });
}

// A probability of the automaton depends on all previous steps: check_device_step() rejects
// windows.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::end_backward(
    const Team& team, const F* reading_gradient, F* out) {
  if constexpr (kLimited)
    if (goes_on) return give_back(team, taken(out), reading_gradient);
  if (m == 0) return;
  if (reexposed) {
    spread(team, 1, reading_gradient);
    finish(team, 1);
    team.sync();
  }
  each(team, m, [&](Index k) {
    out[k] = reexposed ? row(numerators, 1, 1 + k, 0)[0] : reading_gradient[k];
  });
}

}  // namespace pushdown::device
