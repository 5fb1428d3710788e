// Loops of the nondeterministic stack; see nondeterministic.h. Compiled once for each instruction
// set. Q and S are template parameters for the common sizes and 0 for the generic version.
#include "kernel/nondeterministic.h"

namespace pushdown::PUSHDOWN_JOIN(isa_, PUSHDOWN_ISA) {
  namespace {

  template <class F, int kQ, int kS>
  struct Loops {
    using Memory = NondeterministicMemory<F>;
    using Index = std::int64_t;

    // Sizes as compile-time constants where they are known.
    struct Size {
      int q, s, c, w;
      explicit Size(const NondeterministicSize& size)
          : q(kQ ? kQ : size.states), s(kS ? kS : size.symbols), c(q * s), w(2 * c + q) {}
    };
    static constexpr int kC = kQ * kS;

    // M[k][(t,y)->r] for all k < p at once, row r of `popped` : (k, t, y).
    static void pop_factors(const Memory& m, const Size& z, Index p, const F* weights) {
      const F* u = m.forward + p * z.c;
      const Index length = p * z.c, row = m.size.row(p), stride = (m.size.steps + 2) * z.c;
      const F* column = m.columns + m.column_start[p];
      for (int r = 0; r < z.q; ++r) {
        F* out = m.popped + r * stride;
        for (Index i = 0; i < length; ++i) out[i] = 0;
        for (int c = 0; c < z.c; ++c) {
          const F factor = u[c] * weights[c * z.w + 2 * z.c + r];
          const F* in = column + c * row;
          for (Index i = 0; i < length; ++i) out[i] += factor * in[i];
        }
      }
    }

    static void step(const Memory& m, Index j, const F* weights) {
      const Size z(m.size);
      const Index p = j - 1, row_p = m.size.row(p), row_j = m.size.row(j);
      const F* u = m.forward + p * z.c;
      const F* from = m.columns + m.column_start[p];
      F* to = m.columns + m.column_start[j];
      // Replace. Rows of column p are at most as long as those of column j.
      for (int b = 0; b < z.c; ++b) {
        F* out = to + b * row_j;
        for (Index i = 0; i < row_j; ++i) out[i] = 0;
        for (int c = 0; c < z.c; ++c) {
          const F factor = u[c] * weights[c * z.w + z.c + b];
          const F* in = from + c * row_p;
          for (Index i = 0; i < row_p; ++i) out[i] += factor * in[i];
        }
      }
      pop_factors(m, z, p, weights);
      pop(m, z, j);
      // Push.
      for (int b = 0; b < z.c; ++b)
        for (int a = 0; a < z.c; ++a) to[b * row_j + p * z.c + a] = u[a] * weights[a * z.w + b];
      // Normalise.
      F total = 0;
      for (int b = 0; b < z.c; ++b) {
        F* out = to + b * row_j;
        F sum = 0;
        for (Index i = 0; i < row_j; ++i) sum += out[i];
        m.mass[j * z.c + b] = sum;
        total += sum;
        const F scale = sum > 0 ? 1 / sum : 0;
        for (Index i = 0; i < row_j; ++i) out[i] *= scale;
      }
      m.total[j] = total;
      const F scale = total > 0 ? 1 / total : 0;
      for (int b = 0; b < z.c; ++b) m.forward[j * z.c + b] = m.mass[j * z.c + b] * scale;
    }

