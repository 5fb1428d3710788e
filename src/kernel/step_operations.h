// The operations of step programs on rows of numbers, forward and backward. For kernel files only.
//
// A row has room for whole vectors behind its last number, so that values are computed by whole
// vectors; what lies there is never used. Only rows that are a part of another row (`exact`) must
// be written number by number at their end.
#pragma once
#include "kernel/scan_math.h"
#include "kernel/step_program.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct Rows {
  F* first;
  Index row;
  F* operator[](Index b) const { return first + b * row; }
};

// out_i = f(i), i counting vectors of a row: f(b, i) gives lanes i .. i + kLanes - 1 of row b.
template <class F, class Of>
[[gnu::always_inline]] inline void set_rows(Rows<F> out, Index rows, Index size, Of of) {
  for (Index b = 0; b < rows; ++b) {
    F* to = out[b];
    for (Index i = 0; i < size; i += kLanes<F>) store(to + i, of(b, i));
  }
}
// out_i += f(i)
template <class F, class Of>
[[gnu::always_inline]] inline void add_rows(Rows<F> out, Index rows, Index size, bool exact,
                                            Of of) {
  for (Index b = 0; b < rows; ++b) {
    F* to = out[b];
    Index i = 0;
    for (; i + kLanes<F> <= size; i += kLanes<F>) store(to + i, load(to + i) + of(b, i));
    if (i == size) continue;
    const Vector<F> last = of(b, i);
    if (exact)
      for (Index k = 0; i + k < size; ++k) to[i + k] += last[k];
    else
      store(to + i, load(to + i) + last);
  }
}

template <class F, int kRows, int kVectors>
[[gnu::always_inline]] inline void product_tile(Rows<F> out, Rows<F> x, Index count, const F* w,
                                                Index w_row) {
  constexpr Index kL = kLanes<F>;
  Vector<F> sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = load(out[r] + v * kL);
  for (Index i = 0; i < count; ++i) {
    Vector<F> weights[kVectors];
    for (int v = 0; v < kVectors; ++v) weights[v] = load(w + i * w_row + v * kL);
    for (int r = 0; r < kRows; ++r) {
      const Vector<F> factor = splat(x[r][i]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] += factor * weights[v];
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) store(out[r] + v * kL, sums[r][v]);
}

template <class F, int kVectors>
void product_columns(Rows<F> out, Rows<F> x, Index rows, Index count, const F* w, Index w_row) {
  Index b = 0;
  const auto part = [](Rows<F> of, Index at) { return Rows<F>{of[at], of.row}; };
  for (; b + 4 <= rows; b += 4)
    product_tile<F, 4, kVectors>(part(out, b), part(x, b), count, w, w_row);
  if (rows - b == 3) product_tile<F, 3, kVectors>(part(out, b), part(x, b), count, w, w_row);
  if (rows - b == 2) product_tile<F, 2, kVectors>(part(out, b), part(x, b), count, w, w_row);
  if (rows - b == 1) product_tile<F, 1, kVectors>(part(out, b), part(x, b), count, w, w_row);
}

// out[b] += sum_i x[b][i] w[i], i = 0 .. count-1; rows of w and of out have w_row numbers, a
// multiple of kScanPadding. The sums are taken in the order of i.
template <class F>
void add_products(Rows<F> out, Rows<F> x, Index rows, Index count, const F* w, Index w_row) {
  constexpr Index kL = kLanes<F>;
  const auto from = [&](Index column) { return Rows<F>{out.first + column, out.row}; };
  Index column = 0;
  if constexpr (kVectorRegisters == 32)
    for (; column + 4 * kL <= w_row; column += 4 * kL)
      product_columns<F, 4>(from(column), x, rows, count, w + column, w_row);
  for (; column + 2 * kL <= w_row; column += 2 * kL)
    product_columns<F, 2>(from(column), x, rows, count, w + column, w_row);
  for (; column < w_row; column += kL)
    product_columns<F, 1>(from(column), x, rows, count, w + column, w_row);
}

// 1 at the first of the greatest numbers, else 0.
template <class F>
void greatest_row(const F* x, F* y, Index size) {
  Index best = 0;
  for (Index i = 1; i < size; ++i) best = x[i] > x[best] ? i : best;
  for (Index i = 0; i < size; ++i) y[i] = i == best ? F(1) : F(0);
}

// y has room for whole vectors.
template <class F>
void softmax_row(const F* x, F* y, Index size) {
  F largest = x[0];
  for (Index i = 1; i < size; ++i) largest = x[i] > largest ? x[i] : largest;
  for (Index i = 0; i < size; ++i) y[i] = x[i] - largest;
  exp_all(y, size);
  F sum = 0;
  for (Index i = 0; i < size; ++i) sum += y[i];
  for (Index i = 0; i < size; ++i) y[i] /= sum;
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
