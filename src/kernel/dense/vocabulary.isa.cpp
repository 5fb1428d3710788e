// Loops of vocabulary.h, compiled once for each instruction set.
#include "kernel/dense/vocabulary.h"

#include <memory>

#include "kernel/dense/panel_product.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

// Computes out[r] += sum_i x[r * kRow + i * kStep] w[i * width ...] for rows 0 .. rows-1 and the
// columns of one panel of w.
template <class F, Index kRow, Index kStep, int kVectors, int kMost>
[[gnu::always_inline]] inline void tile(Index rows, F* out, Index out_row, const F* x, Index count,
                                        const F* w, Index width) {
  if constexpr (kMost > 0) {
    if (rows == kMost)
      return product_tile<F, kMost, kVectors>(out, out_row, x, kRow, kStep, count, w, width);
    tile<F, kRow, kStep, kVectors, kMost - 1>(rows, out, out_row, x, count, w, width);
  }
}
template <class F, Index kRow, Index kStep>
void panel_tiles(Index rows, F* out, Index out_row, const F* x, Index count, const F* panel,
                 Index width) {
  constexpr Index kL = kLanes<F>;
  Index column = 0;
  for (; column + 2 * kL <= width; column += 2 * kL)
    tile<F, kRow, kStep, 2, kProductRows>(rows, out + column, out_row, x, count, panel + column,
                                          width);
  if (column < width)
    tile<F, kRow, kStep, 1, kProductRows>(rows, out + column, out_row, x, count, panel + column,
                                          width);
}

// Calls visit(first, count) for groups of at most kProductRows rows of nearly equal size.
template <class Visit>
[[gnu::always_inline]] inline void in_groups(Index rows, Visit visit) {
  const Index groups = (rows + kProductRows - 1) / kProductRows;
  for (Index group = 0; group < groups; ++group) {
    const Index first = rows * group / groups;
    visit(first, rows * (group + 1) / groups - first);
  }
}

template <class F>
struct Vocabulary {
  using V = Vector<F>;
  static constexpr Index kL = kLanes<F>;

  static void rows(const VocabularyLayer<F>& layer, const VocabularyRows<F>& z) {
    const Index h = layer.hidden, v = layer.outcomes, vp = padded_size(v), n = z.count;
    const auto panel = [&](Index column) {
      return z.exponentials + column * z.all + z.first * kPanel;
    };
    // The transposed hidden vectors, kPacked at a time, so that a product reads them contiguously.
    constexpr Index kPacked = 24;
    const Index filled = (n + kPacked - 1) / kPacked * kPacked;
    const std::unique_ptr<F[]> packed(new F[static_cast<std::size_t>(filled * h)]);
    for (Index r = 0; r < filled; ++r)
      for (Index i = 0; i < h; ++i)
        packed[static_cast<std::size_t>(r / kPacked * kPacked * h + i * kPacked + r % kPacked)] =
            r < n ? z.hidden[(z.first + r) * h + i] : F(0);

    V greatest[kVocabularyRows];
    for (Index r = 0; r < n; ++r) greatest[r] = splat(F(-3e38));
    for (Index column = 0; column < vp; column += kPanel) {
      const Index width = panel_width(vp, column);
      F* out = panel(column);
      for (Index r = 0; r < n; ++r) copy(out + r * kPanel, layer.bias + column, width);
      for (Index r = 0; r < n; r += kPacked)
        in_groups(n - r < kPacked ? n - r : kPacked, [&](Index first, Index count) {
          panel_tiles<F, 1, kPacked>(count, out + (r + first) * kPanel, kPanel,
                                     packed.get() + r * h + first, h, layer.transposed + column * h,
                                     width);
        });
      for (Index r = 0; r < n; ++r)
        for (Index i = 0; i < width; i += kL) {
          const V score = load(out + r * kPanel + i);
          greatest[r] = score > greatest[r] ? score : greatest[r];
        }
    }

    F shift[kVocabularyRows];
    double own[kVocabularyRows];  // the score of the target minus the greatest
    V sums[kVocabularyRows];
    for (Index r = 0; r < n; ++r) {
      shift[r] = greatest[r][0];
      for (Index lane = 1; lane < kL; ++lane)
        if (greatest[r][lane] > shift[r]) shift[r] = greatest[r][lane];
      const Index target = z.targets[z.first + r];
      if (target >= 0)
        own[r] = panel(target / kPanel * kPanel)[r * kPanel + target % kPanel] - shift[r];
      sums[r] = V{};
    }
    for (Index column = 0; column < vp; column += kPanel) {
      const Index width = panel_width(vp, column);
      F* of = panel(column);
      for (Index r = 0; r < n; ++r)
        for (Index i = 0; i < width; i += kL) {
          const V e = vector_exp(load(of + r * kPanel + i) - shift[r]);
          store(of + r * kPanel + i, e);
          sums[r] += e;
        }
    }
    for (Index r = 0; r < n; ++r) {
      const F total = sum_of(sums[r]);
      z.totals[z.first + r] = total;
      z.log_probabilities[z.first + r] =
          z.targets[z.first + r] < 0
              ? F(0)
              : static_cast<F>(own[r] - __builtin_log(static_cast<double>(total)));
    }
    if (z.mean_weight != nullptr) mean_weights(layer, z);
  }

