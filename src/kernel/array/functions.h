// The elementwise functions (function_table.h) over blocks of numbers, and their derivatives: one
// source for the CPU's kernels, which work with whole vectors and use no function of the standard
// library, and for teams of threads (kernel/device_team.h), whose threads work with single numbers.
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

template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F softplus_of(F x) {
  // The threshold is LibTorch's.
  return x > 20 ? x : array_log1p(number_exp(x));
}
template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F log_sum_of(F x, F y) {
  // Two equal infinities have no difference.
  return (x > y ? x : y) +
         (x == y ? F(0.6931471805599453) : array_log1p(number_exp(x > y ? y - x : x - y)));
}
template <class F>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F remainder_of(F x, F y) {
  const F rest = array_fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

// ---- The rows of the table as types. ----

// How an operand gets its gradient; by an expression of whole vectors or of single numbers.
enum class SlopeKind : std::uint8_t { none, pass, times, lanes, numbers };
template <int kOperand, SlopeKind kKind, int kFactor = 0>
struct Slope {
  static constexpr int operand = kOperand, factor = kFactor;  // of `times`: another operand
  static constexpr SlopeKind kind = kKind;
};

struct FunctionDefaults {
  static constexpr int operand_x = 0, operand_y = 1, operand_z = 2;
  static constexpr Slope<0, SlopeKind::none> slope_x{};
  static constexpr Slope<1, SlopeKind::none> slope_y{};
  static constexpr Slope<2, SlopeKind::none> slope_z{};
  // For compilers that look for the name where there is no gradient.
  template <class F, class Kind, class V>
  PUSHDOWN_DEVICE static V slope(Kind, V, V, V, V, V) {
    return V{};
  }
};
// value<F>(x, y, z) and slope<F>(slope_x, x, y, z, v, d), where V is F or a vector of them.
template <ArrayFunction>
struct FunctionRow;

// clang-format off
#define PUSHDOWN_OF_ROW(name)                                                                \
  template <class F, class V>                                                                \
  [[gnu::always_inline]] PUSHDOWN_DEVICE static V name
#define PUSHDOWN_EXPRESSION(...)                                                             \
  {                                                                                          \
    [[maybe_unused]] const F one = 1, two = 2;                                               \
    [[maybe_unused]] const V zero{}, yes = zero + one;                                       \
    return __VA_ARGS__;                                                                      \
  }
#define PUSHDOWN_XYZ [[maybe_unused]] V x, [[maybe_unused]] V y, [[maybe_unused]] V z
#define PUSHDOWN_VALUE(by_lanes, ...)                                                        \
  static constexpr bool kByLanes = by_lanes;                                                 \
  PUSHDOWN_OF_ROW(value)(PUSHDOWN_XYZ) PUSHDOWN_EXPRESSION(__VA_ARGS__)
#define PUSHDOWN_SLOPE(operand, kind, factor, ...)                                           \
  static constexpr Slope<operand_##operand, SlopeKind::kind, operand_##factor> slope_##operand{}; \
  PUSHDOWN_OF_ROW(slope)(decltype(slope_##operand), PUSHDOWN_XYZ, [[maybe_unused]] V v, V d) \
      PUSHDOWN_EXPRESSION(__VA_ARGS__)
#define VALUE(...) PUSHDOWN_VALUE(true, __VA_ARGS__)
#define VALUE_BY_NUMBER(...) PUSHDOWN_VALUE(false, __VA_ARGS__)
#define SLOPE(operand, ...) PUSHDOWN_SLOPE(operand, lanes, x, __VA_ARGS__)
#define SLOPE_BY_NUMBER(operand, ...) PUSHDOWN_SLOPE(operand, numbers, x, __VA_ARGS__)
#define PASS(operand) PUSHDOWN_SLOPE(operand, pass, x, d)
#define TIMES(operand, factor) PUSHDOWN_SLOPE(operand, times, factor, d * factor)
#define PUSHDOWN_FUNCTION_ROW(name, ...)                                                     \
  template <>                                                                                \
  struct FunctionRow<ArrayFunction::name> : FunctionDefaults {                               \
    static constexpr ArrayFunction kFunction = ArrayFunction::name;                          \
    PUSHDOWN_ROW_OF(__VA_ARGS__)                                                             \
  };
#define PUSHDOWN_ROW_OF(text, operands, multiply_adds, reads, ...)                           \
  static constexpr int kOperands = operands;                                                 \
  __VA_ARGS__
PUSHDOWN_FUNCTIONS(PUSHDOWN_FUNCTION_ROW)
#undef PUSHDOWN_OF_ROW
#undef PUSHDOWN_EXPRESSION
#undef PUSHDOWN_XYZ
#undef PUSHDOWN_VALUE
#undef PUSHDOWN_SLOPE
#undef VALUE
#undef VALUE_BY_NUMBER
#undef SLOPE
#undef SLOPE_BY_NUMBER
#undef PASS
#undef TIMES
#undef PUSHDOWN_FUNCTION_ROW
#undef PUSHDOWN_ROW_OF
// clang-format on

// Returns visit(row) for the row of a function.
template <class Visit>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline auto with_function(ArrayFunction function,
                                                                 const Visit& visit) {
  switch (function) {
#define PUSHDOWN_FUNCTION_CASE(name, ...) \
  case ArrayFunction::name: return visit(FunctionRow<ArrayFunction::name>());
    PUSHDOWN_FUNCTIONS(PUSHDOWN_FUNCTION_CASE)
#undef PUSHDOWN_FUNCTION_CASE
  }
  return visit(FunctionRow<ArrayFunction::copy>());
}
// Returns visit(slope) for the slope of an operand.
template <class Row, class Visit>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline auto with_slope(const Row&, int operand,
                                                              const Visit& visit) {
  if (operand == 0) return visit(Row::slope_x);
  return operand == 1 ? visit(Row::slope_y) : visit(Row::slope_z);
}

// ---- Blocks. ----

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

// Computes to[i] = of(x_i, y_i, z_i) for whole vectors of begin .. end-1, where the first kOperands
// are used. Common forms have loops of their own.
template <int kOperands, class F, class Of>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline void by_lanes(const ArrayOperand<F>& x,
                                                            const ArrayOperand<F>& y,
                                                            const ArrayOperand<F>& z, F* to,
                                                            Index begin, Index end, Of of) {
  const auto loop = [&](auto first, auto second, auto third) {
    for (Index i = begin; i < end; i += kLanes<F>) store(to + i, of(first(i), second(i), third(i)));
  };
  const auto block = [](const ArrayOperand<F>& from) {
    return [first = from.first](Index i) { return load(first + i); };
  };
  const auto single = [](const ArrayOperand<F>& from) {
    return [number = splat(*from.first)](Index) { return number; };
  };
  const auto any = [](const ArrayOperand<F>& from) {
    return [&from](Index i) { return lanes_of(from, i); };
  };
  const auto none = [](Index) { return Vector<F>{}; };
  if constexpr (kOperands == 1) {
    if (!x.single) return loop(block(x), none, none);
    return loop(single(x), none, none);
  } else if constexpr (kOperands == 2) {
    if (!x.single && !y.single) return loop(block(x), block(y), none);
    if (!x.single) return loop(block(x), single(y), none);
    if (!y.single) return loop(single(x), block(y), none);
    return loop(single(x), single(y), none);
  } else {
    if (x.single && !y.single && !z.single) return loop(single(x), block(y), block(z));
    if (!x.single && y.single && !z.single) return loop(block(x), single(y), block(z));
    return loop(any(x), any(y), any(z));
  }
}

// Computes to[i] = function(x_i, y_i, z_i) for begin .. end-1. begin is a multiple of the lanes,
// and whole vectors are written.
template <class F>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void array_value(ArrayFunction function, const ArrayOperand<F>& x,
                                                   const ArrayOperand<F>& y,
                                                   const ArrayOperand<F>& z, F* to, Index begin,
                                                   Index end) {
  with_function(function, [&](auto row) {
    using Row = decltype(row);
    if constexpr (Row::kByLanes) {
      by_lanes<Row::kOperands>(x, y, z, to, begin, end, [](auto a, auto b, auto c) {
        return Row::template value<F>(a, b, c);
      });
    } else {
      for (Index i = begin; i < end; ++i)
        to[i] = Row::template value<F>(number_of(x, i), Row::kOperands > 1 ? number_of(y, i) : F(0),
                                       F(0));
    }
  });
}

// Computes the gradient of an operand, where g is that of the result v, if it has an expression.
template <class F>
PUSHDOWN_NOINLINE PUSHDOWN_DEVICE void array_slope(ArrayFunction function, int operand,
                                                   const ArrayOperand<F>& x,
                                                   const ArrayOperand<F>& y,
                                                   const ArrayOperand<F>& z, const F* v, const F* g,
                                                   F* to, Index count) {
  with_function(function, [&](auto row) {
    using Row = decltype(row);
    with_slope(row, operand, [&](auto slope) {
      if constexpr (slope.kind == SlopeKind::lanes) {
        for (Index i = 0; i < count; i += kLanes<F>)
          store(to + i, Row::template slope<F>(slope, lanes_of(x, i), lanes_of(y, i),
                                               lanes_of(z, i), load(v + i), load(g + i)));
      } else if constexpr (slope.kind == SlopeKind::numbers) {
        for (Index i = 0; i < count; ++i)
          to[i] = Row::template slope<F>(slope, number_of(x, i), number_of(y, i), number_of(z, i),
                                         v[i], g[i]);
      }
    });
  });
}

// Distributes the slope g of a call to its operands. give(k, numbers, factors) adds numbers times
// factors, which may be null, to the slope of operand k; pass(k) adds g unchanged; wanted(k)
// returns whether operand k has a slope.
template <class F, class Give, class Pass, class Wanted>
PUSHDOWN_DEVICE void array_slopes(const ArrayCall& call, const ArrayOperand<F>& x,
                                  const ArrayOperand<F>& y, const ArrayOperand<F>& z, const F* v,
                                  const F* g, F* room, Index count, const Give& give,
                                  const Pass& pass, const Wanted& wanted) {
  for (int k = 0; k < 3; ++k) {
    const int to = k == 0 ? call.a : k == 1 ? call.b : call.c;
    int factor = 0;
    const SlopeKind kind = with_function(call.function, [&](auto row) {
      return with_slope(row, k, [&](auto slope) {
        factor = slope.factor;
        return slope.kind;
      });
    });
    if (kind == SlopeKind::pass) {
      pass(to);
    } else if (kind == SlopeKind::times) {
      give(to, g, factor == 0 ? &x : factor == 1 ? &y : &z);
    } else if (kind != SlopeKind::none && wanted(to)) {
      array_slope(call.function, k, x, y, z, v, g, room, count);
      give(to, room, nullptr);
    }
  }
}

}  // namespace pushdown::PUSHDOWN_ARRAY_NAMESPACE
