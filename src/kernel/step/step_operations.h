// The operations of step programs on rows of numbers, forward and backward. For kernel files only.
//
// A row has room for whole vectors after its last number, so that values are computed in whole
// vectors; the excess is never used. Only after rows that are a part of another row (`exact`) must
// the memory be preserved.
#pragma once
#include "kernel/dense/panel_product.h"
#include "kernel/step/step_program.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct Rows {
  F* first;
  Index row;
  F* operator[](Index b) const { return first + b * row; }
};

// out_i = f(i), where i counts vectors of a row: f(b, i) gives lanes i .. i + kLanes - 1 of row b.
template <class F, class Of>
[[gnu::always_inline]] inline void set_rows(Rows<F> out, Index rows, Index size, Of of) {
  for (Index b = 0; b < rows; ++b) {
    F* to = out[b];
    for (Index i = 0; i < size; i += kLanes<F>) store(to + i, of(b, i));
  }
}
// Sets the row's numbers size .. padded-1 to 0 in whole vectors: `padded` is a multiple of their
// length.
template <class F>
[[gnu::always_inline]] inline void clear_padding(F* row, Index size, Index padded) {
  for (Index i = size / kLanes<F> * kLanes<F>; i < padded; i += kLanes<F>)
    store(row + i, first_lanes(load(row + i), size - i));
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
    store(to + i, load(to + i) + (exact ? first_lanes(last, size - i) : last));
  }
}

// See panel_product.h.
template <class F>
void add_products(Rows<F> out, Rows<F> x, Index rows, Index count, const F* panels, Index padded) {
  add_products(out.first, out.row, x.first, x.row, rows, count, panels, padded);
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
