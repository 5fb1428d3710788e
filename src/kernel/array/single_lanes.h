// Vectors of one number, for threads of a team (kernel/device_team.h): the terms of kernel/vector.h
// in which functions.h is written.
#pragma once
#include <cmath>

#include "kernel/device_team.h"

namespace pushdown::device {

template <class F>
using Vector = F;
template <class F>
inline constexpr Index kLanes = 1;

template <class F>
PUSHDOWN_DEVICE inline F load(const F* from) {
  return *from;
}
template <class F>
PUSHDOWN_DEVICE inline void store(F* to, F number) {
  *to = number;
}
template <class F>
PUSHDOWN_DEVICE inline F splat(F number) {
  return number;
}
template <class F>
PUSHDOWN_DEVICE inline F vector_exp(F x) {
  return exponential(x);
}
template <class F>
PUSHDOWN_DEVICE inline F number_exp(F x) {
  return exponential(x);
}
template <class F>
PUSHDOWN_DEVICE inline F array_sigmoid(F x) {
  return sigmoid(x);
}
#define PUSHDOWN_ARRAY_FUNCTION(name)          \
  template <class F>                           \
  PUSHDOWN_DEVICE inline F array_##name(F x) { \
    return std::name(x);                       \
  }
PUSHDOWN_ARRAY_FUNCTION(log)
PUSHDOWN_ARRAY_FUNCTION(log1p)
PUSHDOWN_ARRAY_FUNCTION(expm1)
PUSHDOWN_ARRAY_FUNCTION(tanh)
PUSHDOWN_ARRAY_FUNCTION(sqrt)
PUSHDOWN_ARRAY_FUNCTION(sin)
PUSHDOWN_ARRAY_FUNCTION(cos)
PUSHDOWN_ARRAY_FUNCTION(erf)
PUSHDOWN_ARRAY_FUNCTION(floor)
PUSHDOWN_ARRAY_FUNCTION(ceil)
PUSHDOWN_ARRAY_FUNCTION(rint)
#undef PUSHDOWN_ARRAY_FUNCTION
template <class F>
PUSHDOWN_DEVICE inline F array_pow(F x, F y) {
  return std::pow(x, y);
}
template <class F>
PUSHDOWN_DEVICE inline F array_fmod(F x, F y) {
  return std::fmod(x, y);
}

template <class F>
PUSHDOWN_DEVICE inline F array_sum(const F* x, Index count) {
  F sum = 0;
  for (Index i = 0; i < count; ++i) sum += x[i];
  return sum;
}

}  // namespace pushdown::device
