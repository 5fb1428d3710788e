// The forward pass of the nondeterministic stack of the CUDA kernels. See
// device_nondeterministic_layout.h.
#pragma once
#include "kernel/memory/device_nondeterministic_layout.h"

namespace pushdown::device {

template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::begin(const Team& team, const F*,
                                                                       F*) {
  if constexpr (kLimited)
    if (goes_on) return take_over(team, taken(bottom));
  each(team, 2 * c, [&](Index i) {
    forward_weights[i] = i == 0 || i == c ? F(1) : F(0);
    mass[i] = i == c ? F(1) : F(0);
  });
  // Column 1: the edge of the initial bottom symbol, from configuration 0 to configuration 0.
  each(team, (1 + m) * c * c, [&](Index i) {
    const auto [b, a] = divided(i, c);
    const Index channel = b / c;
    F value = 0;
    if (reexposed && i == channel * c * c) value = channel == 0 ? F(1) : bottom[channel - 1];
    row(columns, 1, 0, b)[a] = value;
  });
  team.sync();
  read(team, 1);
  team.sync();
  // The initial bottom is read at first even if it can never be seen again.
  each(team, m, [&](Index k) { readings[k] = bottom[k]; });
}

// Update number `update` of all, with the first one.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::advance(const Team& team,
                                                                         Index update,
                                                                         const F* given) {
  const Index p = head + update, j = p + 1;
  const F* u = forward_weights + p * c;
  F* used = weights + update * c * w;
  F* pushed = vectors + update * m;
  each(team, m, [&](Index k) { pushed[k] = given[c * w + k]; });
  AutomatonRange<F> range;
  do {
    weigh(team, given, u, range, used);
    team.sync();
    step(team, j, u, used, pushed);
  } while (range.again(total_of(u), total_of(mass + j * c)));
  read(team, j);
}

// Computes the transition weights from the scores of the action layer.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::weigh(
    const Team& team, const F* given, const F* from, const AutomatonRange<F>& range, F* used) {
  const bool again = range.raised > 0;
  each(team, c, [&](Index a) {
    F greatest = given[a * w];
    for (Index k = 1; k < w; ++k)
      if (given[a * w + k] > greatest) greatest = given[a * w + k];
    largest[a] = greatest;
    if (!normalized || !again) return;
    // The logarithm of the sum instead, because the weights are not divided by it below.
    F sum = 0;
    for (Index k = 0; k < w; ++k) sum += exponential(given[a * w + k] - greatest);
    largest[a] += std::log(sum);
  });
  team.sync();
  // A common factor changes nothing, so the largest usable weight is scaled to 1.
  F common = 0;
  bool any = false;
  for (Index a = 0; !normalized && a < c; ++a)
    if (from[a] > 0 && (!any || largest[a] > common)) {
      common = largest[a];
      any = true;
    }
  if (common - common != 0) common = 0;  // infinities have no difference
  each(team, c * w, [&](Index i) {
    const Index a = i / w;
    const F x = given[i] - (normalized ? largest[a] : common);
    used[i] = from[a] > 0 ? range.kept(exponential(range.exponent(x))) : F(0);
  });
  if (!normalized || again) return;
  team.sync();
  each(team, c, [&](Index a) {
    if (!(from[a] > 0)) return;
    F sum = 0;
    for (Index k = 0; k < w; ++k) sum += used[a * w + k];
    const F factor = 1 / sum;
    for (Index k = 0; k < w; ++k) used[a * w + k] = range.kept(used[a * w + k] * factor);
  });
}

