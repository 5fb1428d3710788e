// Vectorised elementary functions and matrix-vector products. For kernel files only. Arrays have
// room for whole vectors: lengths are rounded up to kPadding.
#pragma once
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include <bit>

#include "kernel/memory/memory_shape.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

typedef std::int32_t IntegersOfFloat __attribute__((vector_size(kVectorBytes)));
typedef std::int64_t IntegersOfDouble __attribute__((vector_size(kVectorBytes)));

// Returns the first `count` lanes of x and the other lanes of `other`.
[[gnu::always_inline]] inline Vector<float> first_lanes(Vector<float> x, Index count,
                                                        Vector<float> other = Vector<float>{}) {
  IntegersOfFloat lane;
  for (int k = 0; k < static_cast<int>(kLanes<float>); ++k) lane[k] = k;
  return lane < static_cast<std::int32_t>(count) ? x : other;
}
[[gnu::always_inline]] inline Vector<double> first_lanes(Vector<double> x, Index count,
                                                         Vector<double> other = Vector<double>{}) {
  IntegersOfDouble lane;
  for (int k = 0; k < static_cast<int>(kLanes<double>); ++k) lane[k] = k;
  return lane < static_cast<std::int64_t>(count) ? x : other;
}

// Stores the first `count` lanes, and leaves the memory after them as it was.
template <class F>
[[gnu::always_inline]] inline void store_first(F* to, Vector<F> x, Index count) {
#if defined(__AVX512F__)
  // Does not wait until a part that begins there has been stored.
  if constexpr (sizeof(F) == 4)
    _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1U << count) - 1), x);
  else
    _mm512_mask_storeu_pd(to, static_cast<__mmask8>((1U << count) - 1), x);
#else
  store(to, first_lanes(x, count, load(to)));
#endif
}

// Sets the row's numbers size .. padded-1 to 0 in whole vectors: `padded` is a multiple of their
// length.
template <class F>
[[gnu::always_inline]] inline void clear_padding(F* row, Index size, Index padded) {
  for (Index i = size / kLanes<F> * kLanes<F>; i < padded; i += kLanes<F>)
    store(row + i, first_lanes(load(row + i), size - i));
}

// For short rows, read in whole vectors: the sum of x, of a_i b_i, and the greatest number.
template <class F>
[[gnu::always_inline]] inline F row_sum(const F* x, Index count) {
  Vector<F> sums = {};
  for (Index i = 0; i < count; i += kLanes<F>) sums += first_lanes(load(x + i), count - i);
  return sum_of(sums);
}
template <class F>
[[gnu::always_inline]] inline F row_dot(const F* a, const F* b, Index count) {
  Vector<F> sums = {};
  for (Index i = 0; i < count; i += kLanes<F>)
    sums += first_lanes(load(a + i) * load(b + i), count - i);
  return sum_of(sums);
}
template <class F, int kBy, std::size_t... kLane>
[[gnu::always_inline]] inline Vector<F> rotated(Vector<F> x, std::index_sequence<kLane...>) {
  return __builtin_shufflevector(x, x, static_cast<int>((kLane + kBy) % kLanes<F>)...);
}
template <class F, int kBy>
[[gnu::always_inline]] inline Vector<F> rotated(Vector<F> x) {
  return rotated<F, kBy>(x, std::make_index_sequence<kLanes<F>>{});
}
template <class F>
[[gnu::always_inline]] inline F row_greatest(const F* x, Index count) {
  const Vector<F> first = splat(x[0]);
  Vector<F> greatest = first;
  for (Index i = 0; i < count; i += kLanes<F>) {
    const Vector<F> own = first_lanes(load(x + i), count - i, first);
    greatest = own > greatest ? own : greatest;
  }
  unrolled<std::bit_width(static_cast<unsigned>(kLanes<F>)) - 1>(PUSHDOWN_UNROLLED(step) {
    const Vector<F> other = rotated<F, 1 << step>(greatest);
    greatest = other > greatest ? other : greatest;
  });
  return greatest[0];
}

// 0.5 with the sign of x.
[[gnu::always_inline]] inline Vector<float> half_like(Vector<float> x) {
  constexpr std::int32_t kSign = INT32_MIN, kHalf = std::bit_cast<std::int32_t>(0.5f);
  return reinterpret_cast<Vector<float>>((reinterpret_cast<IntegersOfFloat>(x) & kSign) | kHalf);
}
[[gnu::always_inline]] inline Vector<double> half_like(Vector<double> x) {
  constexpr std::int64_t kSign = INT64_MIN, kHalf = std::bit_cast<std::int64_t>(0.5);
  return reinterpret_cast<Vector<double>>((reinterpret_cast<IntegersOfDouble>(x) & kSign) | kHalf);
}

