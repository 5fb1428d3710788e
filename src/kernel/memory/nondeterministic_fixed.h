// The loops of nondeterministic_kernel.h for numbers of states and symbols known at compile time.
// For kernel files only.
#pragma once
#include "kernel/memory/automaton_range.h"
#include "kernel/memory/nondeterministic_columns.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Separate code for histories that do not fit into a second-level cache (kFar). Columns are then
// read forward and backward in turn, so that a step begins with what the step before has read last.
// Loops that go from column to column ask for a column kAhead columns in advance if the history is
// beyond the reach of a core's own caches, because a core only foresees consecutive lines.
template <class F, int kQ, int kS, bool kLimited, bool kFar>
struct FixedLoops : FixedColumns<F, kQ, kS, kLimited> {
  using Columns = FixedColumns<F, kQ, kS, kLimited>;
  using Columns::kC, Columns::kL, Columns::lowest_of, Columns::first_of, Columns::end_of,
      Columns::row_of, Columns::column, Columns::at, Columns::factors_of, Columns::slopes_of,
      Columns::trim;
  using Memory = NondeterministicMemory<F>;
  using V = Vector<F>;
  static constexpr int kW = 2 * kC + kQ;
  static constexpr Index kAhead = 16;
  static bool beyond(const Memory& m, Index j) {
    return kFar && Columns::history(m, j) > (Index{8} << 20);
  }
  static constexpr int kAtLeast(int count, int least) { return count > least ? count : least; }
  static constexpr int kAtMost(int count, int most) { return count < most ? count : most; }
  // Number of sums held in registers, besides factors and loads: vectors of a row in the pop rule,
  // nodes in the gradient of the pop factors, and columns and vectors in the gradient of the
  // columns. Stack symbols share a loop if their sums fit, since more independent sums hide the
  // latency of multiply-adds.
  static constexpr int kPopVectors =
      kAtLeast(kAtMost((kVectorRegisters - kQ - 1) / (kQ * kS), 4), 2);
  static constexpr int kPopSymbols = kQ * kS * kPopVectors + kQ + 1 <= kVectorRegisters ? kS : 1;
  static constexpr int kDots = kQ * kQ;  // for a node and a symbol
  static constexpr int kDotSymbols = kDots * kS * 3 + kQ + 1 <= kVectorRegisters ? kS : 1;
  static constexpr int kNodes =
      kAtLeast(kAtMost((kVectorRegisters - kQ - 1) / (kDots * kDotSymbols), 4), 1);
  static constexpr int kColumns = kVectorRegisters >= 32 ? 4 : 2;
  static constexpr int kColumnVectors =
      kAtLeast(kAtMost((kVectorRegisters - 4) / (kColumns * kQ), 4), 1);

  // The pop rule into rows (r, y) of kPopSymbols symbols, of which `from_row` is the first row:
  // sums[y,r] += sum_t in[t,y] f[r][t,y], k = first .. end-1, for the first kN of kRow vectors of
  // entries.
  template <int kN, int kRow>
  [[gnu::always_inline]] static void pop_nodes(const Memory& m, const F* factors, Index row,
                                               Index from_row, Index first, Index end, Index start,
                                               bool ahead, V* sums) {
    for (Index k = first; k < end; ++k) {
      if (kFar && ahead && k + kAhead < end) {
        const F* later = at(m, m.columns, k + kAhead, from_row) + start;
        for (int i = 0; i < kQ * kPopSymbols; ++i)
          ask_for<kN>(later + (i % kPopSymbols + i / kPopSymbols * kS) * row_of(m, k + kAhead));
      }
      const Index in_row = row_of(m, k);
      const F* in = at(m, m.columns, k, from_row) + start;
      const F* factor_at = factors + k * kC;
      unrolled<kQ * kPopSymbols>(PUSHDOWN_UNROLLED(i) {
        constexpr int y = i % kPopSymbols, from = i / kPopSymbols * kS + y;  // (t,y)
        V factor[kQ];
        unrolled<kQ>(PUSHDOWN_UNROLLED(r) { factor[r] = splat(factor_at[r * row + from]); });
        unrolled<kN>(PUSHDOWN_UNROLLED(v) {
          const V entry = held(load(in + from * in_row + v * kL));
          unrolled<kQ>(
              PUSHDOWN_UNROLLED(r) { sums[(y * kQ + r) * kRow + v] += factor[r] * entry; });
        });
      });
    }
  }

