// Vectors of the instruction set for which a *.isa.cpp file is compiled, with the compiler's own
// vector types: +, -, * work lane by lane. For kernel files only.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "kernel/isa.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr int kVectorRegisters = 32;
#elif defined(__AVX2__)
inline constexpr int kVectorBytes = 32;
inline constexpr int kVectorRegisters = 16;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr int kVectorRegisters = 16;
#endif

template <class F>
struct VectorOf;
template <>
struct VectorOf<float> {
  typedef float Type __attribute__((vector_size(kVectorBytes)));
  typedef float Unaligned __attribute__((vector_size(kVectorBytes), aligned(4), may_alias));
};
template <>
struct VectorOf<double> {
  typedef double Type __attribute__((vector_size(kVectorBytes)));
  typedef double Unaligned __attribute__((vector_size(kVectorBytes), aligned(8), may_alias));
};

template <class F>
using Vector = typename VectorOf<F>::Type;

template <class F>
inline constexpr std::int64_t kLanes = kVectorBytes / static_cast<int>(sizeof(F));

template <class F>
[[gnu::always_inline]] inline Vector<F> load(const F* from) {
  return *reinterpret_cast<const typename VectorOf<F>::Unaligned*>(from);
}
template <class F>
[[gnu::always_inline]] inline void store(F* to, Vector<F> vector) {
  *reinterpret_cast<typename VectorOf<F>::Unaligned*>(to) = vector;
}
template <class F, std::size_t... kLane>
[[gnu::always_inline]] inline Vector<F> splat(F value, std::index_sequence<kLane...>) {
  return Vector<F>{(static_cast<void>(kLane), value)...};
}
template <class F>
[[gnu::always_inline]] inline Vector<F> splat(F value) {
  return splat(value, std::make_index_sequence<kLanes<F>>{});
}
// Keeps the vector in a register: otherwise a value that is loaded once and used often would be
// loaded for each use.
template <class V>
[[gnu::always_inline]] inline V held(V vector) {
#if defined(__AVX512F__)
  asm("" : "+v"(vector));
#elif defined(__x86_64__)
  asm("" : "+x"(vector));
#endif
  return vector;
}
// Returns the sum of all lanes, halving the width at each step.
[[gnu::always_inline]] inline float sum_of(Vector<float> v) {
  typedef float V4 __attribute__((vector_size(16)));
#if defined(__AVX512F__)
  typedef float V8 __attribute__((vector_size(32)));
  const V8 a = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
               __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
  const V4 b =
      __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
#elif defined(__AVX2__)
  const V4 b =
      __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
#else
  const V4 b = v;
#endif
  const V4 c = b + __builtin_shufflevector(b, b, 2, 3, 0, 1);
  return c[0] + c[1];
}
[[gnu::always_inline]] inline double sum_of(Vector<double> v) {
  typedef double V2 __attribute__((vector_size(16)));
#if defined(__AVX512F__)
  typedef double V4 __attribute__((vector_size(32)));
  const V4 a =
      __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
  const V2 b = __builtin_shufflevector(a, a, 0, 1) + __builtin_shufflevector(a, a, 2, 3);
#elif defined(__AVX2__)
  const V2 b = __builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3);
#else
  const V2 b = v;
#endif
  return b[0] + b[1];
}

// Adds neighbouring groups of kGroup lanes: the groups of the result are the sums over the pairs of
// groups of a, then of b.
template <int kGroup, class V, std::size_t... kLane>
[[gnu::always_inline]] inline V fold(V a, V b, std::index_sequence<kLane...>) {
  constexpr auto kSource = [](std::size_t lane) {
    // The lanes of a and of b are numbered consecutively, and so are their pairs of groups.
    return static_cast<int>(lane / kGroup * 2 * kGroup + lane % kGroup);
  };
  return __builtin_shufflevector(a, b, kSource(kLane)...) +
         __builtin_shufflevector(a, b, (kSource(kLane) + kGroup)...);
}

