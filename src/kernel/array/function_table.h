// The table of elementwise functions: everything that is particular to a function is in its row.
// Array programs (kernel/array/program.h) and step programs (kernel/step/step_program.h), their
// kernels and their printed code, their texts and the recorder (array/array_function_rules.cpp)
// follow from it.
//
// A row has
//   the name, as a constant, and its text: the name of LibTorch's operator if there is one
//   the number of operands, which are x, y and z
//   the multiply-adds that it counts as
//   what the slopes read besides d: NOTHING, RESULT, OPERANDS or BOTH
//   VALUE(expression), or VALUE_BY_NUMBER where there is no function for whole vectors
//   for each operand through which gradients flow, its gradient, where v is the result and d the
//   gradient of the result: SLOPE(operand, expression); or SLOPE_BY_NUMBER; PASS(operand): d;
//   TIMES(operand, other): d times another operand
// Expressions may use `zero` and `yes`, 0 and 1 in all lanes, and the numbers `one` and `two`.
// Masks are 1 and 0.
#pragma once
#include <cstdint>

// clang-format off
#define PUSHDOWN_FUNCTIONS(ROW)                                                                    \
  ROW(copy, "copy", 1, 0, NOTHING, VALUE(x) PASS(x))                                               \
  ROW(stop, "detach", 1, 0, NOTHING, VALUE(x))                                                     \
  ROW(add, "add", 2, 1, NOTHING, VALUE(x + y) PASS(x) PASS(y))                                     \
  ROW(subtract, "sub", 2, 1, NOTHING, VALUE(x - y) PASS(x) SLOPE(y, -d))                           \
  ROW(multiply, "mul", 2, 1, OPERANDS, VALUE(x * y) TIMES(x, y) TIMES(y, x))                       \
  ROW(multiply_add, "multiply_add", 3, 1, OPERANDS,                                                \
      VALUE(x * y + z) TIMES(x, y) TIMES(y, x) PASS(z))                                            \
  ROW(divide, "div", 2, 0, BOTH, VALUE(x / y) SLOPE(x, d / y) SLOPE(y, -d * v / y))                \
  ROW(negate, "neg", 1, 0, NOTHING, VALUE(-x) SLOPE(x, -d))                                        \
  /* Half of the gradient goes to each if they are equal. */                                       \
  ROW(maximum, "maximum", 2, 0, OPERANDS, VALUE((x > y) | (x != x) ? x : y)                        \
      SLOPE(x, x > y ? d : x == y ? d * F(0.5) : zero)                                             \
      SLOPE(y, y > x ? d : x == y ? d * F(0.5) : zero))                                            \
  ROW(minimum, "minimum", 2, 0, OPERANDS, VALUE((x < y) | (x != x) ? x : y)                        \
      SLOPE(x, x < y ? d : x == y ? d * F(0.5) : zero)                                             \
      SLOPE(y, y < x ? d : x == y ? d * F(0.5) : zero))                                            \
  /* x, or y if x is less; the gradient goes to x if they are equal. */                            \
  ROW(at_least, "at_least", 2, 0, OPERANDS, VALUE(x < y ? y : x)                                   \
      SLOPE(x, x >= y ? d : zero) SLOPE(y, x < y ? d : zero))                                      \
  ROW(at_most, "at_most", 2, 0, OPERANDS, VALUE(x > y ? y : x)                                     \
      SLOPE(x, x <= y ? d : zero) SLOPE(y, x > y ? d : zero))                                      \
  ROW(power, "pow", 2, 0, BOTH, VALUE_BY_NUMBER(array_pow(x, y))                                   \
      SLOPE_BY_NUMBER(x, y == 0 ? F(0) : d * y * array_pow(x, y - 1))                              \
      SLOPE_BY_NUMBER(y, x == 0 && y >= 0 ? F(0) : d * v * array_log(x)))                          \
  /* With the sign of y. */                                                                        \
  ROW(remainder, "remainder", 2, 0, OPERANDS, VALUE_BY_NUMBER(remainder_of(x, y))                  \
      PASS(x) SLOPE_BY_NUMBER(y, -d * array_floor(x / y)))                                         \
  /* log(e^x + e^y) */                                                                             \
  ROW(logaddexp, "logaddexp", 2, 0, OPERANDS, VALUE_BY_NUMBER(log_sum_of(x, y))                    \
      SLOPE(x, d * array_sigmoid(x - y)) SLOPE(y, d * array_sigmoid(y - x)))                       \
  ROW(exp, "exp", 1, 0, RESULT, VALUE(vector_exp(x)) SLOPE(x, d * v))                              \
  ROW(log, "log", 1, 0, OPERANDS, VALUE_BY_NUMBER(array_log(x)) SLOPE(x, d / x))                   \
  ROW(log1p, "log1p", 1, 0, OPERANDS, VALUE_BY_NUMBER(array_log1p(x)) SLOPE(x, d / (x + one)))     \
  ROW(expm1, "expm1", 1, 0, RESULT, VALUE_BY_NUMBER(array_expm1(x)) SLOPE(x, d * (v + one)))       \
  ROW(tanh, "tanh", 1, 0, RESULT, VALUE(array_tanh(x)) SLOPE(x, d * (one - v * v)))                \
  ROW(sigmoid, "sigmoid", 1, 0, RESULT, VALUE(array_sigmoid(x)) SLOPE(x, d * v * (one - v)))       \
  ROW(relu, "relu", 1, 0, RESULT, VALUE(x < F(0) ? zero : x) SLOPE(x, v > F(0) ? d : zero))        \
  ROW(softplus, "softplus", 1, 0, OPERANDS, VALUE_BY_NUMBER(softplus_of(x))                        \
      SLOPE(x, x > F(20) ? d : d / (one + vector_exp(-x))))                                        \
  ROW(sqrt, "sqrt", 1, 0, RESULT, VALUE_BY_NUMBER(array_sqrt(x)) SLOPE(x, d / (two * v)))          \
  ROW(abs, "abs", 1, 0, OPERANDS, VALUE(x < F(0) ? -x : x)                                         \
      SLOPE(x, x > F(0) ? d : x < F(0) ? -d : zero))                                               \
  ROW(sign, "sign", 1, 0, NOTHING, VALUE(x > F(0) ? yes : x < F(0) ? -yes : x == x ? zero : x))    \
  ROW(sin, "sin", 1, 0, OPERANDS, VALUE_BY_NUMBER(array_sin(x))                                    \
      SLOPE_BY_NUMBER(x, d * array_cos(x)))                                                        \
  ROW(cos, "cos", 1, 0, OPERANDS, VALUE_BY_NUMBER(array_cos(x))                                    \
      SLOPE_BY_NUMBER(x, -d * array_sin(x)))                                                       \
  ROW(erf, "erf", 1, 0, OPERANDS, VALUE_BY_NUMBER(array_erf(x))                                    \
      SLOPE_BY_NUMBER(x, d * F(1.1283791670955126) * number_exp(-x * x))) /* 2 / sqrt(pi) */       \
  ROW(floor, "floor", 1, 0, NOTHING, VALUE_BY_NUMBER(array_floor(x)))                              \
  ROW(ceil, "ceil", 1, 0, NOTHING, VALUE_BY_NUMBER(array_ceil(x)))                                 \
  ROW(round, "round", 1, 0, NOTHING, VALUE_BY_NUMBER(array_rint(x)))                               \
  ROW(is_nan, "isnan", 1, 0, NOTHING, VALUE(x != x ? yes : zero))                                  \
  ROW(less, "lt", 2, 0, NOTHING, VALUE(x < y ? yes : zero))                                        \
  ROW(less_equal, "le", 2, 0, NOTHING, VALUE(x <= y ? yes : zero))                                 \
  ROW(greater, "gt", 2, 0, NOTHING, VALUE(x > y ? yes : zero))                                     \
  ROW(greater_equal, "ge", 2, 0, NOTHING, VALUE(x >= y ? yes : zero))                              \
  ROW(equal, "eq", 2, 0, NOTHING, VALUE(x == y ? yes : zero))                                      \
  ROW(not_equal, "ne", 2, 0, NOTHING, VALUE(x != y ? yes : zero))                                  \
  ROW(both, "logical_and", 2, 0, NOTHING, VALUE((x != F(0)) & (y != F(0)) ? yes : zero))           \
  ROW(either, "logical_or", 2, 0, NOTHING, VALUE((x != F(0)) | (y != F(0)) ? yes : zero))          \
  ROW(none_of, "logical_not", 1, 0, NOTHING, VALUE(x == F(0) ? yes : zero))                        \
  ROW(choose, "where", 3, 0, OPERANDS, VALUE(x != F(0) ? y : z)                                    \
      SLOPE(y, x != F(0) ? d : zero) SLOPE(z, x != F(0) ? zero : d))
