// Whole lines of an array program on the CPU (lines.h). For kernel files only.
#pragma once
#include "kernel/array/lines.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// The result of a whole line, and what it adds to the gradient of x.
template <class F>
PUSHDOWN_NOINLINE void line_values(ArrayKind kind, Line<F> x, Line<F> y, Index n) {
  with_line(kind, [&](auto row) {
    if constexpr (requires { row.line(x, y, n); })
      row.line(x, y, n);
    else
      y[0] = row.number(x, n, 0);
  });
}
template <class F>
PUSHDOWN_NOINLINE void add_line_slopes(ArrayKind kind, Line<F> to, Line<F> x, Line<F> y, Line<F> g,
                                       Index n) {
  with_line(kind, [&](auto row) {
    if constexpr (requires { row.add_slopes(to, x, y, g, n); }) {
      row.add_slopes(to, x, y, g, n);
    } else {
      const auto common = row.common(x, y, g, n);
      for (Index i = 0; i < n; ++i) to[i] += row.slope(common, x, y, g, n, i);
    }
  });
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