// Returns the sums of kCount vectors, kCount a power of two up to the number of lanes, in the first
// lanes of the result. A tree of folds takes a third of the work of separate sums.
template <class F, int kCount, int kGroup = static_cast<int>(kLanes<F>) / 2>
[[gnu::always_inline]] inline Vector<F> sums_of(const Vector<F>* vectors) {
  constexpr auto kAll = std::make_index_sequence<kLanes<F>>{};
  if constexpr (kGroup == 0) {
    return vectors[0];
  } else if constexpr (kCount == 1) {
    const Vector<F> folded[1] = {fold<kGroup>(vectors[0], vectors[0], kAll)};
    return sums_of<F, 1, kGroup / 2>(folded);
  } else {
    Vector<F> folded[kCount / 2];
    for (int i = 0; i < kCount / 2; ++i)
      folded[i] = fold<kGroup>(vectors[2 * i], vectors[2 * i + 1], kAll);
    return sums_of<F, kCount / 2, kGroup / 2>(folded);
  }
}

// sums[i] = the sum of the lanes of vectors[i], i = 0 .. kCount-1.
template <class F, int kCount>
[[gnu::always_inline]] inline void store_sums(const Vector<F>* vectors, F* sums) {
  constexpr int kMost = static_cast<int>(kLanes<F>);
  constexpr int kChunk = kCount >= kMost ? kMost
                         : kCount >= 8   ? 8
                         : kCount >= 4   ? 4
                         : kCount >= 2   ? 2
                                         : 1;
  const Vector<F> chunk = sums_of<F, kChunk>(vectors);
  for (int i = 0; i < kChunk; ++i) sums[i] = chunk[i];
  if constexpr (kCount > kChunk) store_sums<F, kCount - kChunk>(vectors + kChunk, sums + kChunk);
}

using Index = std::int64_t;

// Calls visit<0>() .. visit<kCount - 1>(), with compile-time constant indices: arrays of vectors
// indexed by them stay in registers.
template <class Visit, int... kIndex>
[[gnu::always_inline]] inline void unrolled(std::integer_sequence<int, kIndex...>,
                                            [[maybe_unused]] Visit visit) {
  (visit.template operator()<kIndex>(), ...);
}
template <int kCount, class Visit>
[[gnu::always_inline]] inline void unrolled(Visit visit) {
  unrolled(std::make_integer_sequence<int, kCount>{}, visit);
}
#define PUSHDOWN_UNROLLED(index) [&]<int index>() __attribute__((always_inline))

// Returns a mask of the first `count` lanes.
template <class F, std::size_t... kLane>
[[gnu::always_inline]] inline auto first_lanes(Index count, std::index_sequence<kLane...>) {
  return Vector<F>{static_cast<F>(kLane)...} < splat(static_cast<F>(count));
}
template <class F>
[[gnu::always_inline]] inline auto first_lanes(Index count) {
  return first_lanes<F>(count, std::make_index_sequence<kLanes<F>>{});
}

// Transposes rows of whole vectors in place, by exchanging ever larger squares of lanes.
template <int kSquare, class V, std::size_t... kLane>
[[gnu::always_inline]] inline void exchange_squares(V& a, V& b, std::index_sequence<kLane...>) {
  constexpr int kAll = sizeof...(kLane);
  const V left = __builtin_shufflevector(
      a, b, ((kLane & kSquare) == 0 ? int(kLane) : kAll + int(kLane) - kSquare)...);
  b = __builtin_shufflevector(
      a, b, ((kLane & kSquare) == 0 ? int(kLane) + kSquare : kAll + int(kLane))...);
  a = left;
}
template <class F, int kSquare = 1>
[[gnu::always_inline]] inline void transpose(Vector<F> (&rows)[kLanes<F>]) {
  if constexpr (kSquare < kLanes<F>) {
    unrolled<static_cast<int>(kLanes<F>)>(PUSHDOWN_UNROLLED(r) {
      if constexpr ((r & kSquare) == 0)
        exchange_squares<kSquare>(rows[r], rows[r + kSquare],
                                  std::make_index_sequence<kLanes<F>>{});
    });
    transpose<F, 2 * kSquare>(rows);
  }
}

template <class F>
void copy(F* to, const F* from, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = from[i];
}
template <class F>
void clear(F* to, Index count) {
  for (Index i = 0; i < count; ++i) to[i] = 0;
}
template <class F>
void add(F* to, const F* from, Index count) {
  for (Index i = 0; i < count; ++i) to[i] += from[i];
}
template <class F>
void add_scaled(F* to, const F* from, F factor, Index count) {
  for (Index i = 0; i < count; ++i) to[i] += factor * from[i];
}
template <class F>
F dot(const F* a, const F* b, Index count) {
  Vector<F> sums = {};
  Index i = 0;
  for (; i + kLanes<F> <= count; i += kLanes<F>) sums += load(a + i) * load(b + i);
  F sum = sum_of(sums);
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