  static void mean_weights(const VocabularyLayer<F>& layer, const VocabularyRows<F>& z) {
    const Index v = layer.outcomes, hp = padded_size(layer.hidden), n = z.count;
    F* out = z.mean_weight + z.first * hp;
    clear(out, n * hp);
    // Number of rows of W that stay in the second-level cache.
    constexpr Index kChunk = 8 * kPanel;
    for (Index chunk = 0; chunk < v; chunk += kChunk) {
      const Index end = chunk + kChunk < v ? chunk + kChunk : v;
      for (Index column = 0; column < hp; column += kPanel) {
        const Index width = panel_width(hp, column);
        const F* weights = layer.straight + column * v;
        for (Index row = chunk; row < end; row += kPanel)
          in_groups(n, [&](Index first, Index count) {
            panel_tiles<F, kPanel, 1>(count, out + first * hp + column, hp,
                                      z.exponentials + row * z.all + (z.first + first) * kPanel,
                                      end - row < kPanel ? end - row : kPanel,
                                      weights + row * width, width);
          });
      }
    }
    for (Index r = 0; r < n; ++r) {
      const F scale = 1 / z.totals[z.first + r];
      for (Index i = 0; i < hp; ++i) out[r * hp + i] *= scale;
    }
  }

  static void sums(const VocabularySums<F>& z) {
    // Some rows at a time, whose factors stay in the second-level cache.
    constexpr Index kDepth = 512;
    const Index padded = padded_size(z.columns), given = z.columns - 1;
    const std::unique_ptr<F[]> partial(
        new F[static_cast<std::size_t>((z.end - z.first) * padded)]());
    const auto sum_of = [&](Index row) { return partial.get() + (row - z.first) * padded; };
    for (Index r = 0; r < z.all; r += kDepth)
      for (Index column = 0; column < padded; column += kPanel) {
        const Index width = panel_width(padded, column);
        for (Index row = z.first; row < z.end; row += kPanel)
          in_groups(z.end - row < kPanel ? z.end - row : kPanel, [&](Index first, Index own) {
            panel_tiles<F, 1, kPanel>(own, sum_of(row + first) + column, padded,
                                      z.exponentials + row * z.all + r * kPanel + first,
                                      z.all - r < kDepth ? z.all - r : kDepth,
                                      z.factors + column * z.all + r * width, width);
          });
      }
    for (Index row = z.first; row < z.end; ++row) {
      add(z.out + row * given, sum_of(row), given);
      z.last[row] += sum_of(row)[given];
    }
  }
};

template <class F>
VocabularyKernel<F> kernel() {
  return {Vocabulary<F>::rows, Vocabulary<F>::sums};
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
VocabularyKernel<float> isa_kernel<VocabularyKernel<float>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<float>();
}
template <>
VocabularyKernel<double> isa_kernel<VocabularyKernel<double>, PUSHDOWN_OWN_ISA>() {
  return PUSHDOWN_ISA_NAMESPACE::kernel<double>();
}

}  // namespace pushdown