// clang-format on

namespace pushdown {

enum class ArrayFunction : std::uint8_t {
#define PUSHDOWN_FUNCTION_NAME(name, ...) name,
  PUSHDOWN_FUNCTIONS(PUSHDOWN_FUNCTION_NAME)
#undef PUSHDOWN_FUNCTION_NAME
};

// What a row says besides the expressions.
struct FunctionFacts {
  enum Reads : std::uint8_t { NOTHING, RESULT, OPERANDS, BOTH };

  const char *name, *text;
  int operands, multiply_adds;
  Reads reads;             // by the slopes
  bool has_slope[3] = {};  // by operand: whether gradients flow through it
  bool by_number = false;  // calls the library of mathematical functions

  constexpr bool has_slopes() const { return has_slope[0] || has_slope[1] || has_slope[2]; }
  constexpr FunctionFacts with_slope(char operand) const {
    FunctionFacts facts = *this;
    facts.has_slope[operand - 'x'] = true;
    return facts;
  }
  constexpr FunctionFacts with_value_by_number() const {
    FunctionFacts facts = *this;
    facts.by_number = true;
    return facts;
  }
};

inline constexpr FunctionFacts kFunctionFacts[] = {
#define VALUE(...)
#define VALUE_BY_NUMBER(...) .with_value_by_number()
#define SLOPE(operand, ...) .with_slope(#operand[0])
#define SLOPE_BY_NUMBER SLOPE
#define PASS SLOPE
#define TIMES SLOPE
#define PUSHDOWN_FUNCTION_FACTS(name, text, operands, multiply_adds, reads, ...) \
  FunctionFacts{#name, text, operands, multiply_adds, FunctionFacts::reads} __VA_ARGS__,
    PUSHDOWN_FUNCTIONS(PUSHDOWN_FUNCTION_FACTS)
#undef VALUE
#undef VALUE_BY_NUMBER
#undef SLOPE
#undef SLOPE_BY_NUMBER
#undef PASS
#undef TIMES
#undef PUSHDOWN_FUNCTION_FACTS
};
inline constexpr int kFunctionCount = sizeof(kFunctionFacts) / sizeof(kFunctionFacts[0]);
constexpr const FunctionFacts& facts_of(ArrayFunction function) {
  return kFunctionFacts[static_cast<int>(function)];
}

}  // namespace pushdown