  // The same for kN vectors of entries and all nodes. The rows of the first columns end inside the
  // block, so those nodes take as many vectors as they have.
  template <int kN>
  [[gnu::always_inline]] static void pop_block(const Memory& m, Index j, Index from_row,
                                               Index start, bool ahead) {
    constexpr int kAll = kPopSymbols * kQ * kN;
    const Index row = row_of(m, j);
    F* to = at(m, m.columns, j, from_row) + start;
    const F* factors = factors_of(m, j) + from_row % kS;
    const auto place = [&](int i) {
      return to + (i / kN % kQ * kS + i / (kQ * kN)) * row + i % kN * kL;
    };
    V sums[kAll];  // y, r, v
    unrolled<kAll>(PUSHDOWN_UNROLLED(i) { sums[i] = load(place(i)); });
    Index k = start / kC + 1;
    unrolled<kN>(PUSHDOWN_UNROLLED(v) {
      Index end = v + 1 == kN ? j - 1 : (start + (v + 1) * kL) / kC + 1;
      if (end > j - 1) end = j - 1;
      pop_nodes<v + 1, kN>(m, factors, row, from_row, k, end, start, ahead, sums);
      k = end;
    });
    unrolled<kAll>(PUSHDOWN_UNROLLED(i) { store(place(i), sums[i]); });
  }

  // `channel` : the first row of the channel in a column.
  static void pop(const Memory& m, Index j, Index channel) {
    const Index end = end_of(j - 2);
    const bool ahead = beyond(m, j);
    in_parts<kPopVectors * kL, kFar>(first_of(m, j), end, j % 2 != 0, [&](Index start) {
      with_count<kPopVectors>((end - start) / kL, [&]<int kN>() {
        for (int symbol = 0; symbol < kS; symbol += kPopSymbols)
          pop_block<kN>(m, j, channel + symbol, start, ahead);
      });
    });
  }

  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    const Index p = j - 1, row_p = row_of(m, p), row = row_of(m, j);
    const Index first = first_of(m, j), end_p = end_of(p), end = end_of(j);
    const F* u = m.forward + p * kC;
    F* factors = factors_of(m, j);
    V replace[kC][kC], pops[kC][kQ];
    for (int c = 0; c < kC; ++c) {
      for (int b = 0; b < kC; ++b) replace[c][b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[c][r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
    }
    V scale[kC] = {};
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      const F* from = at(m, m.columns, p, channel * kC);
      F* to = at(m, m.columns, j, channel * kC);
      // Replace rule; the pop factors read the same entries.
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
      for (int b = 0; b < kC; ++b) clear_padding(to + b * row, end_p, end);
      pop(m, j, channel * kC);
      if (kLimited) trim(m, m.columns, j, channel * kC);
      // Push rule.
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      for (int b = 0; b < kC; ++b)
        for (int a = 0; a < kC; ++a) to[b * row + p * kC + a] = pushed * u[a] * weights[a * kW + b];
      // Normalises by the mass, which is that of P alone.
      if (channel == 0) normalize(m, j, to, scale);
      for (int b = 0; b < kC; ++b) {
        F* out = to + b * row;
        for (Index i = first; i < end; i += kL) store(out + i, load(out + i) * scale[b]);
      }
    }
  }

  // Computes masses and forward weights of node j from the numerators at `rows`, and the factors
  // that turn numerators into probabilities.
  [[gnu::always_inline]] static void normalize(const Memory& m, Index j, const F* rows,
                                               V (&scale)[kC]) {
    V sums[kC] = {};
    for (Index i = first_of(m, j); i < end_of(j); i += kL)
      for (int b = 0; b < kC; ++b) sums[b] += load(rows + b * row_of(m, j) + i);
    F sum[kC], total = 0;
    store_sums<F, kC>(sums, sum);
    for (int b = 0; b < kC; ++b) total += sum[b];
    const F least = AutomatonRange<F>::least(total), rescale = total == 0 ? F(0) : 1 / total;
    for (int b = 0; b < kC; ++b) {
      const F mass = sum[b] < least ? F(0) : sum[b];
      scale[b] = splat(mass == 0 ? F(0) : 1 / mass);
      m.mass[j * kC + b] = mass;
      m.forward[j * kC + b] = mass == 0 ? F(0) : mass * rescale;
    }
  }