// Column j and its forward weights.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::step(const Team& team, Index j,
                                                                      const F* u, const F* used,
                                                                      const F* pushed) {
  const Index p = j - 1;
  // Restricted to the nodes that column j reaches.
  const Index oldest = lowest(j) * c, older = p * c - oldest;
  each_wide(team, tiles(q) * older, [&](Index i) {
    const auto [tile, place] = divided(i, older);
    const Index e = oldest + place;
    F total[kTile][kWide] = {};
    for (Index a = 0; a < c; ++a) {
      const Wide value = wide(row(columns, p, 0, a) + e);
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) {
        if (!is_state(tile * kTile + r)) continue;
        const F factor = u[a] * used[a * w + 2 * c + tile * kTile + r];
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * factor;
      }
    }
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) {
      Pack all;
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) all.of[r] = total[r][k];
      near[i + k] = all;
    }
    PUSHDOWN_UNROLL
    for (int r = 0; r < kTile; ++r) {
      if (!is_state(tile * kTile + r)) continue;
      Wide all;
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) all.of[k] = total[r][k];
      wide(factors(j, tile * kTile + r) + e) = all;
    }
  });
  team.sync();
  each_wide(team, (1 + m) * s * tiles(q) * older, [&](Index i) {
    const auto [rest, place] = divided(i, older);
    const auto [channel, part] = divided(rest, s * tiles(q));
    const auto [tile, y] = divided(part, s);
    const Index before = team.lane() * kWide, low = place > before ? place - before : 0;
    fill(j, channel, tile, y, oldest + place, oldest + low, u, used);
  });
  each(team, (1 + m) * c * c, [&](Index i) {
    const Index channel = i / (c * c), b = i / c % c, a = i % c;
    row(columns, j, channel, b)[p * c + a] =
        (channel > 0 ? pushed[channel - 1] : F(1)) * u[a] * used[a * w + b];
  });
  team.sync();
  sums<F>(
      team, c, [&](Index) { return older + c; },
      [&](Index b) {
        const F* own = row(columns, j, 0, b) + oldest;
        return [own](Index e) { return own[e]; };
      },
      [&](Index b, F sum) { mass[j * c + b] = sum; });
  team.sync();
  const F* z = mass + j * c;
  const F total = total_of(z), least = AutomatonRange<F>::least(total);
  each_wide(team, (1 + m) * c * (older + c), [&](Index i) {
    const auto [b, place] = divided(i, older + c);
    const F sum = z[divided(b, c).remainder], scale = sum < least ? F(0) : 1 / sum;
    Wide& own = wide(row(columns, j, 0, b) + oldest + place);
    Wide all = own;
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) all.of[k] *= scale;
    own = all;
  });
  each(team, c, [&](Index b) { forward_weights[j * c + b] = z[b] < least ? F(0) : z[b] / total; });
  team.sync();
}

// Computes numbers e .. e + kWide - 1 of rows of column j, for a tile of states with symbol y:
// replace and pop. `low`: the smallest e that the group processes at once, so that it visits the
// columns together.
template <class F, int kQ, int kS, bool kLimited>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::fill(Index j, Index channel,
                                                                      Index tile, Index y, Index e,
                                                                      Index low, const F* u,
                                                                      const F* used) const {
  const Index p = j - 1, first = tile * kTile;
  F total[kTile][kWide] = {};
  const F* below = row(columns, p, channel, 0) + e;
  for (Index a = 0; a < c; ++a) {
    const Wide value = wide(below + a * length(p));
    const F* weight = used + a * w + c + first * s + y;
    PUSHDOWN_UNROLL
    for (int r = 0; r < kTile; ++r) {
      if (!is_state(first + r)) continue;
      const F factor = u[a] * weight[r * s];
      PUSHDOWN_UNROLL
      for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * factor;
    }
  }
  const Index from = divided(low, c).quotient + 1, oldest = lowest(j);
  const Pack* factor = near + ((tile * (p - oldest) + from - oldest) * c + y);
  const F* column = row(columns, from, channel, y) + e;
  Walk walk = walk_from(from, channel, y);
  const Index end = p * c;
  PUSHDOWN_UNROLL_SOME
  for (; walk.end < end; walk.go_on(column)) {
    for (Index t = 0; t < q; ++t) {
      const Wide value = e < walk.end ? wide(column + t * s * walk.length) : Wide{};
      const Pack own = factor[t * s];
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r) {
        PUSHDOWN_UNROLL
        for (int k = 0; k < kWide; ++k) total[r][k] += value.of[k] * own.of[r];
      }
    }
    factor += c;
  }
  PUSHDOWN_UNROLL
  for (int r = 0; r < kTile; ++r) {
    if (!is_state(first + r)) continue;
    Wide all;
    PUSHDOWN_UNROLL
    for (int k = 0; k < kWide; ++k) all.of[k] = total[r][k];
    wide(row(columns, j, channel, (first + r) * s + y) + e) = all;
  }
}

// Reads u of the node, or the expected vectors times u.
template <class F, int kQ, int kS, bool kLimited>
template <class Team>
PUSHDOWN_DEVICE void NondeterministicLoops<F, kQ, kS, kLimited>::read(const Team& team,
                                                                      Index node) const {
  const F* u = forward_weights + node * c;
  F* reading = reading_of(node);
  if (m > 0) {
    sums<F>(
        team, c * m, [&](Index) { return (node - lowest(node)) * c; },
        [&](Index place) {
          const F* from = row(columns, node, 1 + place % m, place / m) + lowest(node) * c;
          return [from](Index e) { return from[e]; };
        },
        [&](Index place, F sum) { reading[place] = u[place / m] * sum; });
    return;
  }
  each(team, reading_size(), [&](Index place) {
    F sum = 0;
    for (Index b = place; b < c; b += state_symbol ? c : s) sum += u[b];
    reading[place] = sum;
  });
}

}  // namespace pushdown::device
