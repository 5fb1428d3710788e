// The loops of nondeterministic_kernel.h for any number of states and symbols, row by row. For
// kernel files only.
#pragma once
#include "kernel/memory/automaton_range.h"
#include "kernel/memory/nondeterministic_kernel.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct Generic {
  using Memory = NondeterministicMemory<F>;

  static void step(const Memory& m, Index j, const F* weights, const F* vector) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s, w = 2 * c + q;
    const Index p = j - 1, low = m.size.lowest(j), from = low * c, older = (p - low) * c;
    const F* u = m.forward + p * c;
    clear(m.column(m.columns, j), m.size.edge_rows() * m.size.row(j));
    for (Index r = 0; r < q; ++r) clear(m.factors(j, r) + m.size.first(j), m.size.row(j));
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      for (Index a = 0; a < c; ++a) {
        const F* below = m.row(m.columns, p, channel * c + a) + from;
        for (Index b = 0; b < c; ++b)
          add_scaled(m.row(m.columns, j, channel * c + b) + from, below,
                     u[a] * weights[a * w + c + b], older);
        for (Index r = 0; channel == 0 && r < q; ++r)
          add_scaled(m.factors(j, r) + from, below, u[a] * weights[a * w + 2 * c + r], older);
      }
      for (Index k = low + 1; k < p; ++k)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y) {
            const F* in = m.row(m.columns, k, channel * c + t * s + y) + from;
            for (Index r = 0; r < q; ++r)
              add_scaled(m.row(m.columns, j, channel * c + r * s + y) + from, in,
                         m.factors(j, r)[k * c + t * s + y], (k - low) * c);
          }
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      F total = 0;
      for (Index b = 0; b < c; ++b) {
        F* out = m.row(m.columns, j, channel * c + b);
        for (Index a = 0; a < c; ++a) out[p * c + a] = pushed * u[a] * weights[a * w + b];
        if (channel > 0) continue;
        F sum = 0;
        for (Index i = from; i < j * c; ++i) sum += out[i];
        total += m.mass[j * c + b] = sum;
      }
      for (Index b = 0; b < c; ++b) {
        F& mass = m.mass[j * c + b];
        if (channel == 0) {
          if (mass < AutomatonRange<F>::least(total)) mass = 0;
          m.forward[j * c + b] = mass == 0 ? F(0) : mass / total;
        }
        const F scale = mass == 0 ? F(0) : 1 / mass;
        F* out = m.row(m.columns, j, channel * c + b);
        for (Index i = from; i < j * c; ++i) out[i] *= scale;
      }
    }
  }

  // see FixedLoops::finish_column.
  static void finish_channel(const Memory& m, Index j, Index last, Index channel,
                             const F* reading_gradient) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s;
    const Index low = m.size.lowest(j), from = low * c, count = (j - low) * c;
    for (Index l = m.size.first_pop(j); l <= last && l <= m.size.highest(j - 1); ++l) {
      const Index start = m.size.lowest(l) * c;
      for (Index r = 0; r < q; ++r)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y)
            add_scaled(m.row(m.numerators, j, channel * c + t * s + y) + start,
                       m.row(m.numerators, l, channel * c + r * s + y) + start,
                       m.factors(l, r)[j * c + t * s + y], j * c - start);
    }
    for (Index b = 0; b < c; ++b) {
      F* gradient = m.row(m.numerators, j, channel * c + b) + from;
      const F g = reading_gradient[channel * c + b] +
                  (channel == 0 ? m.forward_gradients[j * c + b] : F(0));
      const F z = m.mass[j * c + b], scale = z > 0 ? 1 / z : F(0);
      add_scaled(m.forward_gradients + from, m.row(m.columns, j, channel * c + b) + from, g, count);
      for (Index i = 0; i < count; ++i)
        gradient[i] = AutomatonRange<F>::limited((gradient[i] + g) * scale);
    }
  }

  static void finish_backward(const Memory& m, Index j, Index last, const F* reading_gradient) {
    if (j <= m.size.held) clear(m.column(m.numerators, j), m.size.edge_rows() * m.size.row(j));
    for (Index channel = 0; channel <= m.size.channels; ++channel)
      finish_channel(m, j, last, channel, reading_gradient);
  }

  static void step_backward(const Memory& m, Index j, Index last, const F* weights, const F* vector,
                            const F* reading_gradient, F* weight_gradient, F* vector_gradient) {
    const Index q = m.size.states, s = m.size.symbols, c = q * s, w = 2 * c + q;
    const Index p = j - 1, low = m.size.lowest(j), from = low * c, older = (p - low) * c;
    const F* u = m.forward + p * c;
    const auto gradient = [&](Index channel, Index b) {
      return m.row(m.numerators, j, channel * c + b);
    };
    clear(m.column(m.numerators, p), m.size.edge_rows() * m.size.row(p));
    for (Index r = 0; r < q; ++r) clear(m.factor_gradients(j, r) + m.size.first(j), m.size.row(j));
    clear(weight_gradient, c * w);
    for (Index channel = 0; channel <= m.size.channels; ++channel) {
      finish_channel(m, j, last, channel, reading_gradient);
      const F pushed = channel > 0 ? vector[channel - 1] : F(1);
      F vector_sum = 0;
      for (Index b = 0; b < c; ++b)
        for (Index a = 0; a < c; ++a) {
          const F slope = u[a] * gradient(channel, b)[p * c + a];
          weight_gradient[a * w + b] += pushed * slope;
          vector_sum += weights[a * w + b] * slope;
        }
      if (channel > 0) vector_gradient[channel - 1] = vector_sum;
      for (Index k = low + 1; k < p; ++k)
        for (Index t = 0; t < q; ++t)
          for (Index y = 0; y < s; ++y) {
            const F* in = m.row(m.columns, k, channel * c + t * s + y) + from;
            for (Index r = 0; r < q; ++r)
              m.factor_gradients(j, r)[k * c + t * s + y] +=
                  dot(in, gradient(channel, r * s + y) + from, (k - low) * c);
          }
      for (Index a = 0; a < c; ++a) {
        const F* below = m.row(m.columns, p, channel * c + a) + from;
        F* to = m.row(m.numerators, p, channel * c + a) + from;
        for (Index b = 0; b < c; ++b) {
          add_scaled(to, gradient(channel, b) + from, u[a] * weights[a * w + c + b], older);
          weight_gradient[a * w + c + b] += u[a] * dot(below, gradient(channel, b) + from, older);
        }
      }
    }
    for (Index a = 0; a < c; ++a)
      for (Index r = 0; r < q; ++r) {
        const F* factors = m.factor_gradients(j, r) + from;
        add_scaled(m.row(m.numerators, p, a) + from, factors, u[a] * weights[a * w + 2 * c + r],
                   older);
        weight_gradient[a * w + 2 * c + r] =
            u[a] * dot(m.row(m.columns, p, a) + from, factors, older);
      }
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
