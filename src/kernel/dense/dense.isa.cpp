// Loops of dense.h, compiled once for each instruction set.
#include "kernel/dense/dense.h"

#include <memory>

#include "kernel/dense/panel_product.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
double log_likelihood(const OutputLayer<F>& layer, Index rows, const F* hidden,
                      const Index* targets, F* scratch, F* score_gradients, F* hidden_gradient) {
  const Index h = layer.hidden, v = layer.outcomes;
  const Index hp = padded_size(h), vp = padded_size(v);
  F* scores = scratch;
  F* below = scratch + vp + kPadding;
  // Number of sums, each of 1 .. V, whose product replaces their separate logarithms by one; far
  // from overflow.
  constexpr Index kSums = 16;
  double total = 0, product = 1;
  for (Index t = 0; t < rows; ++t, hidden += h) {
    copy(scores, layer.bias, vp);
    add_product(scores, vp, hidden, h, layer.weight_t);
    F largest = scores[0];
    for (Index k = 1; k < v; ++k) largest = scores[k] > largest ? scores[k] : largest;
    for (Index k = 0; k < v; ++k) scores[k] -= largest;
    const double shifted = scores[targets[t]];
    clear(scores + v, vp - v);
    exp_all(scores, vp);
    F sum = 0;
    for (Index k = 0; k < v; ++k) sum += scores[k];
    total += shifted;
    product *= static_cast<double>(sum);
    if (t % kSums == kSums - 1) {
      total -= __builtin_log(product);
      product = 1;
    }
    if (score_gradients == nullptr) continue;
    F* slope = score_gradients + t * v;
    const F scale = -1 / sum;
    for (Index k = 0; k < v; ++k) slope[k] = scores[k] * scale;
    slope[targets[t]] += 1;
    clear(below, hp);
    add_product(below, hp, slope, v, layer.weight);
    copy(hidden_gradient + t * h, below, h);
  }
  return total - __builtin_log(product);
}

template <class F>
struct Outer {
  using V = Vector<F>;
  static constexpr Index kL = kLanes<F>;
  // Vectors of rows and columns per tile, chosen so that their sums stay in registers.
  static constexpr int kWide = 2, kMost = kVectorRegisters >= 32 ? 10 : 5;
  static constexpr Index kRows = kWide * kL;
  // From these sizes on, rows of `a` are packed; otherwise their distance in memory slows the loop.
  static constexpr Index kColumnsToPack = 48, kStepsToPack = 64, kBlock = 256;

  // sums[column][k] += scale a[k] c[column], over the steps.
  template <int kColumns>
  [[gnu::always_inline]] static inline void add(V (&sums)[kColumns][kWide], const F* a,
                                                Index a_step, const F* c, Index c_step, Index steps,
                                                V scale) {
    for (Index t = 0; t < steps; ++t, a += a_step, c += c_step) {
      V rows[kWide];
      for (int k = 0; k < kWide; ++k) rows[k] = load(a + k * kL) * scale;
      for (int column = 0; column < kColumns; ++column) {
        const V factor = splat(c[column]);
        for (int k = 0; k < kWide; ++k) sums[column][k] += factor * rows[k];
      }
    }
  }

  template <int kColumns>
  static void tile(const OuterSum<F>& z, Index i, Index j) {
    V sums[kColumns][kWide] = {};
    for (Index b = 0; b < z.sequences; ++b)
      add<kColumns>(sums, z.a + b * z.a_sequence + i, z.a_step, z.c + b * z.c_sequence + j,
                    z.c_step, z.steps_of(b), splat(z.scales == nullptr ? F(1) : z.scales[b]));
    for (int k = 0; k < kWide; ++k)
      for (Index lane = 0; lane < kL; ++lane) {
        const Index row = i + k * kL + lane;
        if (row >= z.end) return;
        for (int column = 0; column < kColumns; ++column)
          z.out[row * z.out_row + j + column] = sums[column][k][lane];
      }
  }

