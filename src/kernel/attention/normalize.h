// Layer normalization of rows (Ba et al. 2016):
//   y_i = gain_i z_i + bias_i,   z_i = (x_i - mean) / sqrt(variance + 1e-5)
// with the mean and the variance of the row. For kernel files only. Rows have room for whole
// vectors.
#pragma once
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct RowMoments {
  F mean, scale;  // scale : 1 / sqrt(variance + 1e-5)
};
template <class F>
[[gnu::always_inline]] inline RowMoments<F> row_moments(const F* x, Index size) {
  const F mean = row_sum(x, size) / static_cast<F>(size);
  Vector<F> squares = {};
  for (Index i = 0; i < size; i += kLanes<F>) {
    const Vector<F> off = load(x + i) - mean;
    squares += first_lanes(off * off, size - i);
  }
  const double variance = static_cast<double>(sum_of(squares)) / static_cast<double>(size);
  return {mean, static_cast<F>(1 / __builtin_sqrt(variance + 1e-5))};
}

template <class F>
void normalize_row(const F* x, const F* gain, const F* bias, F* y, Index size) {
  const RowMoments<F> of = row_moments(x, size);
  for (Index i = 0; i < size; i += kLanes<F>)
    store(y + i, load(gain + i) * (of.scale * (load(x + i) - of.mean)) + load(bias + i));
}

// Calls add(i, the slopes of x from number i on), and adds to those of gain and bias unless they
// are null.
template <class F, class Add>
[[gnu::always_inline]] inline void normalize_row_backward(const F* x, const F* gain, const F* slope,
                                                          Index size, F* gain_slope, F* bias_slope,
                                                          Add add) {
  const RowMoments<F> of = row_moments(x, size);
  const auto z = [&](Index i) { return of.scale * (load(x + i) - of.mean); };
  Vector<F> sums = {}, products = {};
  for (Index i = 0; i < size; i += kLanes<F>) {
    const Vector<F> inner = first_lanes(load(slope + i) * load(gain + i), size - i);
    sums += inner;
    products += first_lanes(inner * z(i), size - i);
    if (gain_slope != nullptr) store(gain_slope + i, load(gain_slope + i) + load(slope + i) * z(i));
    if (bias_slope != nullptr) store(bias_slope + i, load(bias_slope + i) + load(slope + i));
  }
  const F mean = sum_of(sums) / static_cast<F>(size),
          share = sum_of(products) / static_cast<F>(size);
  for (Index i = 0; i < size; i += kLanes<F>)
    add(i, of.scale * (load(slope + i) * load(gain + i) - mean - share * z(i)));
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
