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
  const Index hp = padded_size(h), vp = padded_size(v), most = likelihood_rows(v);
  F *all = scratch, *sums = all + most * vp;
  // Number of sums, each of 1 .. V, whose product replaces their separate logarithms by one; far
  // from overflow.
  constexpr Index kSums = 16;
  double total = 0, product = 1;
  for (Index first = 0; first < rows; first += most) {
    const Index end = rows - first < most ? rows : first + most;
    for (Index t = first; t < end; ++t) {
      F* scores = all + (t - first) * vp;
      for (Index k = 0; k < vp; k += kLanes<F>) store(scores + k, load(layer.bias + k));
      add_product(scores, vp, hidden + t * h, h, layer.weight_t);
    }
    for (Index t = first; t < end; ++t) {
      F* scores = all + (t - first) * vp;
      F largest = scores[0];
      for (Index k = 1; k < v; ++k) largest = scores[k] > largest ? scores[k] : largest;
      total += static_cast<double>(scores[targets[t]] - largest);
      for (Index k = 0; k < vp; k += kLanes<F>)
        store(scores + k, vector_exp(first_lanes(load(scores + k) - largest, v - k)));
    }
    for (Index t = first; t < end; ++t) {
      const F* scores = all + (t - first) * vp;
      F sum = 0;
      for (Index k = 0; k < v; ++k) sum += scores[k];
      sums[t - first] = sum;
      product *= static_cast<double>(sum);
      if (t % kSums == kSums - 1) {
        total -= __builtin_log(product);
        product = 1;
      }
    }
    if (score_gradients == nullptr) continue;
    for (Index t = first; t < end; ++t) {
      const F* scores = all + (t - first) * vp;
      F* slope = score_gradients + t * v;
      const F scale = -1 / sums[t - first];
      for (Index k = 0; k < v; ++k) slope[k] = scores[k] * scale;
      slope[targets[t]] += 1;
      F* below = hidden_gradient + t * hp;
      for (Index k = 0; k < hp; k += kLanes<F>) store(below + k, splat(F(0)));
      add_product(below, hp, slope, v, layer.weight);
    }
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
  // The sizes from which a matrix product is faster than tiles.
  static constexpr Index kColumnsToPack = 64, kStepsToPack = 64;

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
          z.out[row * z.out_row + j + column] += sums[column][k][lane];
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

  // The same as a product of matrices: about kDepth steps, of any sequences, in turn. Both factors
  // are packed in the order in which their rows lie in memory, because the distance of these rows
  // slows the loop. A group of rows of the first factor stays in the second-level cache.
  static constexpr Index kDepth = 512, kRowGroup = 16 * kProductRows, kColumnGroup = 1024;
  struct Packed {
    const F *of_a[kDepth], *of_c[kDepth];
    F scales[kDepth];
    // Every block has a padding behind it, because rows are stored in whole vectors.
    alignas(64) F a[kDepth * kRowGroup + kRowGroup / kProductRows * kPadding];
    alignas(64) F edge[kProductRows * kPanel];
    alignas(64) F c[kDepth * kColumnGroup];
  };
  // Calls visit(first, count) for blocks of at most `each` of `all` rows or columns.
  template <class Visit>
  [[gnu::always_inline]] static inline void in_blocks(Index all, Index each, Visit visit) {
    for (Index first = 0; first < all; first += each)
      visit(first, all - first < each ? all - first : each);
  }
  static F* block_of(Packed& room, Index first, Index depth) {
    return room.a + first * depth + first / kProductRows * kPadding;
  }

  static void packed(const OuterSum<F>& z) {
    const std::unique_ptr<Packed> room(new Packed);
    Index all = 0;
    for (Index b = 0; b < z.sequences; ++b) all += z.steps_of(b);
    const Index most = (all + (all + kDepth - 1) / kDepth - 1) / ((all + kDepth - 1) / kDepth);
    Index b = 0, t = 0;
    in_blocks(all, most, [&](Index, Index depth) {
      for (Index k = 0; k < depth; ++k) {
        room->of_a[k] = z.a + b * z.a_sequence + t * z.a_step;
        room->of_c[k] = z.c + b * z.c_sequence + t * z.c_step;
        room->scales[k] = z.scales == nullptr ? F(1) : z.scales[b];
        if (++t == z.steps_of(b)) ++b, t = 0;
      }
      in_blocks(z.columns, kColumnGroup, [&](Index j, Index columns) {
        pack_columns(*room, depth, j, columns);
        in_blocks(z.end - z.first, kRowGroup, [&](Index above, Index rows) {
          pack_rows(*room, depth, z.first + above, rows);
          add_packed(z, *room, depth, z.first + above, rows, j, columns);
        });
      });
    });
  }
  static void pack_columns(Packed& room, Index depth, Index j, Index columns) {
    for (Index k = 0; k < depth; ++k)
      in_blocks(padded_size(columns), kPanel, [&](Index column, Index width) {
        F* to = room.c + column * depth + k * width;
        const F* from = room.of_c[k] + j + column;
        if (column + kPanel <= columns) {
          for (Index v = 0; v < kPanel; v += kL) store(to + v, load(from + v));
        } else {
          copy(to, from, columns - column);
          clear_padding(to, columns - column, width);
        }
      });
  }
  static void pack_rows(Packed& room, Index depth, Index i, Index rows) {
    for (Index k = 0; k < depth; ++k)
      in_blocks(rows, kProductRows, [&](Index first, Index own) {
        F* to = block_of(room, first, depth) + k * own;
        for (Index r = 0; r < own; r += kL)
          store(to + r, load(room.of_a[k] + i + first + r) * room.scales[k]);
      });
  }
  static void add_packed(const OuterSum<F>& z, Packed& room, Index depth, Index i, Index rows,
                         Index j, Index columns) {
    in_blocks(padded_size(columns), kPanel, [&](Index column, Index width) {
      const F* panel = room.c + column * depth;
      const Index filled = columns - column < width ? columns - column : width;
      in_blocks(rows, kProductRows, [&](Index first, Index own) {
        const F* from = block_of(room, first, depth);
        F* out = z.out + (i + first) * z.out_row + j + column;
        if (filled == width)
          return panel_rows<F, true, kProductRows>(own, out, z.out_row, from, 0, depth, panel,
                                                   width);
        for (Index r = 0; r < own; ++r) copy(room.edge + r * width, out + r * z.out_row, filled);
        panel_rows<F, true, kProductRows>(own, room.edge, width, from, 0, depth, panel, width);
        for (Index r = 0; r < own; ++r) copy(out + r * z.out_row, room.edge + r * width, filled);
      });
    });
  }

  static void run(const OuterSum<F>& z) {
    if (z.columns >= kColumnsToPack && z.sequences * z.steps >= kStepsToPack) return packed(z);
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
