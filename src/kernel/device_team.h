// The programming model of the CUDA kernels: step functions for a team of threads that work on one
// sequence. On the device, a team is a block. Tests of grammars and array programs run the same
// source with CPU threads or with a team of one (tests/support/thread_team.h), those of recorded
// steps with the replacement for the CUDA runtime (tests/cuda).
//
// A Team has
//   id(), size()       of this thread; of the team
//   sync()             a barrier: writes before it are visible after it
//   lane(), lanes()    the team consists of groups of `lanes` threads each: a warp on the device
//   group(), groups()
//   group_sum(value)   the sum over a group, for all of its threads, which must all call it; its
//                      order depends only on `lanes`
//   group_greatest(value)
// and a team of printed code (kernel/step/device_pieces.h) instead of the last one
//   part()             of a group: 8 threads
//   part_sum(value)    as group_sum(), over a part
// Every thread of a team calls every function below with the same arguments.
#pragma once
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernel/memory/memory_shape.h"

#ifdef __CUDACC__
#define PUSHDOWN_DEVICE __device__
#define PUSHDOWN_NOINLINE __noinline__
#define PUSHDOWN_HOST_DEVICE __host__ __device__ inline
#define PUSHDOWN_UNROLL _Pragma("unroll")
#define PUSHDOWN_UNROLL_SOME _Pragma("unroll 4")
#else
#define PUSHDOWN_DEVICE
#define PUSHDOWN_NOINLINE [[gnu::noinline]]
#define PUSHDOWN_HOST_DEVICE inline
#define PUSHDOWN_UNROLL _Pragma("GCC unroll 4")
#define PUSHDOWN_UNROLL_SOME
#endif

namespace pushdown::device {

// For indices within one sequence, if 32 bits are enough: 64-bit indices take more registers and
// instructions. Sizes use Count and are at most kMostNumbers.
using Index = std::int32_t;
using Count = std::int64_t;
inline constexpr Count kMostNumbers = (Count{1} << 30) - 1;  // larger values can serve as marks

// Calls body(i) for i = 0 .. count-1. Thread i mod size takes i, here and wherever a number has an
// owner.
template <class Team, class Body>
PUSHDOWN_DEVICE void each(const Team& team, Index count, const Body& body) {
  for (Index i = team.id(); i < count; i += team.size()) body(i);
}
template <class Team, class Body>
PUSHDOWN_DEVICE void each(const Team& team, Count count, const Body& body) {
  for (Count i = team.id(); i < count; i += team.size()) body(i);
}

// Calls store(row, sum_{i < length(row)} term(row)(i)) for each row, once, by one thread.
template <class F, class Number = Index, class Team, class Length, class Term, class Store>
PUSHDOWN_DEVICE void sums(const Team& team, std::type_identity_t<Number> rows, const Length& length,
                          const Term& term, const Store& store) {
  for (Number row = team.group(); row < rows; row += team.groups()) {
    F sum = 0;
    const Number count = length(row);
    const auto of_row = term(row);
    for (Number i = team.lane(); i < count; i += team.lanes()) sum += of_row(i);
    sum = team.group_sum(sum);
    if (team.lane() == 0) store(row, sum);
  }
}

// Returns 0 below the range of normal numbers, as vector_exp() of the CPU.
template <class F>
PUSHDOWN_DEVICE F exponential(F x) {
  return x < (sizeof(F) == sizeof(float) ? F(-87) : F(-708)) ? F(0) : std::exp(x);
}
template <class F>
PUSHDOWN_DEVICE F sigmoid(F x) {
  return F(1) / (F(1) + std::exp(-x));
}

// The memory of a stack for one sequence of T steps.
template <class F>
struct StackMemory {
  F* tape;          // kept from the forward to the backward pass
  F* scratch;       // of one pass
  F* fast;          // scratch that is small and in fast memory
  F* readings;      // T x R; the stack writes them
  const F* bottom;  // m, for the vector nondeterministic stack
};

}  // namespace pushdown::device
