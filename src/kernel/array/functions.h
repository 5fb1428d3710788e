// The functions of array programs over blocks of numbers, and their derivatives: one source for the
// CPU's kernels, which work with whole vectors and use no function of the standard library, and for
// teams of threads (kernel/device_team.h), whose threads work with single numbers.
#pragma once
#include "kernel/array/program.h"
#ifdef PUSHDOWN_ISA
#include "kernel/array/vector_lanes.h"
#define PUSHDOWN_ARRAY_NAMESPACE PUSHDOWN_ISA_NAMESPACE
#else
#include "kernel/array/single_lanes.h"
#define PUSHDOWN_ARRAY_NAMESPACE device
#endif

namespace pushdown::PUSHDOWN_ARRAY_NAMESPACE {

// The numbers of a block, or one number that applies to all of it. Memory after a block may be
// read, but is never used.
template <class F>
struct ArrayOperand {
  const F* first;
  bool single;
};
template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline Vector<F> lanes_of(const ArrayOperand<F>& x,
                                                                 Index i) {
  return x.single ? splat(*x.first) : load(x.first + i);
}
template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F number_of(const ArrayOperand<F>& x, Index i) {
  return x.single ? *x.first : x.first[i];
}

template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F softplus_of(F x) {
  // The threshold is LibTorch's.
  return x > 20 ? x : array_log1p(number_exp(x));
}
template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F remainder_of(F x, F y) {
  const F rest = array_fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// Computes to[i] = f(i) for whole vectors of begin .. end-1.
template <class F, class Of>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline void by_lanes(F* to, Index begin, Index end, Of of) {
  for (Index i = begin; i < end; i += kLanes<F>) store(to + i, of(i));
}
template <class F, class Of>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline void by_numbers(F* to, Index begin, Index end,
                                                              Of of) {
  for (Index i = begin; i < end; ++i) to[i] = of(i);
}
// Computes of(a, b), with separate loops for the three forms.
template <class F, class Of>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline void by_pairs(const ArrayOperand<F>& a,
                                                            const ArrayOperand<F>& b, F* to,
                                                            Index begin, Index end, Of of) {
  if (!a.single && !b.single)
    return by_lanes(to, begin, end,
                    [&](Index i) { return of(load(a.first + i), load(b.first + i)); });
  const Vector<F> one = splat(a.single ? *a.first : *b.first);
  if (!a.single)
    return by_lanes(to, begin, end, [&](Index i) { return of(load(a.first + i), one); });
  if (!b.single)
    return by_lanes(to, begin, end, [&](Index i) { return of(one, load(b.first + i)); });
  const Vector<F> other = splat(*b.first);
  by_lanes(to, begin, end, [&](Index) { return of(one, other); });
}

// Computes to[i] = function(a_i, b_i, c_i) for begin .. end-1. begin is a multiple of the lanes,
// and whole vectors are written.
template <class F>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void array_value(ArrayFunction function, const ArrayOperand<F>& a,
                                                   const ArrayOperand<F>& b,
                                                   const ArrayOperand<F>& c, F* to, Index begin,
                                                   Index end) {
  const F one = 1, two = 2;
  const Vector<F> yes = splat(F(1)), no = splat(F(0));
  const auto map = [&](auto f) {
    by_lanes(to, begin, end, [&](Index i) { return f(lanes_of(a, i)); });
  };
  const auto pairs = [&](auto f) { by_pairs(a, b, to, begin, end, f); };
  const auto numbers = [&](auto f) {
    by_numbers(to, begin, end, [&](Index i) { return f(number_of(a, i)); });
  };
  switch (function) {
    case ArrayFunction::copy:
    case ArrayFunction::stop: return map([](auto x) { return x; });
    case ArrayFunction::add: return pairs([](auto x, auto y) { return x + y; });
    case ArrayFunction::subtract: return pairs([](auto x, auto y) { return x - y; });
    case ArrayFunction::multiply: return pairs([](auto x, auto y) { return x * y; });
    case ArrayFunction::divide: return pairs([](auto x, auto y) { return x / y; });
    case ArrayFunction::multiply_add:
      if (a.single && !b.single && !c.single) {
        const Vector<F> factor = splat(*a.first);
        return by_lanes(to, begin, end,
                        [&](Index i) { return factor * load(b.first + i) + load(c.first + i); });
      }
      if (b.single && !a.single && !c.single) {
        const Vector<F> factor = splat(*b.first);
        return by_lanes(to, begin, end,
                        [&](Index i) { return factor * load(a.first + i) + load(c.first + i); });
      }
      return by_lanes(to, begin, end,
                      [&](Index i) { return lanes_of(a, i) * lanes_of(b, i) + lanes_of(c, i); });
    case ArrayFunction::negate: return map([](auto x) { return -x; });
    case ArrayFunction::maximum:
      return pairs([](auto x, auto y) { return (x > y) | (x != x) ? x : y; });
    case ArrayFunction::minimum:
      return pairs([](auto x, auto y) { return (x < y) | (x != x) ? x : y; });
    case ArrayFunction::at_least: return pairs([](auto x, auto y) { return x < y ? y : x; });
    case ArrayFunction::at_most: return pairs([](auto x, auto y) { return x > y ? y : x; });
    case ArrayFunction::power:
      return by_numbers(to, begin, end,
                        [&](Index i) { return array_pow(number_of(a, i), number_of(b, i)); });
    case ArrayFunction::remainder:
      return by_numbers(to, begin, end,
                        [&](Index i) { return remainder_of(number_of(a, i), number_of(b, i)); });
    case ArrayFunction::exp: return map([](auto x) { return vector_exp(x); });
    case ArrayFunction::log: return numbers([](F x) { return array_log(x); });
    case ArrayFunction::log1p: return numbers([](F x) { return array_log1p(x); });
    case ArrayFunction::expm1: return numbers([](F x) { return array_expm1(x); });
    case ArrayFunction::tanh:
      return map([=](auto x) { return one - two / (one + vector_exp(two * x)); });
    case ArrayFunction::sigmoid: return map([=](auto x) { return one / (one + vector_exp(-x)); });
    case ArrayFunction::relu: return map([=](auto x) { return x < F(0) ? no : x; });
    case ArrayFunction::softplus: return numbers([](F x) { return softplus_of(x); });
    case ArrayFunction::sqrt: return numbers([](F x) { return array_sqrt(x); });
    case ArrayFunction::abs: return map([](auto x) { return x < F(0) ? -x : x; });
    case ArrayFunction::sign:
      return map([=](auto x) { return x > F(0) ? yes : x < F(0) ? -yes : x == x ? no : x; });
    case ArrayFunction::sin: return numbers([](F x) { return array_sin(x); });
    case ArrayFunction::cos: return numbers([](F x) { return array_cos(x); });
    case ArrayFunction::erf: return numbers([](F x) { return array_erf(x); });
    case ArrayFunction::floor: return numbers([](F x) { return array_floor(x); });
    case ArrayFunction::ceil: return numbers([](F x) { return array_ceil(x); });
    case ArrayFunction::round: return numbers([](F x) { return array_rint(x); });
    case ArrayFunction::is_nan: return map([=](auto x) { return x != x ? yes : no; });
    case ArrayFunction::less: return pairs([=](auto x, auto y) { return x < y ? yes : no; });
    case ArrayFunction::less_equal: return pairs([=](auto x, auto y) { return x <= y ? yes : no; });
    case ArrayFunction::greater: return pairs([=](auto x, auto y) { return x > y ? yes : no; });
    case ArrayFunction::greater_equal:
      return pairs([=](auto x, auto y) { return x >= y ? yes : no; });
    case ArrayFunction::equal: return pairs([=](auto x, auto y) { return x == y ? yes : no; });
    case ArrayFunction::not_equal: return pairs([=](auto x, auto y) { return x != y ? yes : no; });
    case ArrayFunction::both:
      return pairs([=](auto x, auto y) { return (x != F(0)) & (y != F(0)) ? yes : no; });
    case ArrayFunction::either:
      return pairs([=](auto x, auto y) { return (x != F(0)) | (y != F(0)) ? yes : no; });
    case ArrayFunction::none_of: return map([=](auto x) { return x == F(0) ? yes : no; });
    case ArrayFunction::choose:
      return by_lanes(to, begin, end, [&](Index i) {
        return lanes_of(a, i) != F(0) ? lanes_of(b, i) : lanes_of(c, i);
      });
  }
}

// Returns the derivative of a function with one operand, at x with the value y, times g.
template <class F>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void array_derivative(ArrayFunction function,
                                                        const ArrayOperand<F>& a, const F* y,
                                                        const F* g, F* to, Index count) {
  const F one = 1, two = 2;
  const Vector<F> zero = splat(F(0));
  const auto map = [&](auto f) {
    by_lanes(to, Index(0), count,
             [&](Index i) { return f(lanes_of(a, i), load(y + i), load(g + i)); });
  };
  const auto numbers = [&](auto f) {
    by_numbers(to, Index(0), count, [&](Index i) { return f(number_of(a, i), g[i]); });
  };
  switch (function) {
    case ArrayFunction::negate: return map([](auto, auto, auto d) { return -d; });
    case ArrayFunction::exp: return map([](auto, auto v, auto d) { return d * v; });
    case ArrayFunction::log: return map([](auto x, auto, auto d) { return d / x; });
    case ArrayFunction::log1p: return map([=](auto x, auto, auto d) { return d / (x + one); });
    case ArrayFunction::expm1: return map([=](auto, auto v, auto d) { return d * (v + one); });
    case ArrayFunction::tanh: return map([=](auto, auto v, auto d) { return d * (one - v * v); });
    case ArrayFunction::sigmoid:
      return map([=](auto, auto v, auto d) { return d * v * (one - v); });
    case ArrayFunction::relu: return map([=](auto, auto v, auto d) { return v > F(0) ? d : zero; });
    case ArrayFunction::softplus:
      return map([=](auto x, auto, auto d) { return x > F(20) ? d : d / (one + vector_exp(-x)); });
    case ArrayFunction::sqrt: return map([=](auto, auto v, auto d) { return d / (two * v); });
    case ArrayFunction::abs:
      return map([=](auto x, auto, auto d) { return x > F(0) ? d : x < F(0) ? -d : zero; });
    case ArrayFunction::sin: return numbers([](F x, F d) { return d * array_cos(x); });
    case ArrayFunction::cos: return numbers([](F x, F d) { return -d * array_sin(x); });
    case ArrayFunction::erf:
      return numbers([](F x, F d) {
        return d * F(1.1283791670955126) * number_exp(-x * x);  // 2 / sqrt(pi)
      });
    default: return;
  }
}

// Distributes the slope g of a call to its operands. give(k, numbers, factors) adds numbers times
// factors, which may be null, to the slope of operand k; pass(k) adds g unchanged; wanted(k)
// returns whether operand k has a slope.
template <class F, class Give, class Pass, class Wanted>
PUSHDOWN_DEVICE void array_slopes(const ArrayCall& call, const ArrayOperand<F>& a,
                                  const ArrayOperand<F>& b, const ArrayOperand<F>& c, const F* y,
                                  const F* g, F* room, Index count, const Give& give,
                                  const Pass& pass, const Wanted& wanted) {
  const Vector<F> zero = splat(F(0));
  const auto lanes = [&](int k, auto f) {
    if (!wanted(k)) return;
    by_lanes(room, Index(0), count, [&](Index i) { return f(i, load(g + i)); });
    give(k, room, nullptr);
  };
  const auto numbers = [&](int k, auto f) {
    if (!wanted(k)) return;
    by_numbers(room, Index(0), count, [&](Index i) { return f(i, g[i]); });
    give(k, room, nullptr);
  };
  const F half = F(0.5);
  switch (call.function) {
    case ArrayFunction::copy: return pass(call.a);
    case ArrayFunction::add: pass(call.a); return pass(call.b);
    case ArrayFunction::subtract:
      pass(call.a);
      return lanes(call.b, [](Index, auto d) { return -d; });
    case ArrayFunction::multiply:
    case ArrayFunction::multiply_add:
      give(call.a, g, &b);
      give(call.b, g, &a);
      if (call.function == ArrayFunction::multiply_add) pass(call.c);
      return;
    case ArrayFunction::divide:
      lanes(call.a, [&](Index i, auto d) { return d / lanes_of(b, i); });
      return lanes(call.b, [&](Index i, auto d) { return -d * load(y + i) / lanes_of(b, i); });
    case ArrayFunction::maximum:
    case ArrayFunction::minimum: {
      // Half to each if they are equal.
      const F sign = call.function == ArrayFunction::maximum ? F(1) : F(-1);
      const auto share = [&](Index i, auto d, F side) {
        const Vector<F> by = side * sign * (lanes_of(a, i) - lanes_of(b, i));
        return by > F(0) ? d : by == F(0) ? d * half : zero;
      };
      lanes(call.a, [&](Index i, auto d) { return share(i, d, F(1)); });
      return lanes(call.b, [&](Index i, auto d) { return share(i, d, F(-1)); });
    }
    case ArrayFunction::at_least:
      lanes(call.a, [&](Index i, auto d) { return lanes_of(a, i) >= lanes_of(b, i) ? d : zero; });
      return lanes(call.b,
                   [&](Index i, auto d) { return lanes_of(a, i) < lanes_of(b, i) ? d : zero; });
    case ArrayFunction::at_most:
      lanes(call.a, [&](Index i, auto d) { return lanes_of(a, i) <= lanes_of(b, i) ? d : zero; });
      return lanes(call.b,
                   [&](Index i, auto d) { return lanes_of(a, i) > lanes_of(b, i) ? d : zero; });
    case ArrayFunction::power:
      numbers(call.a, [&](Index i, F d) {
        const F x = number_of(a, i), n = number_of(b, i);
        return n == 0 ? F(0) : d * n * array_pow(x, n - 1);
      });
      return numbers(call.b, [&](Index i, F d) {
        const F x = number_of(a, i), n = number_of(b, i);
        return x == 0 && n >= 0 ? F(0) : d * y[i] * array_log(x);
      });
    case ArrayFunction::remainder:
      pass(call.a);
      return numbers(call.b, [&](Index i, F d) {
        return -d * array_floor(number_of(a, i) / number_of(b, i));
      });
    case ArrayFunction::choose:
      lanes(call.b, [&](Index i, auto d) { return lanes_of(a, i) != F(0) ? d : zero; });
      return lanes(call.c, [&](Index i, auto d) { return lanes_of(a, i) != F(0) ? zero : d; });
    default:
      array_derivative(call.function, a, y, g, room, count);
      return give(call.a, room, nullptr);
  }
}

}  // namespace pushdown::PUSHDOWN_ARRAY_NAMESPACE
