// Products of some rows with a matrix in panels (panels.h). For kernel files only.
#pragma once
#include "kernel/dense/panels.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Number of rows whose sums stay in registers, two vectors each.
inline constexpr int kProductRows = kVectorRegisters == 32 ? 12 : 6;

// out[r] += sum_i x[r * x_row + i * x_step] w[i * w_row ...], kVectors vectors of each row.
template <class F, int kRows, int kVectors>
void product_tile(F* out, Index out_row, const F* x, Index x_row, Index x_step, Index count,
                  const F* w, Index w_row) {
  constexpr Index kL = kLanes<F>;
  Vector<F> sums[kRows][kVectors];
  unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
    unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { sums[r][v] = load(out + r * out_row + v * kL); });
  });
  for (Index i = 0; i < count; ++i, x += x_step, w += w_row) {
    Vector<F> weights[kVectors];
    unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { weights[v] = load(w + v * kL); });
    unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
      const Vector<F> factor = splat(x[r * x_row]);
      unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { sums[r][v] += factor * weights[v]; });
    });
  }
  unrolled<kRows>(PUSHDOWN_UNROLLED(r) {
    unrolled<kVectors>(PUSHDOWN_UNROLLED(v) { store(out + r * out_row + v * kL, sums[r][v]); });
  });
}

// For the requested number of rows, 1 .. kMost. With kPacked, the rows of x are interleaved.
template <class F, int kVectors, bool kPacked, int kMost>
[[gnu::always_inline]] inline void product_rows(Index rows, F* out, Index out_row, const F* x,
                                                Index x_row, Index count, const F* w, Index w_row) {
  if constexpr (kMost > 0) {
    if (rows == kMost)
      return product_tile<F, kMost, kVectors>(out, out_row, x, kPacked ? 1 : x_row,
                                              kPacked ? kMost : 1, count, w, w_row);
    product_rows<F, kVectors, kPacked, kMost - 1>(rows, out, out_row, x, x_row, count, w, w_row);
  }
}

// All columns of a panel.
template <class F, bool kPacked, int kMost>
void panel_rows(Index rows, F* out, Index out_row, const F* x, Index x_row, Index count,
                const F* panel, Index width) {
  constexpr Index kL = kLanes<F>;
  Index column = 0;
  for (; column + 2 * kL <= width; column += 2 * kL)
    product_rows<F, 2, kPacked, kMost>(rows, out + column, out_row, x, x_row, count, panel + column,
                                       width);
  if (column < width)
    product_rows<F, 1, kPacked, kMost>(rows, out + column, out_row, x, x_row, count, panel + column,
                                       width);
}

// The same for one row with kFull adjacent panels, and half of one after them: enough parallel sums
// to hide the latency of a multiply-add.
template <class F, int kFull, bool kHalf>
void product_of_row(F* out, const F* x, Index count, const F* panels) {
  constexpr int kEach = static_cast<int>(kPanel / kLanes<F>),
                kLast = kHalf ? static_cast<int>(kPadding / kLanes<F>) : 0,
                kAll = kFull * kEach + kLast;
  constexpr Index kL = kLanes<F>;
  const F* half = panels + kFull * kPanel * count;
  Vector<F> sums[kAll];
  unrolled<kAll>(PUSHDOWN_UNROLLED(v) { sums[v] = load(out + v * kL); });
  for (Index i = 0; i < count; ++i) {
    const Vector<F> factor = splat(x[i]);
    if constexpr (kFull > 0)
      unrolled<kFull * kEach>(PUSHDOWN_UNROLLED(v) {
        sums[v] += factor * load(panels + (v / kEach * count + i) * kPanel + v % kEach * kL);
      });
    if constexpr (kHalf)
      unrolled<kLast>(PUSHDOWN_UNROLLED(v) {
        sums[kFull * kEach + v] += factor * load(half + i * kPadding + v * kL);
      });
  }
  unrolled<kAll>(PUSHDOWN_UNROLLED(v) { store(out + v * kL, sums[v]); });
}

// All columns of one row.
template <class F>
void add_product_of_row(F* out, const F* x, Index count, const F* panels, Index padded) {
  constexpr int kMost = std::max<int>(1, static_cast<int>(8 * kLanes<F> / kPanel));
  for (Index column = 0; column < padded;) {
    const Index left = padded - column, full = left / kPanel;
    F* to = out + column;
    const F* from = panels + column * count;
    if (full >= kMost) {
      product_of_row<F, kMost, false>(to, x, count, from);
      column += kMost * kPanel;
      continue;
    }
    const bool half = left % kPanel != 0;
    const auto rest = [&]<int kFull>() {
      if (half)
        product_of_row<F, kFull, true>(to, x, count, from);
      else if constexpr (kFull > 0)
        product_of_row<F, kFull, false>(to, x, count, from);
    };
    if (full == 0) rest.template operator()<0>();
    if constexpr (kMost > 1)
      if (full == 1) rest.template operator()<1>();
    if constexpr (kMost > 2) {
      if (full == 2) rest.template operator()<2>();
      if (full == 3) rest.template operator()<3>();
    }
    return;
  }
}

// out[b] += sum_i x[b][i] w[i], b = 0 .. rows-1, i = 0 .. count-1, with w in panels of `padded`
// columns in total, for which the rows of out have room. Every sum is computed in the order of i.
template <class F>
void add_products(F* out, Index out_row, const F* x, Index x_row, Index rows, Index count,
                  const F* panels, Index padded) {
  constexpr Index kUnpacked = 5, kNarrow = 256, kChunk = 512, kBlocks = 16;
  // Blocks of rows of nearly equal size.
  const auto start = [](Index block, Index blocks, Index all) { return all * block / blocks; };
  if (rows == 1) return add_product_of_row(out, x, count, panels, padded);
  if (padded < kNarrow) {
    const Index blocks = (rows + kUnpacked - 1) / kUnpacked;
    for (Index column = 0; column < padded; column += kPanel)
      for (Index block = 0; block < blocks; ++block) {
        const Index b = start(block, blocks, rows), end = start(block + 1, blocks, rows);
        panel_rows<F, false, kUnpacked>(end - b, out + b * out_row + column, out_row, x + b * x_row,
                                        x_row, count, panels + column * count,
                                        panel_width(padded, column));
      }
    return;
  }
  alignas(64) F packed[kBlocks * kProductRows * kChunk];
  const Index blocks = (rows + kProductRows - 1) / kProductRows;
  for (Index first = 0; first < blocks; first += kBlocks) {
    const Index last = first + kBlocks < blocks ? first + kBlocks : blocks;
    for (Index i = 0; i < count; i += kChunk) {
      const Index some = count - i < kChunk ? count - i : kChunk;
      F* to = packed;
      for (Index block = first; block < last; ++block) {
        const Index b = start(block, blocks, rows), own = start(block + 1, blocks, rows) - b;
        for (Index r = 0; r < own; ++r) {
          const F* from = x + (b + r) * x_row + i;
          for (Index k = 0; k < some; ++k) to[k * own + r] = from[k];
        }
        to += own * some;
      }
      for (Index column = 0; column < padded; column += kPanel) {
        const Index width = panel_width(padded, column);
        const F* panel = panels + column * count + i * width;
        const F* from = packed;
        for (Index block = first; block < last; ++block) {
          const Index b = start(block, blocks, rows), own = start(block + 1, blocks, rows) - b;
          panel_rows<F, true, kProductRows>(own, out + b * out_row + column, out_row, from, 0, some,
                                            panel, width);
          from += own * some;
        }
      }
    }
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
