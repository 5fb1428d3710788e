// The loops of nondeterministic.h for numbers of states and symbols known when compiling. For
// kernel files only.
#pragma once
#include "kernel/nondeterministic.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F, int kQ, int kS>
struct Fixed {
  using Memory = NondeterministicMemory<F>;
  using V = Vector<F>;
  static constexpr int kC = kQ * kS, kW = 2 * kC + kQ;
  static constexpr Index kL = kLanes<F>;
  static constexpr int kAtLeast(int count, int least) { return count > least ? count : least; }
  static constexpr int kAtMost(int count, int most) { return count < most ? count : most; }
  // Sums held in registers, besides factors and loads: vectors of a row in the pop rule, nodes in
  // the gradient of the pop factors, and columns and vectors in the gradient of the columns.
  static constexpr int kPopVectors = kAtLeast(kAtMost((kVectorRegisters - kQ * kQ - 2) / kQ, 3), 2);
  static constexpr int kNodes = kAtLeast(kAtMost((kVectorRegisters - kQ - 1) / (kQ * kQ), 4), 1);
  static constexpr int kColumns = kVectorRegisters >= 32 ? 4 : 2;
  static constexpr int kColumnVectors =
      kAtLeast(kAtMost((kVectorRegisters - 4) / (kColumns * kQ), 4), 1);

  // visit<v>() for the v = 0 .. kMost that `count` is.
  template <int kMost, class Visit>
  [[gnu::always_inline]] static void with_count(Index count, Visit visit) {
    if (count >= kMost)
      visit.template operator()<kMost>();
    else if constexpr (kMost > 1)
      with_count<kMost - 1>(count, visit);
  }

  // The pop rule into rows (r, y) of one y: sums[r] += sum_t in[t,y] f[r][t,y], k = first .. end-1,
  // for kN vectors of entries.
  template <int kN>
  [[gnu::always_inline]] static void pop_block(const Memory& m, Index j, Index channel, int y,
                                               Index first, Index end, Index start) {
    const Index row = m.size.row(j);
    F* to = m.row(m.columns, j, channel + y) + start;
    const F* factors = m.popped(m.columns, j, 0) + y;
    V sums[kQ * kN];  // r, v
    unrolled<kQ * kN>(
        PUSHDOWN_UNROLLED(at) { sums[at] = load(to + at / kN * kS * row + at % kN * kL); });
    for (Index k = first; k < end; ++k) {
      const Index in_row = m.size.row(k);
      const F* in = m.row(m.columns, k, channel + y) + start;
      const F* factor_at = factors + k * kC;
      unrolled<kQ>(PUSHDOWN_UNROLLED(t) {
        V factor[kQ];
        unrolled<kQ>(PUSHDOWN_UNROLLED(r) { factor[r] = splat(factor_at[r * row + t * kS]); });
        unrolled<kN>(PUSHDOWN_UNROLLED(v) {
          const V entry = held(load(in + t * kS * in_row + v * kL));
          unrolled<kQ>(PUSHDOWN_UNROLLED(r) { sums[r * kN + v] += factor[r] * entry; });
        });
      });
    }
    unrolled<kQ * kN>(
        PUSHDOWN_UNROLLED(at) { store(to + at / kN * kS * row + at % kN * kL, sums[at]); });
  }

  // The rows of the first columns end inside a block: those nodes take as many vectors as they
  // have.
  template <int kN>
  static void pop_edge(const Memory& m, Index j, Index channel, int y, Index start) {
    const Index first = (start + (kN - 1) * kL) / kC + 1;
    Index end = kN == kPopVectors ? j - 1 : (start + kN * kL) / kC + 1;
    if (end > j - 1) end = j - 1;
    if constexpr (kN > 1) pop_edge<kN - 1>(m, j, channel, y, start);
    if (first < end) pop_block<kN>(m, j, channel, y, first, end, start);
  }

  // `channel` : the first row of the channel in a column.
  static void pop(const Memory& m, Index j, Index channel) {
    for (Index start = m.size.first(j); start < (j - 2) * kC; start += kPopVectors * kL)
      for (int y = 0; y < kS; ++y) pop_edge<kPopVectors>(m, j, channel, y, start);
  }

