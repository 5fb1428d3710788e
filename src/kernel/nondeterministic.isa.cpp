// Loops of the nondeterministic stack; see nondeterministic.h. Compiled once for each instruction
// set. Q and S are template parameters for the common sizes and 0 for the generic version.
#include "kernel/nondeterministic.h"

#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

// ---- Sizes known when compiling: sums of a block of entries (i, a) stay in registers. ----
template <class F, int kQ, int kS>
struct Fixed {
  using Memory = NondeterministicMemory<F>;
  using V = Vector<F>;
  static constexpr int kC = kQ * kS, kW = 2 * kC + kQ;
  static constexpr Index kL = kLanes<F>;
  // Vectors a block: as many as leave registers for C sums each, the loads and the factors.
  static constexpr int kWide = (kVectorRegisters - 4) / kC >= 5   ? 4
                               : (kVectorRegisters - 4) / kC >= 2 ? 2
                                                                  : 1;

  // sums[r,y] += sum_t in[t,y] f[r][t,y], for k = first .. end-1; `start` is the block's place.
  template <int kN>
  [[gnu::always_inline]] static void pop_block(const Memory& m, Index channel, const F* factors,
                                               Index first, Index end, Index start, F* to,
                                               Index row) {
    const Index stride = m.size.popped_row();
    V sums[kC][kN];
    for (int b = 0; b < kC; ++b)
      for (int v = 0; v < kN; ++v) sums[b][v] = load(to + b * row + start + v * kL);
    for (Index k = first; k < end; ++k) {
      const Index in_row = m.size.row(k);
      const F* in = m.columns + m.column_start[k] + channel * in_row + start;
      for (int t = 0; t < kQ; ++t)
        for (int y = 0; y < kS; ++y) {
          V entry[kN];
          for (int v = 0; v < kN; ++v) entry[v] = load(in + (t * kS + y) * in_row + v * kL);
          for (int r = 0; r < kQ; ++r) {
            const V factor = splat(factors[r * stride + k * kC + t * kS + y]);
            for (int v = 0; v < kN; ++v) sums[r * kS + y][v] += factor * entry[v];
          }
        }
    }
    for (int b = 0; b < kC; ++b)
      for (int v = 0; v < kN; ++v) store(to + b * row + start + v * kL, sums[b][v]);
  }

