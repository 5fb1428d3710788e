// The nondeterministic stack for the CUDA kernels: its recurrence in posterior form
// (stack/nondeterministic.h, notation; nondeterministic_generic.h, the same on the processor), with
// the layers that choose its actions and read it. For any number of states and symbols.
//
// Letters: nodes 0 .. U+1 for U updates, C configurations, W = 2C + Q actions, m channels.
//   columns : column j holds, for channel 0 (P) and the m channels of V, C rows (target
//             configuration b) of j*C numbers, P[i->j][a->b] at i*C + a
//   popped  : node j holds Q rows of (j-1)*C numbers, the pop factors M[k][(t,y)->r] at k*C + (t,y)
// No padding: consecutive threads take consecutive numbers of a row.
//
// Work of one step into node j = p + 1, a barrier between: the factors; all rows of column j, a
// thread for each place (i, a) and symbol, which keeps the sums of kTile states; the masses, a
// group of threads each; the scaling. The backward step likewise; the gradient of each pop factor
// is the sum of a group.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

template <class F>
struct NondeterministicStack {
  static constexpr int kTile = 4;

  Index updates, q, s, c, w, m;
  bool reexposed, state_symbol, normalized;
  // Kept: U x C x W transition weights, U x m pushed vectors, forward weights and masses of nodes.
  F *weights, *vectors, *forward_weights, *mass, *columns, *popped;
  // Gradients: of the numerators, of the gauge-invariant forward weights, of pop factors.
  F *numerators, *forward_gradients, *popped_gradient;
  F *weight_gradient, *reading_rows, *vector_gradient;  // near memory, with `largest`
  F* largest;                                           // score of each row
  F* readings;
  const F* bottom;

  PUSHDOWN_DEVICE NondeterministicStack(const ScanShape& shape, const StackMemory<F>& memory)
      : updates(shape.steps - 1),
        q(shape.automaton.states),
        s(shape.automaton.symbols),
        c(q * s),
        w(2 * c + q),
        m(shape.automaton.channels),
        reexposed(shape.reexposed),
        state_symbol(shape.state_symbol),
        normalized(shape.normalized),
        weights(memory.tape),
        vectors(weights + updates * c * w),
        forward_weights(vectors + updates * m),
        mass(forward_weights + (updates + 2) * c),
        columns(mass + (updates + 2) * c),
        popped(columns + columns_size(shape)),
        numerators(memory.scratch),
        forward_gradients(numerators + columns_size(shape)),
        popped_gradient(forward_gradients + (updates + 2) * c),
        weight_gradient(memory.fast),
        reading_rows(weight_gradient + c * w),
        vector_gradient(reading_rows + (1 + m) * c),
        largest(vector_gradient + m),
        readings(memory.readings),
        bottom(memory.bottom) {}

  // Numbers of columns 0 .. j-1 for one row, times C.
  PUSHDOWN_HOST_DEVICE static Index before(Index j, Index c) { return j * (j - 1) / 2 * c * c; }
  PUSHDOWN_HOST_DEVICE static Index configurations(const ScanShape& shape) {
    return static_cast<Index>(shape.automaton.states) * shape.automaton.symbols;
  }
  PUSHDOWN_HOST_DEVICE static Index columns_size(const ScanShape& shape) {
    return (1 + shape.automaton.channels) * before(shape.steps + 1, configurations(shape));
  }
  PUSHDOWN_HOST_DEVICE static Index tape_size(const ScanShape& shape) {
    const Index c = configurations(shape), u = shape.steps - 1, q = shape.automaton.states;
    return u * (c * (2 * c + q) + shape.automaton.channels) + 2 * (u + 2) * c +
           columns_size(shape) + q * c * u * (u + 1) / 2;
  }
  PUSHDOWN_HOST_DEVICE static Index scratch_size(const ScanShape& shape) {
    const Index c = configurations(shape), u = shape.steps - 1;
    return columns_size(shape) + (u + 2) * c + shape.automaton.states * (u + 2) * c;
  }
  PUSHDOWN_HOST_DEVICE static Index fast_size(const ScanShape& shape) {
    const Index c = configurations(shape), m = shape.automaton.channels;
    return c * (2 * c + shape.automaton.states) + (1 + m) * c + m + c;
  }