    // N[i->j][a->(r,y)] += sum_{i<k<p} sum_t P[i->k][a->(t,y)] M[k][(t,y)->r], for one block of
    // kNodePadding entries (i, a) at a time: the C sums of a block stay in registers over all k.
    // Entries with i >= k are zero padding or lie before the block, so every k whose rows reach the
    // block may be added whole.
    static void pop(const Memory& m, const Size& z, Index j) {
      constexpr Index kBlock = kNodePadding;
      const Index p = j - 1, row_j = m.size.row(j), stride = (m.size.steps + 2) * z.c;
      F* to = m.columns + m.column_start[j];
      for (Index start = 0; start < (p - 1) * z.c; start += kBlock) {
        const Index first = start / z.c + 1;
        if constexpr (kC > 0 && kC <= 16) {
          F sums[kC > 0 ? kC : 1][kBlock] = {};
          for (Index k = first; k < p; ++k) {
            const Index row = m.size.row(k);
            const F* in = m.columns + m.column_start[k] + start;
            const F* factor = m.popped + k * z.c;
            for (int t = 0; t < kQ; ++t)
              for (int y = 0; y < kS; ++y) {
                const F* column = in + (t * kS + y) * row;
                for (int r = 0; r < kQ; ++r) {
                  const F f = factor[r * stride + t * kS + y];
                  for (Index v = 0; v < kBlock; ++v) sums[r * kS + y][v] += f * column[v];
                }
              }
          }
          for (int b = 0; b < kC; ++b)
            for (Index v = 0; v < kBlock; ++v) to[b * row_j + start + v] += sums[b][v];
        } else {
          for (int r = 0; r < z.q; ++r)
            for (int y = 0; y < z.s; ++y) {
              F sums[kBlock] = {};
              for (Index k = first; k < p; ++k) {
                const Index row = m.size.row(k);
                const F* in = m.columns + m.column_start[k] + start;
                for (int t = 0; t < z.q; ++t) {
                  const F f = m.popped[r * stride + k * z.c + t * z.s + y];
                  const F* column = in + (t * z.s + y) * row;
                  for (Index v = 0; v < kBlock; ++v) sums[v] += f * column[v];
                }
              }
              F* out = to + (r * z.s + y) * row_j + start;
              for (Index v = 0; v < kBlock; ++v) out[v] += sums[v];
            }
        }
      }
    }

    static void step_backward(const Memory& m, Index j, const F* weights, const F* forward_gradient,
                              F* weight_gradient) {
      const Size z(m.size);
      const Index p = j - 1, row_p = m.size.row(p), row_j = m.size.row(j);
      const F* u = m.forward + p * z.c;
      const F* uj = m.forward + j * z.c;
      const F* from = m.columns + m.column_start[p];
      const F* to = m.columns + m.column_start[j];
      F* from_gradient = m.column_gradients + m.column_start[p];
      F* gradient = m.column_gradients + m.column_start[j];
      F* node_gradient = m.forward_gradients;

      // u_j[b] = uj[b] a[j][b] / sum_b' uj[b'] a[j][b'] at a = 1, where the gauge-invariant
      // a[j][b] = sum_{i,a} a[i][a] P[i->j][a->b].
      F mean = 0;
      for (int b = 0; b < z.c; ++b) mean += forward_gradient[b] * uj[b];
      for (int b = 0; b < z.c; ++b) {
        F* own = node_gradient + j * z.c + b;
        const F g = *own + uj[b] * (forward_gradient[b] - mean);
        *own = 0;
        F* row_gradient = gradient + b * row_j;
        const F* row = to + b * row_j;
        // P = N / z, so the gradient of N is that of P over z; unreachable b pass nothing on.
        const F z_b = m.mass[j * z.c + b];
        const F scale = z_b > 0 ? 1 / z_b : 0;
        for (Index i = 0; i < j * z.c; ++i) {
          node_gradient[i] += g * row[i];
          row_gradient[i] = (row_gradient[i] + g) * scale;
        }
      }
      // Push.
      for (int a = 0; a < z.c; ++a)
        for (int b = 0; b < z.c; ++b)
          weight_gradient[a * z.w + b] = u[a] * gradient[b * row_j + p * z.c + a];
      // Replace.
      const Index stride = (m.size.steps + 2) * z.c, length = p * z.c;
      for (int c = 0; c < z.c; ++c) {
        const F* in = from + c * row_p;
        F* out = from_gradient + c * row_p;
        for (int b = 0; b < z.c; ++b) {
          const F factor = u[c] * weights[c * z.w + z.c + b];
          const F* g = gradient + b * row_j;
          F dot = 0;
          for (Index i = 0; i < length; ++i) {
            out[i] += factor * g[i];
            dot += in[i] * g[i];
          }
          weight_gradient[c * z.w + z.c + b] = u[c] * dot;
        }
      }
      pop_factors(m, z, p, weights);
      pop_backward(m, z, j);
      // M[k][(t,y)->r] = sum_c P[k->p][(t,y)->c] u[c] w[c, pop r].
      for (int c = 0; c < z.c; ++c) {
        const F* in = from + c * row_p;
        F* out = from_gradient + c * row_p;
        for (int r = 0; r < z.q; ++r) {
          const F factor = u[c] * weights[c * z.w + 2 * z.c + r];
          const F* g = m.popped_gradients + r * stride;
          F dot = 0;
          for (Index i = 0; i < length; ++i) {
            out[i] += factor * g[i];
            dot += in[i] * g[i];
          }
          weight_gradient[c * z.w + 2 * z.c + r] = u[c] * dot;
        }
      }
      // Leave nothing behind for the next backward pass.
      for (Index i = 0; i < z.c * row_j; ++i) gradient[i] = 0;
      if (j == 2) {
        for (Index i = 0; i < 2 * z.c; ++i) node_gradient[i] = 0;
        for (Index i = 0; i < z.c * row_p; ++i) from_gradient[i] = 0;
      }
    }

