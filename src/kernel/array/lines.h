// The instructions of array programs that work along the last dimension (ArrayKind), one row each:
// everything that is particular to one of them is here. As in functions.h, there is one source for
// the CPU's kernels, which process whole lines, and for teams of threads, in which a thread
// computes one number.
//
// Letters: x is a line of n numbers, y its result, one number or n of them, and g the gradient of
// y; dx(i) is the derivative of x_i along a direction.
#pragma once
#include "kernel/array/functions.h"

namespace pushdown::PUSHDOWN_ARRAY_NAMESPACE {

template <class F>
struct Line {
  F* first;
  std::int64_t step;
  PUSHDOWN_DEVICE F& operator[](Index i) const { return first[i * step]; }
};

template <class F, class Term>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline F sum_below(Index end, const Term& term) {
  F sum = 0;
  for (Index i = 0; i < end; ++i) sum += term(i);
  return sum;
}
template <class F>
PUSHDOWN_DEVICE inline F greatest_of(Line<F> x, Index n) {
  F greatest = x[0];
  for (Index i = 1; i < n; ++i) greatest = x[i] > greatest ? x[i] : greatest;
  return greatest;
}
template <class F>
PUSHDOWN_DEVICE inline bool is_finite(F x) {
  return x - x == 0;
}
template <class F>
PUSHDOWN_DEVICE inline F logsumexp_of(Line<F> x, Index n) {
  const F greatest = greatest_of(x, n);
  const F shift = is_finite(greatest) ? greatest : F(0);  // infinities have no difference
  return shift + array_log(sum_below<F>(n, [&](Index i) { return number_exp(x[i] - shift); }));
}

// A row has
//   number(x, n, own)               number `own` of the result
//   common(x, y, g, n)              what all gradients have in common
//   slope(common, x, y, g, n, own)  the gradient of x_own
//   tangent(x, y, dx, n, own)       the derivative of number `own` along a direction
// and, where the numbers of a line are cheaper together,
//   line(x, y, n), add_slopes(to, x, y, g, n)
template <ArrayKind>
struct LineRow;

struct LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F common(Line<F>, Line<F>, Line<F>, Index) {
    return 0;
  }
};

template <>
struct LineRow<ArrayKind::sum> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index) {
    return x.step == 1 ? array_sum(x.first, n) : sum_below<F>(n, [&](Index i) { return x[i]; });
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F, Line<F>, Line<F>, Line<F> g, Index, Index) {
    return g[0];
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F>, Line<F>, const Direction& dx, Index n, Index) {
    return sum_below<F>(n, dx);
  }
};

template <>
struct LineRow<ArrayKind::product> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index) {
    F product = 1;
    for (Index i = 0; i < n; ++i) product *= x[i];
    return product;
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F, Line<F> x, Line<F>, Line<F> g, Index n, Index own) {
    F others = g[0];
    for (Index i = 0; i < n; ++i)
      if (i != own) others *= x[i];
    return others;
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F> x, Line<F>, const Direction& dx, Index n, Index) {
    return sum_below<F>(n, [&](Index i) {
      F others = dx(i);
      for (Index j = 0; j < n; ++j)
        if (j != i) others *= x[j];
      return others;
    });
  }
};

// The first of the greatest numbers, or of the least ones, gets the gradient.
template <bool kLeast>
struct ExtremeRow : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static Index place(Line<F> x, Index n) {
    Index best = 0;
    for (Index i = 1; i < n; ++i)
      if (kLeast ? x[i] < x[best] : x[i] > x[best]) best = i;
    return best;
  }
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index) {
    return x[place(x, n)];
  }
  template <class F>
  PUSHDOWN_DEVICE static Index common(Line<F> x, Line<F>, Line<F>, Index n) {
    return place(x, n);
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(Index best, Line<F>, Line<F>, Line<F> g, Index, Index own) {
    return own == best ? g[0] : F(0);
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F> x, Line<F>, const Direction& dx, Index n, Index) {
    return dx(place(x, n));
  }
};
template <>
struct LineRow<ArrayKind::greatest> : ExtremeRow<false> {};
template <>
struct LineRow<ArrayKind::least> : ExtremeRow<true> {};

template <>
struct LineRow<ArrayKind::logsumexp> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index) {
    return logsumexp_of(x, n);
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F, Line<F> x, Line<F> y, Line<F> g, Index, Index own) {
    return g[0] * number_exp(x[own] - y[0]);
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F> x, Line<F> y, const Direction& dx, Index n, Index) {
    return sum_below<F>(n, [&](Index i) { return number_exp(x[i] - y[0]) * dx(i); });
  }
};