  // `channel` : the first row of the channel in a column.
  static void pop(const Memory& m, Index j, Index channel, F* to, Index row, const F* factors) {
    const Index p = j - 1;
    constexpr Index kBlock = kWide * kL;
    for (Index start = 0; start < (p - 1) * kC; start += kBlock) {
      // Rows of the first columns end inside the block: those go vector by vector.
      const Index behind = start + kBlock - kNodePadding;
      Index full = behind < start ? start / kC + 1 : behind / kC + 1;
      if (full > p) full = p;
      for (int v = 0; v < kWide; ++v) {
        const Index place = start + v * kL, first = place / kC + 1;
        if (first < full) pop_block<1>(m, channel, factors, first, full, place, to, row);
      }
      if (full < p) pop_block<kWide>(m, channel, factors, full, p, start, to, row);
    }
  }

  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    const Index p = j - 1, row_p = m.size.row(p), row = m.size.row(j);
    const F* u = m.forward + p * kC;
    const Index stride = m.size.popped_row();
    F* factors = m.popped + j * m.size.popped_node();
    V replace[kC][kC], pops[kC][kQ];
    for (int c = 0; c < kC; ++c) {
      for (int b = 0; b < kC; ++b) replace[c][b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[c][r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
    }
    V scale[kC];
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      const F* from = m.columns + m.column_start[p] + channel * kC * row_p;
      F* to = m.columns + m.column_start[j] + channel * kC * row;
      // Replace; the pop factors read the same entries.
      for (Index i = 0; i < row_p; i += kL) {
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
          store(factors + r * stride + i, sum);
        }
      }
      for (int b = 0; b < kC; ++b) clear(to + b * row + row_p, row - row_p);
      pop(m, j, channel * kC, to, row, factors);
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
          for (Index i = 0; i < row; i += kL) sums += load(out + i);
          const F sum = sum_of(sums);
          m.mass[j * kC + b] = sum;
          total += sum;
          scale[b] = splat(sum > 0 ? 1 / sum : F(0));
        }
        for (Index i = 0; i < row; i += kL) store(out + i, load(out + i) * scale[b]);
      }
      if (channel > 0) continue;
      const F rescale = total > 0 ? 1 / total : F(0);
      for (int b = 0; b < kC; ++b) m.forward[j * kC + b] = m.mass[j * kC + b] * rescale;
    }
  }

  // sums[t,y] += sum_r out[r,y] f[r][t,y] over the nodes l = j+2 .. last that popped through j.
  template <int kN>
  [[gnu::always_inline]] static void gather_block(const Memory& m, Index channel, Index j,
                                                  Index last, Index start, F* to, Index row) {
    const Index stride = m.size.popped_row(), node = m.size.popped_node();
    V sums[kC][kN];
    for (int b = 0; b < kC; ++b)
      for (int v = 0; v < kN; ++v) sums[b][v] = load(to + b * row + start + v * kL);
    for (Index l = j + 2; l <= last; ++l) {
      const Index out_row = m.size.row(l);
      const F* out = m.numerators + m.column_start[l] + channel * out_row + start;
      const F* factors = m.popped + l * node + j * kC;
      for (int r = 0; r < kQ; ++r)
        for (int y = 0; y < kS; ++y) {
          V entry[kN];
          for (int v = 0; v < kN; ++v) entry[v] = load(out + (r * kS + y) * out_row + v * kL);
          for (int t = 0; t < kQ; ++t) {
            const V factor = splat(factors[r * stride + t * kS + y]);
            for (int v = 0; v < kN; ++v) sums[t * kS + y][v] += factor * entry[v];
          }
        }
    }
    for (int b = 0; b < kC; ++b)
      for (int v = 0; v < kN; ++v) store(to + b * row + start + v * kL, sums[b][v]);
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
      F* to = m.numerators + m.column_start[j] + channel * kC * row;
      const F* in = m.columns + m.column_start[j] + channel * kC * row;
      if (last >= j + 2) {
        Index start = 0;
        for (; start + kWide * kL <= row; start += kWide * kL)
          gather_block<kWide>(m, channel * kC, j, last, start, to, row);
        for (; start < row; start += kL) gather_block<1>(m, channel * kC, j, last, start, to, row);
      }
      V gradient[kC];
      for (int b = 0; b < kC; ++b) gradient[b] = splat(constants[channel * kC + b]);
      for (Index i = 0; i < row; i += kL) {
        V below = {};
        for (int b = 0; b < kC; ++b) {
          below += gradient[b] * load(in + b * row + i);
          store(to + b * row + i, (load(to + b * row + i) + gradient[b]) * scale[b]);
        }
        // forward_gradients has room for a whole row.
        store(m.forward_gradients + i, load(m.forward_gradients + i) + below);
      }
      // What was gathered beyond the column's own entries belongs to nobody.
      for (int b = 0; b < kC; ++b) clear(to + b * row + j * kC, row - j * kC);
    }
  }

  // Gradient of the pop factors, [r][k*C + (t,y)], k < p: dot products of columns.
  static void popped_gradient(const Memory& m, Index j, F* result) {
    const Index p = j - 1, out_row = m.size.row(j), stride = m.size.popped_row();
    const F* out = m.numerators + m.column_start[j];
    for (int r = 0; r < kQ; ++r) {
      F* row = result + r * stride;
      for (Index i = 0; i < kC; ++i) row[i] = 0;  // node 0 has no edges
      for (Index i = p * kC; i < m.size.row(p); ++i) row[i] = 0;
    }
    for (Index k = 1; k < p; ++k) {
      const Index in_row = m.size.row(k);
      // Enough sums at once to hide the latency of an addition, few enough for the registers.
      constexpr int kTogether = kC * kQ + 8 <= kVectorRegisters ? kS : 1;
      for (int group = 0; group < kS; group += kTogether) {
        V dots[kTogether][kQ][kQ] = {};
        for (Index channel = 0; channel <= m.size.channels; ++channel) {
          const F* in = m.columns + m.column_start[k] + channel * kC * in_row;
          const F* upper = out + channel * kC * out_row;
          for (Index i = 0; i < in_row; i += kL)
            for (int y = 0; y < kTogether; ++y) {
              V entry[kQ];
              for (int r = 0; r < kQ; ++r)
                entry[r] = load(upper + (r * kS + group + y) * out_row + i);
              for (int t = 0; t < kQ; ++t) {
                const V value = load(in + (t * kS + group + y) * in_row + i);
                for (int r = 0; r < kQ; ++r) dots[y][t][r] += value * entry[r];
              }
            }
        }
        F sums[kTogether * kQ * kQ];
        store_sums<F, kTogether * kQ * kQ>(&dots[0][0][0], sums);
        for (int y = 0; y < kTogether; ++y)
          for (int t = 0; t < kQ; ++t)
            for (int r = 0; r < kQ; ++r)
              result[r * stride + k * kC + t * kS + group + y] = sums[(y * kQ + t) * kQ + r];
      }
    }
  }

  static void finish_backward(const Memory& m, Index last, const F* reading_gradient) {
    if (last < 2) clear(m.numerators + m.column_start[1], m.size.column(1));
    finish_column(m, 1, last, reading_gradient);
  }

  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    const Index p = j - 1, row_p = m.size.row(p), row = m.size.row(j);
    const Index channels = 1 + m.size.channels;
    const F* u = m.forward + p * kC;
    const F* gradient = m.numerators + m.column_start[j];
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
    const Index stride = m.size.popped_row();
    F* popped = m.popped;  // the factors of node 0 do not exist: scratch
    popped_gradient(m, j, popped);
    for (int c = 0; c < kC; ++c) {
      V replace[kC], pops[kQ], dots[kC + kQ] = {};
      for (int b = 0; b < kC; ++b) replace[b] = splat(u[c] * weights[c * kW + kC + b]);
      for (int r = 0; r < kQ; ++r) pops[r] = splat(u[c] * weights[c * kW + 2 * kC + r]);
      for (Index channel = 0; channel < channels; ++channel) {
        const F* from = m.columns + m.column_start[p] + (channel * kC + c) * row_p;
        F* from_gradient = m.numerators + m.column_start[p] + (channel * kC + c) * row_p;
        const F* upper_rows = gradient + channel * kC * row;
        for (Index i = 0; i < row_p; i += kL) {
          const V entry = load(from + i);
          V sum = {};
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

// ---- Any size: the same steps row by row. ----
template <class F>
struct Generic {
  using Memory = NondeterministicMemory<F>;

  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s, w = 2 * c + q;
    const Index p = j - 1, row_p = m.size.row(p), row = m.size.row(j);
    const Index stride = m.size.popped_row();
    const F* u = m.forward + p * c;
    F* factors = m.popped + j * m.size.popped_node();
    clear(m.columns + m.column_start[j], m.size.column(j));
    clear(factors, q * stride);
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      const F* from = m.columns + m.column_start[p] + channel * c * row_p;
      F* to = m.columns + m.column_start[j] + channel * c * row;
      for (Index a = 0; a < c; ++a) {
        for (Index b = 0; b < c; ++b)
          add_scaled(to + b * row, from + a * row_p, u[a] * weights[a * w + c + b], p * c);
        for (Index r = 0; channel == 0 && r < q; ++r)
          add_scaled(factors + r * stride, from + a * row_p, u[a] * weights[a * w + 2 * c + r],
                     p * c);
      }
      for (Index k = 1; k < p; ++k)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y) {
            const F* in = m.columns + m.column_start[k] + (channel * c + t * s + y) * m.size.row(k);
            for (Index r = 0; r < q; ++r)
              add_scaled(to + (r * s + y) * row, in, factors[r * stride + k * c + t * s + y],
                         k * c);
          }
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      for (Index b = 0; b < c; ++b)
        for (Index a = 0; a < c; ++a) to[b * row + p * c + a] = pushed * u[a] * weights[a * w + b];
      F total = 0;
      for (Index b = 0; b < c; ++b) {
        F* out = to + b * row;
        F sum = channel == 0 ? F(0) : m.mass[j * c + b];
        for (Index i = 0; channel == 0 && i < j * c; ++i) sum += out[i];
        m.mass[j * c + b] = sum;
        total += sum;
        const F scale = sum > 0 ? 1 / sum : F(0);
        for (Index i = 0; i < j * c; ++i) out[i] *= scale;
      }
      for (Index b = 0; b < c; ++b)
        m.forward[j * c + b] = total > 0 ? m.mass[j * c + b] / total : 0;
    }
  }

  // See Fixed::finish_column.
  static void finish_channel(const Memory& m, Index j, Index last, Index channel,
                             const F* reading_gradient) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s, row = m.size.row(j);
    F* gradient = m.numerators + m.column_start[j] + channel * c * row;
    const F* own = m.columns + m.column_start[j] + channel * c * row;
    for (Index l = j + 2; l <= last; ++l) {
      const F* out = m.numerators + m.column_start[l] + channel * c * m.size.row(l);
      const F* factors = m.popped + l * m.size.popped_node() + j * c;
      for (Index r = 0; r < q; ++r)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y)
            add_scaled(gradient + (t * s + y) * row, out + (r * s + y) * m.size.row(l),
                       factors[r * m.size.popped_row() + t * s + y], j * c);
    }
    for (Index b = 0; b < c; ++b) {
      const F g = reading_gradient[channel * c + b] +
                  (channel == 0 ? m.forward_gradients[j * c + b] : F(0));
      const F z = m.mass[j * c + b], scale = z > 0 ? 1 / z : F(0);
      add_scaled(m.forward_gradients, own + b * row, g, j * c);
      for (Index i = 0; i < j * c; ++i) gradient[b * row + i] = (gradient[b * row + i] + g) * scale;
    }
  }

  static void finish_backward(const Memory& m, Index last, const F* reading_gradient) {
    if (last < 2) clear(m.numerators + m.column_start[1], m.size.column(1));
    for (Index channel = 0; channel <= m.size.channels; ++channel)
      finish_channel(m, 1, last, channel, reading_gradient);
  }

  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s, w = 2 * c + q;
    const Index p = j - 1, row_p = m.size.row(p), row = m.size.row(j);
    const Index stride = m.size.popped_row();
    const F* u = m.forward + p * c;
    F* popped = m.popped;  // the factors of node 0 do not exist: scratch
    if (j == last) clear(m.numerators + m.column_start[j], m.size.column(j));
    clear(m.numerators + m.column_start[p], m.size.column(p));
    clear(popped, q * stride);
    clear(weight_gradient, c * w);
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      F* gradient = m.numerators + m.column_start[j] + channel * c * row;
      finish_channel(m, j, last, channel, reading_gradient);
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      F vector_sum = 0;
      for (Index b = 0; b < c; ++b)
        for (Index a = 0; a < c; ++a) {
          const F slope = u[a] * gradient[b * row + p * c + a];
          weight_gradient[a * w + b] += pushed * slope;
          vector_sum += weights[a * w + b] * slope;
        }
      if (channel > 0) vector_gradient[channel - 1] = vector_sum;
      for (Index k = 1; k < p; ++k)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y) {
            const F* in = m.columns + m.column_start[k] + (channel * c + t * s + y) * m.size.row(k);
            for (Index r = 0; r < q; ++r)
              popped[r * stride + k * c + t * s + y] +=
                  dot(in, gradient + (r * s + y) * row, k * c);
          }
      const F* from = m.columns + m.column_start[p] + channel * c * row_p;
      F* from_gradient = m.numerators + m.column_start[p] + channel * c * row_p;
      for (Index a = 0; a < c; ++a)
        for (Index b = 0; b < c; ++b) {
          add_scaled(from_gradient + a * row_p, gradient + b * row, u[a] * weights[a * w + c + b],
                     p * c);
          weight_gradient[a * w + c + b] += u[a] * dot(from + a * row_p, gradient + b * row, p * c);
        }
    }
    const F* from = m.columns + m.column_start[p];
    F* from_gradient = m.numerators + m.column_start[p];
    for (Index a = 0; a < c; ++a)
      for (Index r = 0; r < q; ++r) {
        add_scaled(from_gradient + a * row_p, popped + r * stride,
                   u[a] * weights[a * w + 2 * c + r], p * c);
        weight_gradient[a * w + 2 * c + r] =
            u[a] * dot(from + a * row_p, popped + r * stride, p * c);
      }
  }
};

template <class F>
NondeterministicKernel<F> choose(int q, int s) {
  const auto fixed = [&]<int kQ, int kS>(NondeterministicKernel<F>& kernel) {
    if (q == kQ && s == kS)
      kernel = {Fixed<F, kQ, kS>::step, Fixed<F, kQ, kS>::step_backward,
                Fixed<F, kQ, kS>::finish_backward};
  };
  NondeterministicKernel<F> kernel{Generic<F>::step, Generic<F>::step_backward,
                                   Generic<F>::finish_backward};
  fixed.template operator()<1, 2>(kernel);
  fixed.template operator()<1, 3>(kernel);
  fixed.template operator()<2, 2>(kernel);
  fixed.template operator()<2, 3>(kernel);
  fixed.template operator()<3, 2>(kernel);
  fixed.template operator()<3, 3>(kernel);
  return kernel;
}

}  // namespace

NondeterministicKernel<float> nondeterministic_kernel_f(int states, int symbols) {
  return choose<float>(states, symbols);
}
NondeterministicKernel<double> nondeterministic_kernel_d(int states, int symbols) {
  return choose<double>(states, symbols);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
