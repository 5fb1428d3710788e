// The columns of the nondeterministic stack (nondeterministic_kernel.h) for numbers of states and
// symbols known at compile time: their places, and the order in which loops read them. For kernel
// files only.
#pragma once
#include "kernel/memory/nondeterministic_kernel.h"
#include "kernel/vector.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Separate code with a window (kLimited) and without one: without it all rows begin with node 0 and
// are found faster.
template <class F, int kQ, int kS, bool kLimited>
struct FixedColumns {
  using Memory = NondeterministicMemory<F>;
  static constexpr int kC = kQ * kS;
  static constexpr Index kL = kLanes<F>;

  // The same as in NondeterministicSize and NondeterministicMemory, with less computation.
  [[gnu::always_inline]] static Index lowest_of(const Memory& m, Index j) {
    return kLimited ? m.size.lowest(j) : 0;
  }
  [[gnu::always_inline]] static Index first_of(const Memory& m, Index j) {
    return lowest_of(m, j) * kC & -kNodePadding;
  }
  [[gnu::always_inline]] static Index end_of(Index j) {
    return (j * kC + kNodePadding - 1) & -kNodePadding;
  }
  [[gnu::always_inline]] static Index row_of(const Memory& m, Index j) {
    return end_of(j) - first_of(m, j);
  }
  [[gnu::always_inline]] static F* column(const Memory& m, F* of, Index j) {
    return of + (1 + m.size.channels) * kC * m.row_start[j];
  }
  [[gnu::always_inline]] static F* at(const Memory& m, F* of, Index j, Index b) {
    return column(m, of, j) + b * row_of(m, j) - first_of(m, j);
  }
  [[gnu::always_inline]] static F* factors_of(const Memory& m, Index j) {
    return m.popped + kQ * m.row_start[j] - first_of(m, j);
  }
  [[gnu::always_inline]] static F* slopes_of(const Memory& m, Index j) {
    return m.popped_gradient - first_of(m, j);
  }

  // Clears everything in rows `row` .. row + kC - 1 of column j except the column's own entries.
  static void trim(const Memory& m, F* of, Index j, Index row) {
    const Index first = first_of(m, j), low = lowest_of(m, j) * kC, end = end_of(j);
    for (int b = 0; b < kC; ++b) {
      F* to = at(m, of, j, row + b);
      if (kLimited) clear(to + first, low - first);
      clear_padding(to, j * kC, end);
    }
  }

  // Returns the size of the columns that the step into node j reads, in bytes.
  [[gnu::always_inline]] static Index history(const Memory& m, Index j) {
    const Index from = kLimited ? m.row_start[m.size.lowest(j)] : 0;
    return m.size.edge_rows() * (m.row_start[j] - from) * static_cast<Index>(sizeof(F));
  }
};

// Calls visit(start) for every kPart-th number from `begin` to before `end`; with kEither, in
// reverse if that is asked for.
template <Index kPart, bool kEither, class Visit>
[[gnu::always_inline]] inline void in_parts(Index begin, Index end, bool reverse, Visit visit) {
  if constexpr (!kEither) {
    for (Index start = begin; start < end; start += kPart) visit(start);
  } else {
    const Index step = reverse ? -kPart : kPart;
    Index start = reverse && begin < end ? begin + (end - begin - 1) / kPart * kPart : begin;
    for (; start >= begin && start < end; start += step) visit(start);
  }
}

// Calls visit<v>() for the v = 0 .. kMost that equals `count`.
template <int kMost, class Visit>
[[gnu::always_inline]] inline void with_count(Index count, Visit visit) {
  if (count >= kMost)
    visit.template operator()<kMost>();
  else if constexpr (kMost > 1)
    with_count<kMost - 1>(count, visit);
}

// Asks for kN vectors, into the second-level cache.
template <int kN, class F>
[[gnu::always_inline]] inline void ask_for(const F* first) {
  for (int v = 0; v < kN; ++v) __builtin_prefetch(first + v * kLanes<F>, 0, 2);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