  // Clears what rows `row` .. row + kC - 1 of column j hold besides the column's own entries.
  static void trim(const Memory& m, F* of, Index j, Index row) {
    const Index first = m.size.first(j), low = m.size.lowest(j) * kC, end = m.size.end(j);
    for (int b = 0; b < kC; ++b) {
      F* to = m.row(of, j, row + b);
      clear(to + first, low - first);
      clear(to + j * kC, end - j * kC);
    }
  }

  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    const Index p = j - 1, row_p = m.size.row(p), row = m.size.row(j);
    const Index first = m.size.first(j), end_p = m.size.end(p), end = m.size.end(j);
    const F* u = m.forward + p * kC;
    F* factors = m.popped(m.columns, j, 0);
    V replace[kC][kC], pops[kC][kQ];
    for (int c = 0; c < kC; ++c) {
      for (int b = 0; b < kC; ++b) replace[c][b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[c][r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
    }
    V scale[kC];
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      const F* from = m.row(m.columns, p, channel * kC);
      F* to = m.row(m.columns, j, channel * kC);
      // Replace; the pop factors read the same entries.
      for (Index i = first; i < end_p; i += kL) {
        V entry[kC];
        for (int c = 0; c < kC; ++c) entry[c] = load(from + c * row_p + i);
        for (int b = 0; b < kC; ++b) {
          V sum = replace[0][b] * entry[0];
          for (int c = 1; c < kC; ++c) sum += replace[c][b] * entry[c];
          store(to + b * row + i, sum);
        }
        if (channel > 0) continue;
        for (int r = 0; r < kQ; ++r) {
          V sum = pops[0][r] * entry[0];
          for (int c = 1; c < kC; ++c) sum += pops[c][r] * entry[c];
          store(factors + r * row + i, sum);
        }
      }
      for (int b = 0; b < kC; ++b) clear(to + b * row + end_p, end - end_p);
      pop(m, j, channel * kC);
      trim(m, m.columns, j, channel * kC);
      // Push.
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      for (int b = 0; b < kC; ++b)
        for (int a = 0; a < kC; ++a) to[b * row + p * kC + a] = pushed * u[a] * weights[a * kW + b];
      // Normalise by the mass, which is that of P alone.
      F total = 0;
      for (int b = 0; b < kC; ++b) {
        F* out = to + b * row;
        if (channel == 0) {
          V sums = {};
          for (Index i = first; i < end; i += kL) sums += load(out + i);
          const F sum = sum_of(sums);
          m.mass[j * kC + b] = sum;
          total += sum;
          scale[b] = splat(sum > 0 ? 1 / sum : F(0));
        }
        for (Index i = first; i < end; i += kL) store(out + i, load(out + i) * scale[b]);
      }
      if (channel > 0) continue;
      const F rescale = total > 0 ? 1 / total : F(0);
      for (int b = 0; b < kC; ++b) m.forward[j * kC + b] = m.mass[j * kC + b] * rescale;
    }
  }

  // Columns j - kJ + 1 .. j, rows (t, y) of one y: sums[t] += sum_r out[r,y] f[r][t,y] over the
  // nodes l = first .. last that popped through them, for kN vectors of entries.
  template <int kJ, int kN>
  [[gnu::noinline]] static void gather_block(const Memory& m, Index channel, int y, Index j,
                                             Index first, Index last, Index start) {
    V sums[kJ][kQ][kN];
    for (int d = 0; d < kJ; ++d)
      for (int t = 0; t < kQ; ++t)
        for (int v = 0; v < kN; ++v)
          sums[d][t][v] = load(m.row(m.numerators, j - d, channel + t * kS + y) + start + v * kL);
    for (Index l = first; l <= last; ++l) {
      const Index row = m.size.row(l);
      const F* out = m.row(m.numerators, l, channel + y) + start;
      const F* factors = m.popped(m.columns, l, 0) + j * kC + y;
      for (int r = 0; r < kQ; ++r) {
        V entry[kN];
        for (int v = 0; v < kN; ++v) entry[v] = held(load(out + r * kS * row + v * kL));
        for (int d = 0; d < kJ; ++d)
          for (int t = 0; t < kQ; ++t) {
            const V factor = splat(factors[r * row - d * kC + t * kS]);
            for (int v = 0; v < kN; ++v) sums[d][t][v] += factor * entry[v];
          }
      }
    }
    for (int d = 0; d < kJ; ++d)
      for (int t = 0; t < kQ; ++t)
        for (int v = 0; v < kN; ++v)
          store(m.row(m.numerators, j - d, channel + t * kS + y) + start + v * kL, sums[d][t][v]);
  }

  // The same where the columns of the last nodes begin inside the block: those nodes take as many
  // vectors as they have.
  template <int kJ, int kN>
  static void gather_edge(const Memory& m, Index channel, int y, Index j, Index first, Index last,
                          Index start) {
    Index reach = m.size.highest((start | (kNodePadding - 1)) / kC);
    if (reach > last) reach = last;
    if (first <= reach) {
      gather_block<kJ, kN>(m, channel, y, j, first, reach, start);
      first = reach + 1;
    }
    if constexpr (kN > 1)
      if (first <= last) gather_edge<kJ, kN - 1>(m, channel, y, j, first, last, start + kL);
  }

