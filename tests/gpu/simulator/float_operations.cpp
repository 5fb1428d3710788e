// Floating-point numbers.
#include <algorithm>
#include <cfenv>
#include <cmath>
#include <limits>

#include "gpu/simulator/operations.h"

namespace pushdown::gpu_simulator::operations {
namespace {

// Calls an action while results are rounded as the modifiers tell.
template <class Action>
void with_rounding(const Execution& e, const Action& action) {
  const int mode = e.has(Modifier::rm)   ? FE_DOWNWARD
                   : e.has(Modifier::rp) ? FE_UPWARD
                   : e.has(Modifier::rz) ? FE_TOWARDZERO
                                         : FE_TONEAREST;
  if (mode != FE_TONEAREST) std::fesetround(mode);
  action();
  if (mode != FE_TONEAREST) std::fesetround(FE_TONEAREST);
}

void flush(Lanes<float>& numbers) {
  for (float& x : numbers)
    if (std::fabs(x) < std::numeric_limits<float>::min()) x = std::copysign(0.0f, x);
}
Lanes<float> input(const Execution& e, std::size_t k) {
  Lanes<float> numbers = e.floats(k);
  if (e.has(Modifier::ftz)) flush(numbers);
  return numbers;
}
void put_result(const Execution& e, const Lanes<float>& result) {
  Lanes<float> numbers = result;
  if (e.has(Modifier::ftz)) flush(numbers);
  if (e.has(Modifier::sat))
    for (float& x : numbers) x = x > 0 ? std::min(x, 1.0f) : 0.0f;  // also for NaN
  e.put(0, numbers);
}

Mask compared(const Execution& e, const Lanes<float>& a, const Lanes<float>& b) {
  const auto where = [&](auto&& relation) { return lanes_where(relation, a, b); };
  const Mask unordered = where([](float x, float y) { return std::isunordered(x, y); });
  const Mask less = where([](float x, float y) { return x < y; });
  const Mask greater = where([](float x, float y) { return x > y; });
  const Mask equal = where([](float x, float y) { return x == y; });
  switch (e.instruction.comparison) {
    case Comparison::lt: return less;
    case Comparison::le: return less | equal;
    case Comparison::gt: return greater;
    case Comparison::ge: return greater | equal;
    case Comparison::eq: return equal;
    case Comparison::ne: return less | greater;
    case Comparison::ltu: return less | unordered;
    case Comparison::leu: return less | equal | unordered;
    case Comparison::gtu: return greater | unordered;
    case Comparison::geu: return greater | equal | unordered;
    case Comparison::equ: return equal | unordered;
    case Comparison::neu: return ~equal;
    case Comparison::number: return ~unordered;
    case Comparison::nan: return unordered;
    case Comparison::none: break;
  }
  e.fail("no comparison");
}
Mask combined_with(const Execution& e, Mask result, Mask other) {
  return e.has(Modifier::or_)    ? result | other
         : e.has(Modifier::xor_) ? result ^ other
                                 : result & other;
}

std::uint32_t half_bits(float x) {
  constexpr int kBias = 15, kFraction = 10;
  const std::uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  x = std::fabs(x);
  if (x < std::ldexp(1.0f, 1 - kBias))
    return sign | static_cast<std::uint32_t>(std::ldexp(x, kBias - 1 + kFraction));
  const int exponent = std::ilogb(x);
  const float fraction = std::ldexp(x, -exponent) - 1;
  return sign | static_cast<std::uint32_t>(exponent + kBias) << kFraction |
         static_cast<std::uint32_t>(std::ldexp(fraction, kFraction));
}

}  // namespace

void float_add(Execution& e) {
  const auto a = input(e, 1), b = input(e, 2);
  Lanes<float> result;
  with_rounding(e, [&] {
    for (int i = 0; i < kLanes; ++i) {
      const volatile float x = a[i];  // computed while the rounding is set
      result[i] = x + b[i];
    }
  });
  put_result(e, result);
}
void float_multiply(Execution& e) {
  put_result(e, map_lanes([](float x, float y) { return x * y; }, input(e, 1), input(e, 2)));
}

void float_multiply_add(Execution& e) {
  const auto a = input(e, 1), b = input(e, 2), c = input(e, 3);
  Lanes<float> result;
  with_rounding(e, [&] {
    for (int i = 0; i < kLanes; ++i) {
      const volatile float x = a[i];  // computed while the rounding is set
      result[i] = std::fma(x, b[i], c[i]);
    }
  });
  put_result(e, result);
}

void float_extreme(Execution& e) {
  const auto a = input(e, 1), b = input(e, 2);
  const Mask minimum = e.predicate(3);
  Lanes<float> result;
  for (int i = 0; i < kLanes; ++i) {
    if (e.has(Modifier::nan) && std::isunordered(a[i], b[i]))
      result[i] = std::numeric_limits<float>::quiet_NaN();
    else
      result[i] = minimum >> i & 1 ? std::fmin(a[i], b[i]) : std::fmax(a[i], b[i]);
  }
  put_result(e, result);
}

void float_choose(Execution& e) {
  const Mask mask = e.predicate(3);
  Lanes<float> result = input(e, 2);
  const auto chosen = input(e, 1);
  for (int i = 0; i < kLanes; ++i) result[i] = mask >> i & 1 ? chosen[i] : result[i];
  put_result(e, result);
}

void float_compare(Execution& e) {
  const Mask result = compared(e, input(e, 2), input(e, 3)), other = e.predicate(4);
  e.put_predicate(0, combined_with(e, result, other));
  e.put_predicate(1, combined_with(e, ~result, other));
}

void float_indicate(Execution& e) {
  const Mask result = combined_with(e, compared(e, input(e, 1), input(e, 2)), e.predicate(3));
  const std::uint32_t yes = e.has(Modifier::bf) ? std::bit_cast<std::uint32_t>(1.0f) : 0xffffffffu;
  Lanes<std::uint32_t> numbers;
  for (int i = 0; i < kLanes; ++i) numbers[i] = result >> i & 1 ? yes : 0;
  e.put(0, numbers);
}

// Whether a / b needs the slow path, because an exponent is near the end of its range.
void check_quotient(Execution& e) {
  const auto exponent = [](float x) {
    return static_cast<int>(std::bit_cast<std::uint32_t>(x) >> 23 & 255);
  };
  const auto slow = [&](float a, float b) {
    const int p = exponent(a), q = exponent(b);
    if (q == 0 || q >= 253 || p == 255) return true;
    if (p == 0) return a != 0;
    return p <= 24 || p - q >= 126 || q - p >= 126;
  };
  e.put_predicate(0, lanes_where(slow, e.floats(1), e.floats(2)));
}

void special_function(Execution& e) {
  const auto x = e.floats(1);
  const auto put = [&](auto&& function) { e.put(0, map_lanes(function, x)); };
  if (e.has(Modifier::rcp)) return put([](float a) { return 1 / a; });
  if (e.has(Modifier::ex2)) return put([](float a) { return std::exp2(a); });
  if (e.has(Modifier::lg2)) return put([](float a) { return std::log2(a); });
  if (e.has(Modifier::rsq)) return put([](float a) { return 1 / std::sqrt(a); });
  if (e.has(Modifier::sqrt)) return put([](float a) { return std::sqrt(a); });
  if (e.has(Modifier::tanh)) return put([](float a) { return std::tanh(a); });
  e.fail("no function");
}

// The compiler uses a product of zeros to write a constant.
void half_constant(Execution& e) {
  for (const std::size_t k : {1u, 2u})
    if (e.operand(k).kind != OperandKind::vector || e.operand(k).index != kZeroRegister)
      e.fail("arithmetic of halves is not simulated");
  const auto half = [&](std::size_t k) {
    return half_bits(std::bit_cast<float>(e.operand(k).bits));
  };
  e.put(0, broadcast(half(3) << 16 | half(4)));
}

void integer_to_float(Execution& e) {
  Lanes<float> result;
  with_rounding(e, [&] {
    const auto convert = [&](const auto& numbers, auto type) {
      for (int i = 0; i < kLanes; ++i) {
        const volatile decltype(type) number = static_cast<decltype(type)>(numbers[i]);
        result[i] = static_cast<float>(number);
      }
    };
    if (e.has(Modifier::u64))
      convert(e.wide_bits(1), std::uint64_t{});
    else if (e.has(Modifier::s64))
      convert(e.wide_bits(1), std::int64_t{});
    else if (e.has(Modifier::u32))
      convert(e.bits(1), std::uint32_t{});
    else
      convert(e.bits(1), std::int32_t{});
  });
  e.put(0, result);
}

void float_to_integer(Execution& e) {
  const auto whole = map_lanes(
      [&](float x) {
        return static_cast<double>(e.has(Modifier::trunc) ? std::trunc(x) : std::nearbyint(x));
      },
      input(e, 1));
  // Out of range is the nearest number, NaN is zero.
  const auto clamped = [](double x, auto least, auto most) {
    using Integer = decltype(most);
    if (std::isnan(x)) return Integer{0};
    if (x <= static_cast<double>(least)) return Integer{least};
    return x >= static_cast<double>(most) ? most : static_cast<Integer>(x);
  };
  const auto bits = [](auto number) { return static_cast<std::uint64_t>(number); };
  if (e.has(Modifier::u64)) {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    e.put_wide(0, map_lanes([&](double x) { return clamped(x, std::uint64_t{0}, kMost); }, whole));
  } else if (e.has(Modifier::u32)) {
    constexpr auto kMost = std::numeric_limits<std::uint32_t>::max();
    e.put(0, map_lanes([&](double x) { return clamped(x, std::uint32_t{0}, kMost); }, whole));
  } else {
    using Limits = std::numeric_limits<std::int32_t>;
    e.put(0,
          map_lanes(
              [&](double x) {
                return static_cast<std::uint32_t>(bits(clamped(x, Limits::min(), Limits::max())));
              },
              whole));
  }
}

void float_to_float(Execution& e) {
  if (!e.has(Modifier::f32) || !e.has(Modifier::f64)) e.fail("this conversion is not simulated");
  e.put(0, map_lanes([](std::uint64_t x) { return static_cast<float>(std::bit_cast<double>(x)); },
                     e.wide_bits(1)));
}

void round_float(Execution& e) {
  put_result(
      e,
      map_lanes([&](float x) { return e.has(Modifier::trunc) ? std::trunc(x) : std::nearbyint(x); },
                input(e, 1)));
}

}  // namespace pushdown::gpu_simulator::operations