  // Columns j - kJ + 1 .. j, rows (t, y) of one y: sums[t] += sum_r out[r,y] f[r][t,y] over the
  // nodes l = first .. last that popped through them, for kN vectors of entries. kFresh: columns
  // that no step has written begin with 0, which are the only one or all but the last one.
  template <int kJ, int kN, bool kFresh>
  [[gnu::always_inline]] static void gather_block(const Memory& m, Index channel, int y, Index j,
                                                  Index first, Index last, Index start,
                                                  bool ahead) {
    F* to[kJ];
    for (int d = 0; d < kJ; ++d) to[d] = at(m, m.numerators, j - d, channel + y) + start;
    V sums[kJ][kQ][kN];
    for (int d = 0; d < kJ; ++d)
      for (int t = 0; t < kQ; ++t)
        for (int v = 0; v < kN; ++v)
          sums[d][t][v] =
              kFresh && (kJ == 1 || d > 0) ? V{} : load(to[d] + t * kS * row_of(m, j - d) + v * kL);
    for (Index l = first; l <= last; ++l) {
      if (kFar && ahead && l + kAhead <= last) {
        const F* later = at(m, m.numerators, l + kAhead, channel + y) + start;
        for (int r = 0; r < kQ; ++r) ask_for<kN>(later + r * kS * row_of(m, l + kAhead));
      }
      const Index row = row_of(m, l);
      const F* out = at(m, m.numerators, l, channel + y) + start;
      const F* factors = factors_of(m, l) + j * kC + y;
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
          store(to[d] + t * kS * row_of(m, j - d) + v * kL, sums[d][t][v]);
  }

  // The same where the columns of the last nodes begin inside the block, so those nodes take as
  // many vectors as they have.
  template <int kJ, int kN>
  static void gather_edge(const Memory& m, Index channel, int y, Index j, Index first, Index last,
                          Index start) {
    Index reach = m.size.highest((start | (kNodePadding - 1)) / kC);
    if (reach > last) reach = last;
    if (first <= reach) {
      gather_block<kJ, kN, false>(m, channel, y, j, first, reach, start, false);
      first = reach + 1;
    }
    if constexpr (kN > 1)
      if (first <= last) gather_edge<kJ, kN - 1>(m, channel, y, j, first, last, start + kL);
  }

  // The same for entries start .. end-1.
  template <int kJ, int kN, bool kFresh = false>
  static void gather(const Memory& m, Index channel, Index j, Index first, Index last, Index start,
                     Index end) {
    if (first > last && !kFresh) return;
    const bool ahead = beyond(m, last);
    in_parts<kN * kL, kFar>(start, end, j / kColumns % 2 != 0, [&](Index part) {
      with_count<kN>((end - part) / kL, [&]<int kV>() {
        for (int y = 0; y < kS; ++y)
          if constexpr (kLimited)
            gather_edge<kJ, kV>(m, channel, y, j, first, last, part);
          else
            gather_block<kJ, kV, kFresh>(m, channel, y, j, first, last, part, ahead);
      });
    });
  }

  // Columns are gathered kColumns at a time, at the step of the last of them, so that the data read
  // from later nodes serves all of them. Each column later adds the few nodes that were not
  // complete then.
  static Index group_of(Index j) { return (j + kColumns - 1) / kColumns * kColumns; }
  static bool gathered_before(Index j, Index last) {
    const Index top = group_of(j);
    return top != j && top <= last && top - kColumns + 1 >= 2;
  }

  // Adds the pops of all later steps to the gradient of column j.
  static void gather_column(const Memory& m, Index j, Index last, Index channel) {
    constexpr int kAlone = kPopVectors;
    const Index top = group_of(j), start = first_of(m, j), end = end_of(j);
    const Index first = m.size.first_pop(j);
    if (gathered_before(j, last)) {
      gather<1, kAlone>(m, channel, j, first, last < top + 1 ? last : top + 1, start, end);
    } else if (top != j || top - kColumns + 1 < 2) {
      gather<1, kAlone>(m, channel, j, first, last, start, end);
    } else {
      // The range common to all of them; the older ones reach further down, the newer ones further
      // up.
      const Index common = end_of(j - kColumns + 1) > start ? end_of(j - kColumns + 1) : start;
      constexpr bool kFresh = !kLimited;
      if (kLimited)
        for (int d = 1; d < kColumns; ++d)
          clear(column(m, m.numerators, j - d) + channel * row_of(m, j - d), kC * row_of(m, j - d));
      gather<kColumns, kColumnVectors, kFresh>(m, channel, j, first, last, start, common);
      for (int d = 0; d < kColumns; ++d) {
        const Index column_end = end_of(j - d), low = column_end < start ? column_end : start;
        if (kLimited) gather<1, kAlone>(m, channel, j - d, first, last, first_of(m, j - d), low);
        if (kFresh && d > 0)
          gather<1, kAlone, kFresh>(m, channel, j - d, first, last, common, column_end);
        else
          gather<1, kAlone>(m, channel, j - d, first, last, common, column_end);
      }
    }
  }

  // The gradient of P[.->j] and V[.->j] from the step into node j + 1 has been written to
  // numerators[j] (or 0). Adds the pops of all later steps, then the readings, and converts it to
  // the gradient of N.
  static void finish_column(const Memory& m, Index j, Index last, const F* constants) {
    const Index row = row_of(m, j);
    const V most = splat(AutomatonRange<F>::kMostGradient);
    V scale[kC];
    for (int b = 0; b < kC; ++b) {
      const F z = m.mass[j * kC + b];
      scale[b] = splat(z > 0 ? 1 / z : F(0));
    }
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      F* to = at(m, m.numerators, j, channel * kC);
      const F* in = at(m, m.columns, j, channel * kC);
      gather_column(m, j, last, channel * kC);
      V gradient[kC];
      for (int b = 0; b < kC; ++b) gradient[b] = splat(constants[channel * kC + b]);
      for (Index i = first_of(m, j); i < end_of(j); i += kL) {
        V below = {};
        for (int b = 0; b < kC; ++b) {
          below += gradient[b] * load(in + b * row + i);
          V numerator = (load(to + b * row + i) + gradient[b]) * scale[b];
          numerator = numerator > most ? most : numerator;
          store(to + b * row + i, numerator < -most ? -most : numerator);
        }
        // forward_gradients has room for a whole row.
        store(m.forward_gradients + i, load(m.forward_gradients + i) + below);
      }
      // Discards the sums gathered beyond the column's own entries.
      trim(m, m.numerators, j, channel * kC);
    }
  }