  // The same for entries start .. end-1.
  template <int kJ, int kN>
  static void gather(const Memory& m, Index channel, Index j, Index first, Index last, Index start,
                     Index end) {
    if (first > last) return;
    for (; start < end; start += kN * kL)
      with_count<kN>((end - start) / kL, [&]<int kV>() {
        for (int y = 0; y < kS; ++y) gather_edge<kJ, kV>(m, channel, y, j, first, last, start);
      });
  }

  // Columns are gathered kColumns at a time, at the step of the last of them, so that what is read
  // of later nodes serves all; a column later adds the few nodes that were not done then.
  static Index group_of(Index j) { return (j + kColumns - 1) / kColumns * kColumns; }
  static bool gathered_before(Index j, Index last) {
    const Index top = group_of(j);
    return top != j && top <= last && top - kColumns + 1 >= 2;
  }

  // Adds the pops of all later steps to the gradient of column j.
  static void gather_column(const Memory& m, Index j, Index last, Index channel) {
    constexpr int kAlone = kPopVectors;
    const Index top = group_of(j), start = m.size.first(j), end = m.size.end(j);
    if (gathered_before(j, last)) {
      gather<1, kAlone>(m, channel, j, j + 2, last < top + 1 ? last : top + 1, start, end);
    } else if (top != j || top - kColumns + 1 < 2) {
      gather<1, kAlone>(m, channel, j, j + 2, last, start, end);
    } else {
      // What all of them have; the older ones reach further down, the newer ones further up.
      const Index common =
          m.size.end(j - kColumns + 1) > start ? m.size.end(j - kColumns + 1) : start;
      for (int d = 1; d < kColumns; ++d)
        clear(m.numerators + m.column_start[j - d] + channel * m.size.row(j - d),
              kC * m.size.row(j - d));
      gather<kColumns, kColumnVectors>(m, channel, j, j + 2, last, start, common);
      for (int d = 0; d < kColumns; ++d) {
        const Index own = m.size.end(j - d);
        gather<1, kAlone>(m, channel, j - d, j + 2, last, m.size.first(j - d),
                          own < start ? own : start);
        gather<1, kAlone>(m, channel, j - d, j + 2, last, common, own);
      }
    }
  }