  // Row b of column j and channel in `of`, which has the layout of columns.
  PUSHDOWN_DEVICE F* row(F* of, Index j, Index channel, Index b) const {
    return of + (1 + m) * before(j, c) + (channel * c + b) * j * c;
  }
  // Row r of the pop factors of node j >= 2.
  PUSHDOWN_DEVICE F* factors(Index j, Index r) const {
    return popped + q * c * ((j - 1) * (j - 2) / 2) + r * (j - 1) * c;
  }
  PUSHDOWN_DEVICE Index reading_size() const { return m > 0 ? c * m : state_symbol ? c : s; }
  PUSHDOWN_DEVICE F* reading_of(Index node) const { return readings + (node - 1) * reading_size(); }

  // u of the node, or the expected vectors times u.
  template <class Team>
  PUSHDOWN_DEVICE void read(const Team& team, Index node) const {
    const F* u = forward_weights + node * c;
    F* reading = reading_of(node);
    if (m > 0) {
      sums<F>(
          team, c * m, [&](Index) { return node * c; },
          [&](Index place) {
            const F* from = row(columns, node, 1 + place % m, place / m);
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

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team) {
    each(team, 2 * c, [&](Index i) {
      forward_weights[i] = i == 0 || i == c ? F(1) : F(0);
      mass[i] = i == c ? F(1) : F(0);
    });
    // Column 1: the edge of the initial bottom symbol, from configuration 0 to configuration 0.
    each(team, (1 + m) * c * c, [&](Index i) {
      const Index channel = i / (c * c);
      F value = 0;
      if (reexposed && i == channel * c * c) value = channel == 0 ? F(1) : bottom[channel - 1];
      row(columns, 1, 0, 0)[i] = value;
    });
    team.sync();
    read(team, 1);
    team.sync();
    // The initial bottom is read at first even where it can never be seen again.
    each(team, m, [&](Index k) { readings[k] = bottom[k]; });
  }

  // The transition weights from the scores of the action layer.
  template <class Team>
  PUSHDOWN_DEVICE void weigh(const Team& team, const F* given, const F* from, F* used) {
    each(team, c, [&](Index a) {
      F greatest = given[a * w];
      for (Index k = 1; k < w; ++k)
        if (given[a * w + k] > greatest) greatest = given[a * w + k];
      largest[a] = greatest;
    });
    team.sync();
    // A common factor changes nothing: the largest weight that can be used becomes 1.
    F common = 0;
    bool any = false;
    for (Index a = 0; !normalized && a < c; ++a)
      if (from[a] > 0 && (!any || largest[a] > common)) {
        common = largest[a];
        any = true;
      }
    each(team, c * w, [&](Index i) {
      const Index a = i / w;
      used[i] = from[a] > 0 ? std::exp(given[i] - (normalized ? largest[a] : common)) : F(0);
    });
    if (!normalized) return;
    team.sync();
    each(team, c, [&](Index a) {
      if (!(from[a] > 0)) return;
      F sum = 0;
      for (Index k = 0; k < w; ++k) sum += used[a * w + k];
      const F factor = 1 / sum;
      for (Index k = 0; k < w; ++k) used[a * w + k] *= factor;
    });
  }

  // Rows e = (i, a), i < p, of column j for the states r .. r + kTile - 1 with symbol y: replace
  // and pop.
  PUSHDOWN_DEVICE void fill(Index j, Index channel, Index first, Index y, Index e, const F* u,
                            const F* used) const {
    const Index p = j - 1, count = q - first < kTile ? q - first : Index{kTile};
    F total[kTile] = {};
    for (Index a = 0; a < c; ++a) {
      const F value = u[a] * row(columns, p, channel, a)[e];
      PUSHDOWN_UNROLL
      for (int r = 0; r < kTile; ++r)
        if (r < count) total[r] += value * used[a * w + c + (first + r) * s + y];
    }
    const F* factor = factors(j, first);
    for (Index k = e / c + 1; k < p; ++k)
      for (Index t = 0; t < q; ++t) {
        const F value = row(columns, k, channel, t * s + y)[e];
        const F* own = factor + k * c + t * s + y;
        PUSHDOWN_UNROLL
        for (int r = 0; r < kTile; ++r)
          if (r < count) total[r] += value * own[r * p * c];
      }
    PUSHDOWN_UNROLL
    for (int r = 0; r < kTile; ++r)
      if (r < count) row(columns, j, channel, (first + r) * s + y)[e] = total[r];
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index update, const F* given) {
    const Index p = update + 1, j = p + 1, tiles = (q + kTile - 1) / kTile;
    const F* u = forward_weights + p * c;
    F* used = weights + update * c * w;
    F* pushed = vectors + update * m;
    each(team, m, [&](Index k) { pushed[k] = sigmoid(given[c * w + k]); });
    weigh(team, given, u, used);
    team.sync();
    each(team, q * p * c, [&](Index i) {
      const Index r = i / (p * c), e = i - r * p * c;
      F sum = 0;
      for (Index a = 0; a < c; ++a)
        sum += u[a] * used[a * w + 2 * c + r] * row(columns, p, 0, a)[e];
      factors(j, r)[e] = sum;
    });
    team.sync();
    each(team, (1 + m) * s * tiles * p * c, [&](Index i) {
      const Index e = i % (p * c), rest = i / (p * c), channel = rest / (s * tiles),
                  part = rest - channel * s * tiles;
      fill(j, channel, part / s * kTile, part % s, e, u, used);
    });
    each(team, (1 + m) * c * c, [&](Index i) {
      const Index channel = i / (c * c), b = i / c % c, a = i % c;
      row(columns, j, channel, b)[p * c + a] =
          (channel > 0 ? pushed[channel - 1] : F(1)) * u[a] * used[a * w + b];
    });
    team.sync();
    sums<F>(
        team, c, [&](Index) { return j * c; },
        [&](Index b) {
          const F* own = row(columns, j, 0, b);
          return [own](Index e) { return own[e]; };
        },
        [&](Index b, F sum) { mass[j * c + b] = sum; });
    team.sync();
    const F* z = mass + j * c;
    each(team, (1 + m) * c * j * c, [&](Index i) {
      const F sum = z[i / (j * c) % c];
      row(columns, j, 0, 0)[i] *= sum > 0 ? 1 / sum : F(0);
    });
    each(team, c, [&](Index b) {
      F total = 0;
      for (Index i = 0; i < c; ++i) total += z[i];
      forward_weights[j * c + b] = total > 0 ? z[b] / total : F(0);
    });
    team.sync();
    read(team, j);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, (updates + 2) * c, [&](Index i) { forward_gradients[i] = 0; });
    // What the last column's gradient starts from.
    const Index last = updates + 1;
    each(team, (1 + m) * c * last * c, [&](Index i) { row(numerators, last, 0, 0)[i] = 0; });
  }

  // What the gradient of a reading means for the rows of its column, see scan_stacks.h.
  template <class Team>
  PUSHDOWN_DEVICE void spread(const Team& team, Index node, const F* given) {
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

  // Completes the gradients of the numerators of column j, those of later nodes being complete.
  template <class Team>
  PUSHDOWN_DEVICE void finish(const Team& team, Index j) {
    const Index last = updates + 1, tiles = (q + kTile - 1) / kTile;
    each(team, (1 + m) * s * tiles * j * c, [&](Index i) {
      const Index e = i % (j * c), rest = i / (j * c), channel = rest / (s * tiles),
                  part = rest - channel * s * tiles, first = part / s * kTile, y = part % s;
      const Index count = q - first < kTile ? q - first : Index{kTile};
      F total[kTile] = {};
      for (Index l = j + 2; l <= last; ++l)
        for (Index r = 0; r < q; ++r) {
          const F slope = row(numerators, l, channel, r * s + y)[e];
          const F* factor = factors(l, r) + j * c + first * s + y;
          PUSHDOWN_UNROLL
          for (int t = 0; t < kTile; ++t)
            if (t < count) total[t] += slope * factor[t * s];
        }
      PUSHDOWN_UNROLL
      for (int t = 0; t < kTile; ++t) {
        if (t >= count) continue;
        const Index b = (first + t) * s + y;
        const F z = mass[j * c + b], scale = z > 0 ? 1 / z : F(0);
        F g = reading_rows[channel * c + b];
        if (channel == 0) g += forward_gradients[j * c + b];
        F& gradient = row(numerators, j, channel, b)[e];
        gradient = (gradient + total[t] + g) * scale;
      }
    });
    each(team, j * c, [&](Index e) {
      F sum = 0;
      for (Index i = 0; i < (1 + m) * c; ++i) {
        const F g = reading_rows[i] + (i < c ? forward_gradients[j * c + i] : F(0));
        sum += g * row(columns, j, 0, i)[e];
      }
      forward_gradients[e] += sum;
    });
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index update, const F* reading_gradient, F* out) {
    const Index p = update + 1, j = p + 1;
    const F* u = forward_weights + p * c;
    const F* used = weights + update * c * w;
    const F* pushed = vectors + update * m;
    spread(team, j, reading_gradient);
    team.sync();
    finish(team, j);
    team.sync();
    each(team, c * c, [&](Index i) {
      const Index a = i / c, b = i - a * c;
      F sum = 0;
      for (Index channel = 0; channel <= m; ++channel)
        sum +=
            (channel > 0 ? pushed[channel - 1] : F(1)) * row(numerators, j, channel, b)[p * c + a];
      weight_gradient[a * w + b] = u[a] * sum;
    });
    sums<F>(
        team, m, [&](Index) { return c * c; },
        [&](Index k) {
          return [this, used, u, p, slopes = row(numerators, j, 1 + k, 0)](Index i) {
            const Index a = i / c, b = i - a * c;
            return used[a * w + b] * u[a] * slopes[(b * (p + 1) + p) * c + a];
          };
        },
        [&](Index k, F sum) { vector_gradient[k] = sum; });
    // This thread's share of the product of row a of column `from` with the gradient of row b.
    const auto product = [&](Index from, Index channel, Index a, Index b, Index length) {
      const F *x = row(columns, from, channel, a), *y = row(numerators, j, channel, b);
      F sum = 0;
      for (Index e = team.lane(); e < length; e += team.lanes()) sum += x[e] * y[e];
      return sum;
    };
    for (Index i = team.group(); i < c * c; i += team.groups()) {
      const Index a = i / c, b = i - a * c;
      F sum = 0;
      for (Index channel = 0; channel <= m; ++channel) sum += product(p, channel, a, b, p * c);
      sum = team.group_sum(sum);
      if (team.lane() == 0) weight_gradient[a * w + c + b] = u[a] * sum;
    }
    // Those of the start node are 0: nothing pops back to it.
    for (Index i = team.group(); i < q * p * c; i += team.groups()) {
      const Index r = i / (p * c), from = i - r * p * c, k = from / c, ty = from - k * c;
      F sum = 0;
      for (Index channel = 0; channel <= m; ++channel)
        sum += product(k, channel, ty, r * s + ty % s, k * c);
      sum = team.group_sum(sum);
      if (team.lane() == 0) popped_gradient[i] = sum;
    }
    team.sync();
    sums<F>(
        team, c * q, [&](Index) { return p * c; },
        [&](Index i) {
          const F *x = row(columns, p, 0, i / q), *y = popped_gradient + i % q * p * c;
          return [x, y](Index e) { return x[e] * y[e]; };
        },
        [&](Index i, F sum) { weight_gradient[i / q * w + 2 * c + i % q] = u[i / q] * sum; });
    each(team, (1 + m) * c * p * c, [&](Index i) {
      const Index e = i % (p * c), rest = i / (p * c), channel = rest / c, a = rest - channel * c;
      F sum = 0;
      for (Index b = 0; b < c; ++b) sum += row(numerators, j, channel, b)[e] * used[a * w + c + b];
      for (Index r = 0; channel == 0 && r < q; ++r)
        sum += popped_gradient[r * p * c + e] * used[a * w + 2 * c + r];
      row(numerators, p, channel, a)[e] = u[a] * sum;
    });
    team.sync();
    // Back through the choice of the weights.
    each(team, c, [&](Index a) {
      const F *to = used + a * w, *slope = weight_gradient + a * w;
      F mean = 0;
      for (Index k = 0; normalized && k < w; ++k) mean += to[k] * slope[k];
      for (Index k = 0; k < w; ++k) out[a * w + k] = to[k] * (slope[k] - mean);
    });
    each(team, m,
         [&](Index k) { out[c * w + k] = vector_gradient[k] * pushed[k] * (1 - pushed[k]); });
  }

  // A probability of the automaton depends on all steps before: check_device_step() refuses
  // windows.
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team& team, const F* reading_gradient, F* out) {
    if (m == 0) return;
    if (reexposed) {
      spread(team, 1, reading_gradient);
      team.sync();
      finish(team, 1);
      team.sync();
    }
    each(team, m, [&](Index k) {
      out[k] = reexposed ? row(numerators, 1, 1 + k, 0)[0] : reading_gradient[k];
    });
  }
};

}  // namespace pushdown::device
