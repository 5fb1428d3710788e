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
[[gnu::always_inline]] inline void set_rows(Rows<F> out, Index rows, Index size, bool exact,
                                            Of of) {
  const Index whole = exact ? size / kLanes<F> * kLanes<F> : size;
  for (Index b = 0; b < rows; ++b) {
    F* to = out[b];
    for (Index i = 0; i < whole; i += kLanes<F>) store(to + i, of(b, i));
    if (whole < size) store_first(to + whole, of(b, whole), size - whole);
  }
}

// out_i += f(i)
template <class F, class Of>
[[gnu::always_inline]] inline void add_rows(Rows<F> out, Index rows, Index size, bool exact,
                                            Of of) {
  const Index whole = exact ? size / kLanes<F> * kLanes<F> : size;
  for (Index b = 0; b < rows; ++b) {
    F* to = out[b];
    for (Index i = 0; i < whole; i += kLanes<F>) store(to + i, load(to + i) + of(b, i));
    if (whole < size) store(to + whole, load(to + whole) + first_lanes(of(b, whole), size - whole));
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

// y = softmax(x), where no row waits for the functions of another one. scratch: `rows` padded rows.
template <class F>
void softmax_rows(Rows<F> y, Rows<F> x, Index rows, Index size, F* scratch) {
  const Index padded = padded_size(size);
  for (Index b = 0; b < rows; ++b) {
    const F* from = x[b];
    F* shifted = scratch + b * padded;
    F largest = from[0];
    for (Index i = 1; i < size; ++i) largest = from[i] > largest ? from[i] : largest;
    for (Index i = 0; i < size; ++i) shifted[i] = from[i] - largest;
    clear_padding(shifted, size, padded);
  }
  exp_all(scratch, rows * padded);
  for (Index b = 0; b < rows; ++b) {
    const F* own = scratch + b * padded;
    F* to = y[b];
    F sum = 0;
    for (Index i = 0; i < size; ++i) sum += own[i];
    for (Index i = 0; i < size; ++i) to[i] = own[i] / sum;
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