template <>
struct LineRow<ArrayKind::softmax> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index own) {
    const F greatest = greatest_of(x, n);
    return number_exp(x[own] - greatest) /
           sum_below<F>(n, [&](Index i) { return number_exp(x[i] - greatest); });
  }
  template <class F>
  PUSHDOWN_DEVICE static void line(Line<F> x, Line<F> y, Index n) {
    const F greatest = greatest_of(x, n);
    const F sum = sum_below<F>(n, [&](Index i) { return y[i] = number_exp(x[i] - greatest); });
    for (Index i = 0; i < n; ++i) y[i] /= sum;
  }
  template <class F>
  PUSHDOWN_DEVICE static F common(Line<F>, Line<F> y, Line<F> g, Index n) {
    return sum_below<F>(n, [&](Index i) { return g[i] * y[i]; });
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F mean, Line<F>, Line<F> y, Line<F> g, Index, Index own) {
    return y[own] * (g[own] - mean);
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F>, Line<F> y, const Direction& dx, Index n, Index own) {
    return y[own] * (dx(own) - sum_below<F>(n, [&](Index i) { return y[i] * dx(i); }));
  }
};

template <>
struct LineRow<ArrayKind::log_softmax> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index n, Index own) {
    return x[own] - logsumexp_of(x, n);
  }
  template <class F>
  PUSHDOWN_DEVICE static void line(Line<F> x, Line<F> y, Index n) {
    const F shift = logsumexp_of(x, n);
    for (Index i = 0; i < n; ++i) y[i] = x[i] - shift;
  }
  template <class F>
  PUSHDOWN_DEVICE static F common(Line<F>, Line<F>, Line<F> g, Index n) {
    return sum_below<F>(n, [&](Index i) { return g[i]; });
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F sum, Line<F>, Line<F> y, Line<F> g, Index, Index own) {
    return g[own] - number_exp(y[own]) * sum;
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F>, Line<F> y, const Direction& dx, Index n, Index own) {
    return dx(own) - sum_below<F>(n, [&](Index i) { return number_exp(y[i]) * dx(i); });
  }
};

template <>
struct LineRow<ArrayKind::running_sum> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index, Index own) {
    return sum_below<F>(own + 1, [&](Index i) { return x[i]; });
  }
  template <class F>
  PUSHDOWN_DEVICE static void line(Line<F> x, Line<F> y, Index n) {
    F sum = 0;
    for (Index i = 0; i < n; ++i) y[i] = sum += x[i];
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F, Line<F>, Line<F>, Line<F> g, Index n, Index own) {
    return sum_below<F>(n - own, [&](Index i) { return g[own + i]; });
  }
  template <class F>
  PUSHDOWN_DEVICE static void add_slopes(Line<F> to, Line<F>, Line<F>, Line<F> g, Index n) {
    F sum = 0;
    for (Index i = n; i-- > 0;) to[i] += sum += g[i];
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F>, Line<F>, const Direction& dx, Index, Index own) {
    return sum_below<F>(own + 1, dx);
  }
};

template <>
struct LineRow<ArrayKind::running_product> : LineDefaults {
  template <class F>
  PUSHDOWN_DEVICE static F number(Line<F> x, Index, Index own) {
    return LineRow<ArrayKind::product>::number(x, own + 1, 0);
  }
  template <class F>
  PUSHDOWN_DEVICE static void line(Line<F> x, Line<F> y, Index n) {
    F product = 1;
    for (Index i = 0; i < n; ++i) y[i] = product *= x[i];
  }
  template <class F>
  PUSHDOWN_DEVICE static F slope(F, Line<F> x, Line<F>, Line<F> g, Index n, Index own) {
    // Products of all factors but one, so that zeros cause no division by zero.
    F before = LineRow<ArrayKind::product>::number(x, own, 0);
    return sum_below<F>(n - own, [&](Index i) {
      if (i > 0) before *= x[own + i];
      return before * g[own + i];
    });
  }
  template <class F, class Direction>
  PUSHDOWN_DEVICE static F tangent(Line<F> x, Line<F> y, const Direction& dx, Index, Index own) {
    return LineRow<ArrayKind::product>::tangent(x, y, dx, own + 1, 0);
  }
};

// Returns visit(row) for the row of a kind.
template <class Visit>
[[gnu::always_inline]] PUSHDOWN_DEVICE inline auto with_line(ArrayKind kind, const Visit& visit) {
  switch (kind) {
#define PUSHDOWN_LINE_CASE(name, ...) \
  case ArrayKind::name: return visit(LineRow<ArrayKind::name>());
    PUSHDOWN_LINES(PUSHDOWN_LINE_CASE)
#undef PUSHDOWN_LINE_CASE
    default: return visit(LineRow<ArrayKind::sum>());
  }
}

}  // namespace pushdown::PUSHDOWN_ARRAY_NAMESPACE