  // Calls visit<columns>(j) for tiles of all columns.
  template <class Visit>
  static void in_tiles(Index columns, Visit visit) {
    Index j = 0;
    for (; j + kMost <= columns; j += kMost) visit.template operator()<kMost>(j);
    if constexpr (kMost > 5)
      if (j + 5 <= columns) visit.template operator()<5>(j), j += 5;
    for (; j + 2 <= columns; j += 2) visit.template operator()<2>(j);
    if (j < columns) visit.template operator()<1>(j);
  }

  // Computes the rows i .. i + kRows - 1 of the result through `partial`, columns x kRows.
  static void packed(const OuterSum<F>& z, Index i, F* partial) {
    alignas(64) F rows[kBlock * kRows];
    clear(partial, z.columns * kRows);
    for (Index b = 0; b < z.sequences; ++b) {
      const V scale = splat(z.scales == nullptr ? F(1) : z.scales[b]);
      const Index all = z.steps_of(b);
      for (Index t = 0; t < all; t += kBlock) {
        const Index steps = all - t < kBlock ? all - t : kBlock;
        const F* a = z.a + b * z.a_sequence + t * z.a_step + i;
        for (Index k = 0; k < steps; ++k, a += z.a_step)
          for (int v = 0; v < kWide; ++v) store(rows + k * kRows + v * kL, load(a + v * kL));
        const F* c = z.c + b * z.c_sequence + t * z.c_step;
        in_tiles(z.columns, [&]<int kColumns>(Index j) {
          V sums[kColumns][kWide];
          F* own = partial + j * kRows;
          for (int column = 0; column < kColumns; ++column)
            for (int v = 0; v < kWide; ++v) sums[column][v] = load(own + column * kRows + v * kL);
          add<kColumns>(sums, rows, kRows, c + j, z.c_step, steps, scale);
          for (int column = 0; column < kColumns; ++column)
            for (int v = 0; v < kWide; ++v) store(own + column * kRows + v * kL, sums[column][v]);
        });
      }
    }
    const Index count = z.end - i < kRows ? z.end - i : kRows;
    for (Index row = 0; row < count; ++row)
      for (Index j = 0; j < z.columns; ++j)
        z.out[(i + row) * z.out_row + j] = partial[j * kRows + row];
  }

  static void run(const OuterSum<F>& z) {
    if (z.columns >= kColumnsToPack && z.steps >= kStepsToPack) {
      const std::unique_ptr<F[]> partial(new F[static_cast<std::size_t>(z.columns * kRows)]);
      for (Index i = z.first; i < z.end; i += kRows) packed(z, i, partial.get());
      return;
    }
    for (Index i = z.first; i < z.end; i += kRows)
      in_tiles(z.columns, [&]<int kColumns>(Index j) { tile<kColumns>(z, i, j); });
  }
};

template <class F>
Index multiply_add_loop(Index rounds) {
  constexpr int kChains = kVectorRegisters >= 32 ? 16 : 12;
  Vector<F> sums[kChains], factor = splat(F(0.999)), term = splat(F(1e-9));
  for (int k = 0; k < kChains; ++k) sums[k] = factor;
  for (Index round = 0; round < 64 * rounds; ++round)
    for (int k = 0; k < kChains; ++k) sums[k] = sums[k] * factor + term;
  for (int k = 1; k < kChains; ++k) sums[0] += sums[k];
  [[maybe_unused]] volatile F sink = sum_of(sums[0]);
  return 64 * rounds * kChains * kLanes<F>;
}

template <class F>
DenseKernel<F> kernel() {
  return {log_likelihood<F>, Outer<F>::run,
          [](F* to, const F* from, F scale, Index count) { add_scaled(to, from, scale, count); },
          add_products<F>, multiply_add_loop<F>};
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
DenseKernel<float> isa_kernel<DenseKernel<float>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<float>();
}
template <>
DenseKernel<double> isa_kernel<DenseKernel<double>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<double>();
}

}  // namespace pushdown
