// The loops of nondeterministic.h for any number of states and symbols, row by row. For kernel
// files only.
#pragma once
#include "kernel/nondeterministic.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

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

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