    // Both factors of the pop rule, one pass over the columns k < p.
    static void pop_backward(const Memory& m, const Size& z, Index j) {
      const Index p = j - 1, row_j = m.size.row(j), stride = (m.size.steps + 2) * z.c;
      const F* gradient = m.column_gradients + m.column_start[j];
      for (int r = 0; r < z.q; ++r) {
        F* out = m.popped_gradients + r * stride;
        for (Index i = 0; i < p * z.c; ++i) out[i] = 0;
      }
      for (Index k = 1; k < p; ++k) {
        const Index row = m.size.row(k), length = k * z.c;
        for (int y = 0; y < z.s; ++y)
          for (int t = 0; t < z.q; ++t) {
            const int c = t * z.s + y;
            const F* in = m.columns + m.column_start[k] + c * row;
            F* out = m.column_gradients + m.column_start[k] + c * row;
            if constexpr (kQ > 0) {
              F factor[kQ > 0 ? kQ : 1];
              F dot[kQ > 0 ? kQ : 1] = {};
              const F* g[kQ > 0 ? kQ : 1];
              for (int r = 0; r < kQ; ++r) {
                factor[r] = m.popped[r * stride + k * z.c + c];
                g[r] = gradient + (r * z.s + y) * row_j;
              }
              for (Index i = 0; i < length; ++i) {
                F sum = 0;
                for (int r = 0; r < kQ; ++r) {
                  sum += factor[r] * g[r][i];
                  dot[r] += in[i] * g[r][i];
                }
                out[i] += sum;
              }
              for (int r = 0; r < kQ; ++r) m.popped_gradients[r * stride + k * z.c + c] = dot[r];
            } else {
              for (int r = 0; r < z.q; ++r) {
                const F factor = m.popped[r * stride + k * z.c + c];
                const F* g = gradient + (r * z.s + y) * row_j;
                F dot = 0;
                for (Index i = 0; i < length; ++i) {
                  out[i] += factor * g[i];
                  dot += in[i] * g[i];
                }
                m.popped_gradients[r * stride + k * z.c + c] = dot;
              }
            }
          }
      }
    }
  };

  template <class F, int kQ, int kS>
  NondeterministicKernel<F> kernel() {
    return {Loops<F, kQ, kS>::step, Loops<F, kQ, kS>::step_backward};
  }

  template <class F>
  NondeterministicKernel<F> choose(int q, int s) {
    if (q == 1 && s == 2) return kernel<F, 1, 2>();
    if (q == 1 && s == 3) return kernel<F, 1, 3>();
    if (q == 2 && s == 2) return kernel<F, 2, 2>();
    if (q == 2 && s == 3) return kernel<F, 2, 3>();
    if (q == 3 && s == 2) return kernel<F, 3, 2>();
    if (q == 3 && s == 3) return kernel<F, 3, 3>();
    return kernel<F, 0, 0>();
  }

  }  // namespace

  NondeterministicKernel<float> nondeterministic_kernel_f(int states, int symbols) {
    return choose<float>(states, symbols);
  }
  NondeterministicKernel<double> nondeterministic_kernel_d(int states, int symbols) {
    return choose<double>(states, symbols);
  }

}  // namespace pushdown::PUSHDOWN_JOIN(isa_,PUSHDOWN_ISA)