  // Computes the gradient of the pop factors at k*C + (t,y), k < p: dot products of columns.
  static void popped_gradient(const Memory& m, Index j, F* result, Index stride) {
    const Index p = j - 1, low = lowest_of(m, j), first = first_of(m, j), end = end_of(p);
    // The oldest node has no edges within the window.
    const Index none = (low + 1) * kC < end ? (low + 1) * kC : end;
    for (int r = 0; r < kQ; ++r) {
      F* row = result + r * stride;
      clear(row + first, none - first);
      clear_padding(row, p * kC, end);
    }
    const Index blocks = p > low + 1 ? (p - low - 1) / kNodes * kNodes : 0, rest = low + 1 + blocks;
    in_parts<kNodes, kFar>(low + 1, rest, j % 2 != 0,
                           [&](Index k) { popped_block<kNodes>(m, j, k, result, stride); });
    for (Index k = rest; k < p; ++k) popped_block<1>(m, j, k, result, stride);
  }

  // Nodes k .. k + kN - 1.
  template <int kN>
  [[gnu::always_inline]] static void popped_block(const Memory& m, Index j, Index k, F* result,
                                                  Index stride) {
    constexpr int kRows = kN * kQ, kOf = kQ * kRows;
    F sums[kS * kOf];  // y, r, node, t
    for (int symbol = 0; symbol < kS; symbol += kDotSymbols) {
      V dots[kDotSymbols * kOf];
      unrolled<kDotSymbols * kOf>(PUSHDOWN_UNROLLED(d) { dots[d] = V{}; });
      for (Index channel = 0; channel <= m.size.channels; ++channel)
        add_dots<kN>(m, j, k, channel * kC + symbol, dots);
      store_sums<F, kDotSymbols * kOf>(dots, sums + symbol * kOf);
    }
    for (int r = 0; r < kQ; ++r)
      for (int d = 0; d < kRows; ++d)
        for (int y = 0; y < kS; ++y)
          result[r * stride + k * kC + d * kS + y] = sums[y * kOf + r * kRows + d];
  }