// Computes exp as 2^k e^r with |r| <= ln 2 / 2 and the Taylor series of e^r; relative error about
// one unit in the last place. Results below the range of normal numbers are 0, and those above it
// infinite, as 2^k is for the exponents just outside; NaN stays NaN.
[[gnu::always_inline]] inline Vector<float> vector_exp(Vector<float> x) {
  x = x > 89.0f ? splat(89.0f) : x;
  x = x < -87.0f ? splat(-88.0f) : x;
  const Vector<float> scaled = x * 1.44269504f;
  const auto k = __builtin_convertvector(scaled + half_like(scaled), IntegersOfFloat);
  const Vector<float> whole = __builtin_convertvector(k, Vector<float>);
  const Vector<float> r = x - whole * 0.693359375f + whole * 2.12194440e-4f;
  Vector<float> p = splat(1.0f / 5040);
  p = p * r + 1.0f / 720;
  p = p * r + 1.0f / 120;
  p = p * r + 1.0f / 24;
  p = p * r + 1.0f / 6;
  p = p * r + 0.5f;
  p = p * r + 1.0f;
  p = p * r + 1.0f;
  return p * reinterpret_cast<Vector<float>>((k + 127) << 23);
}

[[gnu::always_inline]] inline Vector<double> vector_exp(Vector<double> x) {
  x = x > 710.0 ? splat(710.0) : x;
  x = x < -708.0 ? splat(-709.0) : x;
  const Vector<double> scaled = x * 1.4426950408889634;
  const auto k = __builtin_convertvector(scaled + half_like(scaled), IntegersOfDouble);
  const Vector<double> whole = __builtin_convertvector(k, Vector<double>);
  const Vector<double> r = x - whole * 0.693145751953125 - whole * 1.4286068203094172e-6;
  Vector<double> p = splat(1.0 / 6227020800);
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  return p * reinterpret_cast<Vector<double>>((k + 1023) << 52);
}

template <class F>
void exp_all(F* x, Index count) {
  for (Index i = 0; i < count; i += kLanes<F>) store(x + i, vector_exp(load(x + i)));
}
// Reads and writes whole vectors, up to kLanes - 1 numbers past the end.
template <class F>
void sigmoid_all(const F* x, F* y, Index count) {
  for (Index i = 0; i < count; i += kLanes<F>)
    store(y + i, F(1) / (F(1) + vector_exp(-load(x + i))));
}
template <class F>
void tanh_all(const F* x, F* y, Index count) {
  for (Index i = 0; i < count; i += kLanes<F>)
    store(y + i, F(1) - F(2) / (F(1) + vector_exp(F(2) * load(x + i))));
}

// kN vectors of out += sum_i x[i] w[i, :], with kWays chains of additions to hide their latency.
template <class F, int kN, int kWays>
[[gnu::always_inline]] inline void product_block(F* out, const F* x, Index count, const F* w,
                                                 Index row) {
  constexpr Index kL = kLanes<F>;
  Vector<F> sums[kWays][kN] = {};
  Index i = 0;
  for (; i + kWays <= count; i += kWays)
    for (int way = 0; way < kWays; ++way) {
      const Vector<F> factor = splat(x[i + way]);
      for (int v = 0; v < kN; ++v) sums[way][v] += factor * load(w + (i + way) * row + v * kL);
    }
  for (; i < count; ++i)
    for (int v = 0; v < kN; ++v) sums[0][v] += x[i] * load(w + i * row + v * kL);
  for (int v = 0; v < kN; ++v) {
    Vector<F> sum = sums[0][v];
    for (int way = 1; way < kWays; ++way) sum += sums[way][v];
    store(out + v * kL, load(out + v * kL) + sum);
  }
}

// out[0..columns) += sum_i x[i] w[i, 0..columns); columns and the rows of w are padded.
template <class F>
void add_product(F* out, Index columns, const F* x, Index count, const F* w) {
  constexpr Index kL = kLanes<F>;
  Index c = 0;
  for (; c + 8 * kL <= columns; c += 8 * kL)
    product_block<F, 8, 1>(out + c, x, count, w + c, columns);
  for (; c + 4 * kL <= columns; c += 4 * kL)
    product_block<F, 4, 2>(out + c, x, count, w + c, columns);
  for (; c + 2 * kL <= columns; c += 2 * kL)
    product_block<F, 2, 4>(out + c, x, count, w + c, columns);
  for (; c < columns; c += kL) product_block<F, 1, 4>(out + c, x, count, w + c, columns);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
