// Integers, addresses, bits and predicates.
#include <algorithm>

#include "gpu/simulator/operations.h"

namespace pushdown::gpu_simulator::operations {
namespace {

using U32 = std::uint32_t;
using U64 = std::uint64_t;
using I32 = std::int32_t;
using I64 = std::int64_t;

I32 as_signed(U32 x) { return static_cast<I32>(x); }
U64 sign_extended(U32 x) { return static_cast<U64>(I64{as_signed(x)}); }
U32 low(U64 x) { return static_cast<U32>(x); }
U32 high(U64 x) { return static_cast<U32>(x >> 32); }

// A summand with room for carries: -a is ~a and 1.
Lanes<U64> summand(const Execution& e, std::size_t k) {
  const Operand& operand = e.operand(k);
  const bool negated = operand.negative && operand.kind != OperandKind::immediate;
  const bool complement = operand.inverted != negated;
  return map_lanes([=](U32 x) { return U64{complement ? ~x : x} + (negated ? 1 : 0); }, e.raw(k));
}
Lanes<U64> carry_in(const Execution& e, std::size_t k) {
  const Mask mask = k < e.operands() ? e.predicate(k) : 0;
  Lanes<U64> result;
  for (int i = 0; i < kLanes; ++i) result[i] = mask >> i & 1;
  return result;
}
Lanes<U64> plus(const Lanes<U64>& a, const Lanes<U64>& b) {
  return map_lanes([](U64 x, U64 y) { return x + y; }, a, b);
}
Lanes<U32> lows(const Lanes<U64>& numbers) {
  return map_lanes([](U64 x) { return low(x); }, numbers);
}
Mask carries(const Lanes<U64>& sums, U32 least = 1) {
  return lanes_where([=](U64 x) { return high(x) >= least; }, sums);
}

// The index of the first operand that is not a predicate, from 1.
std::size_t after_carries(const Execution& e) {
  std::size_t k = 1;
  while (e.operand(k).is_predicate()) ++k;
  return k;
}

bool is_unsigned(const Execution& e) { return e.has(Modifier::u32); }

// Returns a minimum where the mask is set, else a maximum.
Lanes<U32> extremes(const Lanes<U32>& a, const Lanes<U32>& b, Mask minimum, bool of_unsigned) {
  Lanes<U32> result;
  for (int i = 0; i < kLanes; ++i) {
    const bool less = of_unsigned ? a[i] < b[i] : as_signed(a[i]) < as_signed(b[i]);
    result[i] = less == static_cast<bool>(minimum >> i & 1) ? a[i] : b[i];
  }
  return result;
}

Mask combined(const Execution& e, Mask result, Mask other) {
  if (e.has(Modifier::and_)) return result & other;
  if (e.has(Modifier::or_)) return result | other;
  if (e.has(Modifier::xor_)) return result ^ other;
  e.fail("no AND, OR or XOR");
}

}  // namespace

void move(Execution& e) { e.put(0, e.bits(1)); }

void add_three(Execution& e) {
  const std::size_t a = after_carries(e);
  Lanes<U64> sum = plus(plus(summand(e, a), summand(e, a + 1)), summand(e, a + 2));
  if (e.has(Modifier::x)) sum = plus(plus(sum, carry_in(e, a + 3)), carry_in(e, a + 4));
  e.put(0, lows(sum));
  for (std::size_t k = 1; k < a; ++k) e.put_predicate(k, carries(sum, static_cast<U32>(k)));
}

void add_two(Execution& e) {
  e.put(0, map_lanes([](U32 x, U32 y) { return x + y; }, e.bits(1), e.bits(2)));
}

void multiply_add(Execution& e) {
  const std::size_t a = after_carries(e);
  const auto x = e.bits(a), y = e.bits(a + 1);
  if (!e.has(Modifier::wide) && !e.has(Modifier::hi)) {
    const auto product = map_lanes([](U32 p, U32 q) { return U64{p * q}; }, x, y);
    Lanes<U64> sum = plus(product, map_lanes([](U32 c) { return U64{c}; }, e.bits(a + 2)));
    if (e.has(Modifier::x)) sum = plus(sum, carry_in(e, a + 3));
    e.put(0, lows(sum));
    if (a > 1) e.put_predicate(1, carries(sum));
    return;
  }
  const auto product =
      is_unsigned(e)
          ? map_lanes([](U32 p, U32 q) { return U64{p} * q; }, x, y)
          : map_lanes(
                [](U32 p, U32 q) { return static_cast<U64>(I64{as_signed(p)} * as_signed(q)); }, x,
                y);
  const Lanes<U64> sum = plus(product, e.wide_bits(a + 2));
  if (e.has(Modifier::hi))
    e.put(0, map_lanes([](U64 n) { return high(n); }, sum));
  else
    e.put_wide(0, sum);
  if (a > 1) e.put_predicate(1, lanes_where([](U64 s, U64 p) { return s < p; }, sum, product));
}

void shift_add(Execution& e) {
  const std::size_t a = after_carries(e);
  std::size_t k = a + 2;
  Lanes<U64> scaled;
  if (!e.has(Modifier::hi)) {
    const auto shift = e.raw(k++);
    scaled = map_lanes([](U32 x, U32 by) { return U64{x << (by & 31)}; }, e.bits(a), shift);
  } else {
    Lanes<U64> whole;
    if (e.has(Modifier::sx32)) {
      whole = map_lanes([](U32 x) { return sign_extended(x); }, e.bits(a));
    } else {
      whole = map_lanes([](U32 x, U32 h) { return U64{x} | U64{h} << 32; }, e.raw(a), e.raw(k++));
      if (e.operand(a).negative)
        for (U64& number : whole) number = 0 - number;
    }
    const auto shift = e.raw(k++);
    scaled = map_lanes([](U64 x, U32 by) { return U64{high(x << (by & 31))}; }, whole, shift);
  }
  Lanes<U64> sum = plus(scaled, summand(e, a + 1));
  if (e.has(Modifier::x)) sum = plus(sum, carry_in(e, k));
  e.put(0, lows(sum));
  if (a > 1) e.put_predicate(1, carries(sum));
}

void absolute(Execution& e) {
  e.put(0, map_lanes([](U32 x) { return as_signed(x) < 0 ? 0 - x : x; }, e.bits(1)));
}

void extend_sign(Execution& e) {
  e.put(0, map_lanes(
               [&](U32 x, U32 bits) {
                 if (bits >= 32) return x;
                 const U32 kept = x & ((U32{1} << bits) - 1);
                 const bool negative = !is_unsigned(e) && bits > 0 && (kept >> (bits - 1) & 1) != 0;
                 return negative ? kept - (U32{1} << bits) : kept;
               },
               e.bits(1), e.bits(2)));
}

void extreme(Execution& e) {
  e.put(0, extremes(e.bits(1), e.bits(2), e.predicate(3), is_unsigned(e)));
}
void extreme_of_sum(Execution& e) {
  const auto sum = map_lanes([](U32 x, U32 y) { return x + y; }, e.bits(1), e.bits(2));
  e.put(0, extremes(sum, e.bits(3), e.predicate(4), is_unsigned(e)));
}

void choose(Execution& e) {
  const Mask mask = e.predicate(3);
  Lanes<U32> result = e.bits(2);
  const auto chosen = e.bits(1);
  for (int i = 0; i < kLanes; ++i) result[i] = mask >> i & 1 ? chosen[i] : result[i];
  e.put(0, result);
}

// The type tells how many bits are shifted, and HI which half of the result is wanted.
void funnel_shift(Execution& e) {
  const bool left = e.has(Modifier::l), upper = e.has(Modifier::hi);
  const bool is_signed = e.has(Modifier::s32) || e.has(Modifier::s64);
  const bool whole = e.has(Modifier::u64) || e.has(Modifier::s64);
  if (left == e.has(Modifier::r) || (whole && upper && !left))
    e.fail("this shift is not simulated");
  const auto shifted = [=](U32 lower, U32 by, U32 above) -> U32 {
    const U64 both = lower | U64{above} << 32;
    if (left) {
      if (!whole && !upper) return by < 32 ? lower << by : 0;
      if (by >= 64) return 0;
      return upper ? high(both << by) : low(both << by);
    }
    if (whole)
      return is_signed ? low(static_cast<U64>(static_cast<I64>(both) >> std::min(by, 63u)))
                       : (by < 64 ? low(both >> by) : 0);
    const U32 from = upper ? above : lower;
    if (is_signed) return static_cast<U32>(as_signed(from) >> std::min(by, 31u));
    return by < 32 ? from >> by : 0;
  };
  e.put(0, map_lanes(shifted, e.raw(1), e.raw(2), e.raw(3)));
}

void logic(Execution& e) {
  const std::size_t to = e.operand(0).is_predicate() ? 1 : 0;
  const U32 table = e.operand(to + 4).bits;
  const auto function = [=](U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (U32 row = 0; row < 8; ++row)
      if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    return result;
  };
  const auto result = map_lanes(function, e.bits(to + 1), e.bits(to + 2), e.bits(to + 3));
  e.put(to, result);
  if (to == 1)
    e.put_predicate(0, lanes_where([](U32 x) { return x != 0; }, result) | e.predicate(6));
}

void predicate_logic(Execution& e) {
  const Mask a = e.predicate(2), b = e.predicate(3), c = e.predicate(4);
  for (const std::size_t k : {0u, 1u}) {
    const U32 table = e.operand(5 + k).bits;
    Mask result = 0;
    for (U32 row = 0; row < 8; ++row)
      if (table >> row & 1) result |= (row & 4 ? a : ~a) & (row & 2 ? b : ~b) & (row & 1 ? c : ~c);
    e.put_predicate(k, result);
  }
}

void compare_integers(Execution& e) {
  const auto a = e.bits(2), b = e.bits(3);
  const Mask equal = lanes_where([](U32 x, U32 y) { return x == y; }, a, b);
  const Mask less =
      is_unsigned(e) ? lanes_where([](U32 x, U32 y) { return x < y; }, a, b)
                     : lanes_where([](U32 x, U32 y) { return as_signed(x) < as_signed(y); }, a, b);
  const Mask greater = ~less & ~equal;
  // The comparison of the lower words decides if the upper words are equal.
  const bool extended = e.has(Modifier::ex);
  const Mask lower = extended ? e.predicate(5) : 0;
  Mask result = 0;
  switch (e.instruction.comparison) {
    case Comparison::lt: result = less | (equal & lower); break;
    case Comparison::le: result = less | (equal & (extended ? lower : kAllLanes)); break;
    case Comparison::gt: result = greater | (equal & lower); break;
    case Comparison::ge: result = greater | (equal & (extended ? lower : kAllLanes)); break;
    case Comparison::eq: result = equal & (extended ? lower : kAllLanes); break;
    case Comparison::ne: result = ~equal | lower; break;
    default: e.fail("no comparison of integers");
  }
  const Mask other = e.predicate(4);
  const Mask first = combined(e, result, other), second = combined(e, ~result, other);
  e.put_predicate(0, first);
  e.put_predicate(1, second);
}

void permute_bytes(Execution& e) {
  const auto permuted = [](U32 a, U32 selectors, U32 b) {
    const U64 bytes = a | U64{b} << 32;
    U32 result = 0;
    for (U32 k = 0; k < 4; ++k) {
      const U32 selector = selectors >> (4 * k) & 15;
      U32 byte = static_cast<U32>(bytes >> (8 * (selector & 7))) & 255;
      if (selector & 8) byte = byte & 128 ? 255 : 0;  // its sign
      result |= byte << (8 * k);
    }
    return result;
  };
  e.put(0, map_lanes(permuted, e.raw(1), e.raw(2), e.raw(3)));
}

void predicates_to_register(Execution& e) {
  const U32 wanted = e.operand(3).bits;
  Lanes<U32> result = e.raw(2);
  for (int i = 0; i < kLanes; ++i) {
    U32 all = 0;
    for (std::size_t k = 0; k < kTruePredicate; ++k) all |= (e.warp.predicates[k] >> i & 1) << k;
    result[i] = (result[i] & ~wanted) | (all & wanted);
  }
  e.put(0, result);
}

void register_to_predicates(Execution& e) {
  const auto from = e.raw(1);
  for (std::size_t k = 0; k < kTruePredicate; ++k) {
    if ((e.operand(2).bits >> k & 1) == 0) continue;
    const Mask set = lanes_where([=](U32 x) { return (x >> k & 1) != 0; }, from);
    e.warp.predicates[k] = (e.warp.predicates[k] & ~e.active) | (set & e.active);
  }
}

void count_bits(Execution& e) {
  e.put(0, map_lanes([](U32 x) { return static_cast<U32>(std::popcount(x)); }, e.bits(1)));
}

}  // namespace pushdown::gpu_simulator::operations