  // `b` : the first row of the channel and symbol in a column.
  template <int kN>
  [[gnu::always_inline]] static void add_dots(const Memory& m, Index j, Index k, Index b, V* dots) {
    constexpr int kRows = kN * kQ, kOf = kQ * kRows;
    const Index row = row_of(m, j), common = end_of(k);
    const F* upper = at(m, m.numerators, j, b);
    const F* in[kN];
    Index step[kN];
    for (int node = 0; node < kN; ++node) {
      in[node] = at(m, m.columns, k + node, b);
      step[node] = row_of(m, k + node);
    }
    for (Index i = first_of(m, j); i < common; i += kL)
      unrolled<kDotSymbols>(PUSHDOWN_UNROLLED(y) {
        V entry[kQ];
        unrolled<kQ>(PUSHDOWN_UNROLLED(r) { entry[r] = load(upper + (r * kS + y) * row + i); });
        unrolled<kRows>(PUSHDOWN_UNROLLED(d) {
          const V value = held(load(in[d / kQ] + (d % kQ * kS + y) * step[d / kQ] + i));
          unrolled<kQ>(PUSHDOWN_UNROLLED(r) { dots[y * kOf + r * kRows + d] += value * entry[r]; });
        });
      });
    // Rows of later nodes may be longer, unless blocks begin and end with whole rows.
    if constexpr (kN > 1 && (kLimited || kN * kC != kNodePadding))
      unrolled<kN>(PUSHDOWN_UNROLLED(node) {
        for (Index i = common; i < end_of(k + node); i += kL)
          unrolled<kDotSymbols * kQ>(PUSHDOWN_UNROLLED(d) {
            constexpr int y = d / kQ, t = d % kQ;
            const V value = load(in[node] + (t * kS + y) * step[node] + i);
            unrolled<kQ>(PUSHDOWN_UNROLLED(r) {
              dots[y * kOf + r * kRows + node * kQ + t] +=
                  value * load(upper + (r * kS + y) * row + i);
            });
          });
      });
  }

  static void finish_backward(const Memory& m, Index j, Index last, const F* reading_gradient) {
    if (j <= m.size.held && !gathered_before(j, last))
      clear(column(m, m.numerators, j), m.size.edge_rows() * row_of(m, j));
    finish_column(m, j, last, reading_gradient);
  }

  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    const Index p = j - 1, row = row_of(m, j);
    const Index channels = 1 + m.size.channels;
    const F* u = m.forward + p * kC;
    const F* gradient = at(m, m.numerators, j, 0);
    F constants[kC * (1 + kMaxNondeterministicChannels)];
    for (int b = 0; b < kC; ++b)
      constants[b] = reading_gradient[b] + m.forward_gradients[j * kC + b];
    copy(constants + kC, reading_gradient + kC, m.size.channels * kC);
    finish_column(m, j, last, constants);
    // Push rule.
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
    // Replace rule and the pop factors, into the gradient of column p.
    const Index first = first_of(m, j), end = end_of(p);
    F* popped = slopes_of(m, j);
    const Index stride = m.size.longest_row();
    popped_gradient(m, j, popped, stride);
    const bool add_to = gathered_before(p, last);
    for (int c = 0; c < kC; ++c) {
      V replace[kC], pops[kQ], dots[kC + kQ] = {};
      for (int b = 0; b < kC; ++b) replace[b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
      for (Index channel = 0; channel < channels; ++channel) {
        const F* from = at(m, m.columns, p, channel * kC + c);
        F* from_gradient = at(m, m.numerators, p, channel * kC + c);
        const F* upper_rows = gradient + channel * kC * row;
        if (!add_to) clear(from_gradient + first_of(m, p), first - first_of(m, p));
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
              const V factor = load(popped + r * stride + i);
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

template <class F, int kQ, int kS>
struct Fixed {
  using Memory = NondeterministicMemory<F>;

  // Calls visit<Loops>() with the loops for a step that reads the columns up to j.
  template <class Visit>
  [[gnu::always_inline]] static void with_loops(const Memory& m, Index j, Visit visit) {
    if (m.size.window > 0)
      visit.template operator()<FixedLoops<F, kQ, kS, true, false>>();
    else if (FixedColumns<F, kQ, kS, false>::history(m, j) <= (Index{1} << 20))
      visit.template operator()<FixedLoops<F, kQ, kS, false, false>>();
    else
      visit.template operator()<FixedLoops<F, kQ, kS, false, true>>();
  }
  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    with_loops(m, j, [&]<class Loops>() { Loops::step(m, j, weights, vector); });
  }
  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    with_loops(m, last, [&]<class Loops>() {
      Loops::step_backward(m, j, last, weights, vector, reading_gradient, weight_gradient,
                           vector_gradient);
    });
  }
  static void finish_backward(const Memory& m, Index j, Index last, const F* reading_gradient) {
    with_loops(m, last,
               [&]<class Loops>() { Loops::finish_backward(m, j, last, reading_gradient); });
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
