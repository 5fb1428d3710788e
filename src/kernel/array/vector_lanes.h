// What functions.h needs for whole vectors, see single_lanes.h.
#pragma once
#include "kernel/memory/loops.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

PUSHDOWN_INLINE float array_log(float x) { return __builtin_logf(x); }
PUSHDOWN_INLINE double array_log(double x) { return __builtin_log(x); }
#define PUSHDOWN_ARRAY_FUNCTION(name)                                            \
  PUSHDOWN_INLINE float array_##name(float x) { return __builtin_##name##f(x); } \
  PUSHDOWN_INLINE double array_##name(double x) { return __builtin_##name(x); }
PUSHDOWN_ARRAY_FUNCTION(log1p)
PUSHDOWN_ARRAY_FUNCTION(expm1)
PUSHDOWN_ARRAY_FUNCTION(sqrt)
PUSHDOWN_ARRAY_FUNCTION(sin)
PUSHDOWN_ARRAY_FUNCTION(cos)
PUSHDOWN_ARRAY_FUNCTION(erf)
PUSHDOWN_ARRAY_FUNCTION(floor)
PUSHDOWN_ARRAY_FUNCTION(ceil)
PUSHDOWN_ARRAY_FUNCTION(rint)
#undef PUSHDOWN_ARRAY_FUNCTION
PUSHDOWN_INLINE float array_pow(float x, float y) { return __builtin_powf(x, y); }
PUSHDOWN_INLINE double array_pow(double x, double y) { return __builtin_pow(x, y); }
PUSHDOWN_INLINE float array_fmod(float x, float y) { return __builtin_fmodf(x, y); }
PUSHDOWN_INLINE double array_fmod(double x, double y) { return __builtin_fmod(x, y); }

template <class V>
[[gnu::always_inline]] inline V array_sigmoid(V x) {
  using F = std::remove_cvref_t<decltype(x[0])>;
  return F(1) / (F(1) + vector_exp(-x));
}
template <class V>
[[gnu::always_inline]] inline V array_tanh(V x) {
  using F = std::remove_cvref_t<decltype(x[0])>;
  return F(1) - F(2) / (F(1) + vector_exp(F(2) * x));
}
template <class F>
[[gnu::always_inline]] inline F number_exp(F x) {
  return vector_exp(splat(x))[0];
}

template <class F>
[[gnu::always_inline]] inline F array_sum(const F* x, Index count) {
  Vector<F> sums = {};
  Index i = 0;
  for (; i + kLanes<F> <= count; i += kLanes<F>) sums += load(x + i);
  F sum = sum_of(sums);
  for (; i < count; ++i) sum += x[i];
  return sum;
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