  // Gradient of P[.->j] and V[.->j] from the step into node j + 1 has been written to numerators[j]
  // (or 0); adds the pops of all later steps, then the readings, and turns it into that of N.
  static void finish_column(const Memory& m, Index j, Index last, const F* constants) {
    const Index row = m.size.row(j);
    V scale[kC];
    for (int b = 0; b < kC; ++b) {
      const F z = m.mass[j * kC + b];
      scale[b] = splat(z > 0 ? 1 / z : F(0));
    }
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      F* to = m.row(m.numerators, j, channel * kC);
      const F* in = m.row(m.columns, j, channel * kC);
      gather_column(m, j, last, channel * kC);
      V gradient[kC];
      for (int b = 0; b < kC; ++b) gradient[b] = splat(constants[channel * kC + b]);
      for (Index i = m.size.first(j); i < m.size.end(j); i += kL) {
        V below = {};
        for (int b = 0; b < kC; ++b) {
          below += gradient[b] * load(in + b * row + i);
          store(to + b * row + i, (load(to + b * row + i) + gradient[b]) * scale[b]);
        }
        // forward_gradients has room for a whole row.
        store(m.forward_gradients + i, load(m.forward_gradients + i) + below);
      }
      // What was gathered beyond the column's own entries belongs to nobody.
      trim(m, m.numerators, j, channel * kC);
    }
  }

  // Gradient of the pop factors at k*C + (t,y), k < p: dot products of columns.
  static void popped_gradient(const Memory& m, Index j) {
    const Index p = j - 1, low = m.size.lowest(j), first = m.size.first(j), end = m.size.end(p);
    // The oldest node has no edges in reach.
    const Index none = (low + 1) * kC < end ? (low + 1) * kC : end;
    for (int r = 0; r < kQ; ++r) {
      F* row = m.popped(m.numerators, j, r);
      clear(row + first, none - first);
      clear(row + p * kC, end - p * kC);
    }
    Index k = low + 1;
    for (; k + kNodes <= p; k += kNodes) popped_block<kNodes>(m, j, k);
    for (; k < p; ++k) popped_block<1>(m, j, k);
  }

  // Nodes k .. k + kN - 1.
  template <int kN>
  [[gnu::always_inline]] static void popped_block(const Memory& m, Index j, Index k) {
    const Index row = m.size.row(j), common = m.size.end(k);
    for (int y = 0; y < kS; ++y) {
      V dots[kN * kQ * kQ];  // node, t, r
      unrolled<kN * kQ * kQ>(PUSHDOWN_UNROLLED(k) { dots[k] = V{}; });
      for (Index channel = 0; channel <= m.size.channels; ++channel) {
        const F* upper = m.row(m.numerators, j, channel * kC + y);
        const F* in[kN];
        Index step[kN];
        for (int node = 0; node < kN; ++node) {
          in[node] = m.row(m.columns, k + node, channel * kC + y);
          step[node] = kS * m.size.row(k + node);
        }
        for (Index i = m.size.first(j); i < common; i += kL) {
          V entry[kQ];
          unrolled<kQ>(PUSHDOWN_UNROLLED(r) { entry[r] = load(upper + r * kS * row + i); });
          unrolled<kN * kQ>(PUSHDOWN_UNROLLED(at) {
            const V value = held(load(in[at / kQ] + at % kQ * step[at / kQ] + i));
            unrolled<kQ>(PUSHDOWN_UNROLLED(r) { dots[at * kQ + r] += value * entry[r]; });
          });
        }
        // Rows of later nodes may be longer.
        unrolled<kN>(PUSHDOWN_UNROLLED(node) {
          for (Index i = common; i < m.size.end(k + node); i += kL)
            unrolled<kQ>(PUSHDOWN_UNROLLED(t) {
              const V value = load(in[node] + t * step[node] + i);
              unrolled<kQ>(PUSHDOWN_UNROLLED(r) {
                dots[(node * kQ + t) * kQ + r] += value * load(upper + r * kS * row + i);
              });
            });
        });
      }
      F sums[kN * kQ * kQ];
      store_sums<F, kN * kQ * kQ>(dots, sums);
      F* result = m.popped(m.numerators, j, 0);
      for (int node = 0; node < kN; ++node)
        for (int t = 0; t < kQ; ++t)
          for (int r = 0; r < kQ; ++r)
            result[r * row + (k + node) * kC + t * kS + y] = sums[(node * kQ + t) * kQ + r];
    }
  }

  static void finish_backward(const Memory& m, Index last, const F* reading_gradient) {
    if (last < 2) clear(m.numerators + m.column_start[1], m.size.column(1));
    finish_column(m, 1, last, reading_gradient);
  }

  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    const Index p = j - 1, row = m.size.row(j);
    const Index channels = 1 + m.size.channels;
    const F* u = m.forward + p * kC;
    const F* gradient = m.row(m.numerators, j, 0);
    if (j == last) clear(m.numerators + m.column_start[j], channels * kC * row);
    F constants[kC * (1 + kMaxNondeterministicChannels)];
    copy(constants, reading_gradient, channels * kC);
    for (int b = 0; b < kC; ++b) constants[b] += m.forward_gradients[j * kC + b];
    finish_column(m, j, last, constants);
    // Push.
    for (int a = 0; a < kC; ++a)
      for (int b = 0; b < kC; ++b)
        weight_gradient[a * kW + b] = u[a] * gradient[b * row + p * kC + a];
    for (Index k = 1; k < channels; ++k) {
      F sum = 0;
      for (int a = 0; a < kC; ++a)
        for (int b = 0; b < kC; ++b) {
          const F slope = u[a] * gradient[(k * kC + b) * row + p * kC + a];
          weight_gradient[a * kW + b] += vector[k - 1] * slope;
          sum += weights[a * kW + b] * slope;
        }
      vector_gradient[k - 1] = sum;
    }
    // Replace and the pop factors, into the gradient of column p.
    const Index first = m.size.first(j), end = m.size.end(p);
    popped_gradient(m, j);
    const F* popped = m.popped(m.numerators, j, 0);
    const bool add_to = gathered_before(p, last);
    for (int c = 0; c < kC; ++c) {
      V replace[kC], pops[kQ], dots[kC + kQ] = {};
      for (int b = 0; b < kC; ++b) replace[b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
      for (Index channel = 0; channel < channels; ++channel) {
        const F* from = m.row(m.columns, p, channel * kC + c);
        F* from_gradient = m.row(m.numerators, p, channel * kC + c);
        const F* upper_rows = gradient + channel * kC * row;
        if (!add_to) clear(from_gradient + m.size.first(p), first - m.size.first(p));
        for (Index i = first; i < end; i += kL) {
          const V entry = load(from + i);
          V sum = {};
          if (add_to) sum = load(from_gradient + i);
          for (int b = 0; b < kC; ++b) {
            const V upper = load(upper_rows + b * row + i);
            sum += replace[b] * upper;
            dots[b] += entry * upper;
          }
          if (channel == 0)
            for (int r = 0; r < kQ; ++r) {
              const V factor = load(popped + r * row + i);
              sum += pops[r] * factor;
              dots[kC + r] += entry * factor;
            }
          store(from_gradient + i, sum);
        }
      }
      F sums[kC + kQ];
      store_sums<F, kC + kQ>(dots, sums);
      for (int k = 0; k < kC + kQ; ++k) weight_gradient[c * kW + kC + k] = u[c] * sums[k];
    }
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
