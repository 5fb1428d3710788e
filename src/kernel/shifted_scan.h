// Memories whose cells become mixtures of their neighbours, for step programs: stacks
// (stack/superposition.cpp, stack/parallel_superposition.cpp), lists (stack/list.cpp) and the tape
// of the Baby NTM (stack/baby_ntm.cpp). For kernel files only.
//
// A cell has W = shape.size numbers. Every action a has a weight, for each of the W numbers its own
// or one for all (shape.shared), and a place that it takes a cell's content from:
//   new[d] = sum_a w_a old[source(a, d)],   with the value v in place of an old cell where one is
//   put in
// Actions: the weights, number by number, A each (or A in all) | v, W numbers.
// Reading: the cells that are read, number by number; with shared weights cell by cell.
//
// Cells that were never written are alike; they are kept as one row behind the others. It is
// constant but in a stack that wears away.
#pragma once
#include "kernel/scan_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct ShiftedScan {
  static constexpr Index kValue = Index{1} << 62, kNothing = kValue + 1;

  ScanShape z;
  Index updates, width, row, count;  // row: padded width; count: of the actions
  F* weights;                        // U x count rows
  F* values;                         // U rows
  F* cells;                          // rows after update u at place(u)
  F *gradient, *old_gradient, *weight_gradient, *value_gradient;

  ShiftedScan(const ScanShape& shape, F* tape, F* scratch)
      : z(shape),
        updates(shape.steps - 1),
        width(shape.size),
        row(scan_padded(shape.size)),
        count(actions(shape)),
        weights(tape),
        values(weights + kept(shape) * count * row),
        cells(values + kept(shape) * row),
        gradient(scratch),
        old_gradient(gradient + most_rows(shape) * row),
        weight_gradient(old_gradient + most_rows(shape) * row),
        value_gradient(weight_gradient + count * row) {}

  static Index actions(const ScanShape& shape) {
    switch (shape.shifted) {
      case ShiftedKind::stack: return shape.no_op ? 3 : 2;
      case ShiftedKind::list: return shape.no_op ? 4 : 3;
      case ShiftedKind::tape: break;
    }
    return 5;
  }
  // How far from cell 0 the cells after update u reach, of those that can still be read later:
  // 0 .. extent - 1, of a list -extent .. extent. u = -1: before any.
  static Index extent(const ScanShape& shape, Index u) {
    if (shape.shifted == ShiftedKind::tape) return shape.limit;
    const Index written = u + 1;
    Index needed = shape.reach + (shape.steps - 2 - u);
    if (shape.limit > 0 && shape.limit < needed) needed = shape.limit;
    return written < needed ? written : needed;
  }
  // One row more than cells: for those that were never written.
  static Index rows(const ScanShape& shape, Index u) {
    const Index reach = extent(shape, u);
    return (shape.shifted == ShiftedKind::list ? 2 * reach + 1 : reach) + 1;
  }
  static Index most_rows(const ScanShape& shape) {
    Index most = 0;
    for (Index u = -1; u + 1 < shape.steps; ++u)
      most = rows(shape, u) > most ? rows(shape, u) : most;
    return most;
  }
  // Updates that are kept; without a backward pass the last one.
  static Index kept(const ScanShape& shape) { return shape.taped ? shape.steps - 1 : 1; }
  static Index tape_size(const ScanShape& shape) {
    const Index row = scan_padded(shape.size);
    Index all = kept(shape) * (actions(shape) + 1);
    if (!shape.taped) return (all + 2 * most_rows(shape)) * row;
    for (Index u = -1; u + 1 < shape.steps; ++u) all += rows(shape, u);
    return all * row;
  }
  static Index scratch_size(const ScanShape& shape) {
    return (2 * most_rows(shape) + actions(shape) + 1) * scan_padded(shape.size);
  }

  // Where action a takes the content of cell d from.
  Index source(Index a, Index d) const {
    switch (z.shifted) {
      case ShiftedKind::stack:
        if (a == 0) return d == 0 ? kValue : d - 1;
        if (a == 1) return d + 1;
        return z.worn && d > 0 ? kNothing : d;
      case ShiftedKind::list:
        if (a == 2) return d < 0 ? d + 1 : d == 0 ? kValue : d;
        return a == 0 ? d - 1 : a == 1 ? d + 1 : d;
      case ShiftedKind::tape: break;
    }
    if (a == 2) return d;
    const bool up = a == 0 || a == 4;
    const Index from = up ? d + 1 : d - 1;
    if (from >= 0 && from < z.limit) return from;
    return a < 2 ? (up ? 0 : z.limit - 1) : kNothing;
  }
  Index first(Index reach) const { return z.shifted == ShiftedKind::list ? -reach : 0; }
  Index last(Index reach) const { return z.shifted == ShiftedKind::list ? reach : reach - 1; }
  // The row of cell d among those that reach so far.
  Index place(Index d, Index reach) const {
    return d < first(reach) || d > last(reach) ? last(reach) - first(reach) + 1 : d - first(reach);
  }

  // Cells d .. regular_end - 1 take their content from cells that lie where those of d do, one
  // beside the other, and were all kept before the update; d itself where there is none such.
  Index regular_end(Index d, Index before, Index after) const {
    const Index low = first(before) + 1, high = last(before) - 1;
    if (d == 0 || d < low) return d;
    Index end = last(after);
    if (d < 0) end = -1;
    if (z.shifted == ShiftedKind::tape) end = z.limit - 2;
    return (end < high ? end : high) + 1 < d ? d : (end < high ? end : high) + 1;
  }
  // run(N constant, sources) with the N actions that take something: where each takes the content
  // of cell d from, as the number of a row, and which it is.
  template <class Run>
  void with_sources(Index d, Index before, Run run) const {
    Index rows_of[5], which[5], n = 0;
    for (Index a = 0; a < count; ++a) {
      const Index s = source(a, d);
      if (s == kNothing) continue;
      which[n] = a;
      rows_of[n++] = place(s, before);
    }
    switch (n) {
      case 2: return run(std::integral_constant<Index, 2>(), rows_of, which);
      case 3: return run(std::integral_constant<Index, 3>(), rows_of, which);
      case 4: return run(std::integral_constant<Index, 4>(), rows_of, which);
      default: return run(std::integral_constant<Index, 5>(), rows_of, which);
    }
  }
  // The cells d .. end - 1, all of them regular.
  void move_cells(Index d, Index end, const F* old, Index before, Index after, const F* w) const {
    with_sources(d, before, [&](auto constant, const Index* rows_of, const Index* which) {
      constexpr Index n = decltype(constant)::value;
      for (Index k = 0; k < row; k += kLanes<F>) {
        Vector<F> weight[n];
        const F* from[n];
        for (Index a = 0; a < n; ++a) {
          weight[a] = load(w + which[a] * row + k);
          from[a] = old + rows_of[a] * row + k;
        }
        F* to = now + place(d, after) * row + k;
        for (Index i = 0; i < (end - d) * row; i += row) {
          Vector<F> sum = weight[0] * load(from[0] + i);
          for (Index a = 1; a < n; ++a) sum += weight[a] * load(from[a] + i);
          store(to + i, sum);
        }
      }
    });
  }
  void move_gradients(Index d, Index end, const F* old, Index before, Index after, const F* w) {
    with_sources(d, before, [&](auto constant, const Index* rows_of, const Index* which) {
      constexpr Index n = decltype(constant)::value;
      for (Index k = 0; k < row; k += kLanes<F>) {
        Vector<F> weight[n], weight_slope[n];
        const F* from[n];
        F* slope[n];
        for (Index a = 0; a < n; ++a) {
          weight[a] = load(w + which[a] * row + k);
          weight_slope[a] = load(weight_gradient + which[a] * row + k);
          from[a] = old + rows_of[a] * row + k;
          slope[a] = old_gradient + rows_of[a] * row + k;
        }
        const F* given = gradient + place(d, after) * row + k;
        for (Index i = 0; i < (end - d) * row; i += row) {
          const Vector<F> g = load(given + i);
          for (Index a = 0; a < n; ++a) {
            weight_slope[a] += g * load(from[a] + i);
            store(slope[a] + i, load(slope[a] + i) + g * weight[a]);
          }
        }
        for (Index a = 0; a < n; ++a) store(weight_gradient + which[a] * row + k, weight_slope[a]);
      }
    });
  }

  F* now = nullptr;  // rows after the last update made or undone

  // visit(cell, index of the first number in the reading, distance of its numbers)
  template <class Visit>
  void reading_cells(Visit visit) const {
    const Index from = z.shifted == ShiftedKind::list ? -z.reach : 0;
    const Index to = z.shifted == ShiftedKind::list   ? z.reach
                     : z.shifted == ShiftedKind::tape ? 0
                                                      : z.reach - 1;
    const Index read = to - from + 1;
    for (Index d = from; d <= to; ++d)
      visit(d, z.shared ? (d - from) * width : d - from, z.shared ? Index{1} : read);
  }
  void read(Index reach, F* reading) const {
    reading_cells([&](Index d, Index at, Index step) {
      const F* cell = now + place(d, reach) * row;
      for (Index k = 0; k < width; ++k) reading[at + k * step] = cell[k];
    });
  }

  void begin(const ScanParameters<F>&, F* reading) {
    now = cells;
    const Index all = rows(z, -1) * row;
    for (Index i = 0; i < all; ++i) now[i] = static_cast<F>(z.empty);
    read(extent(z, -1), reading);
  }

  void forward(Index u, F* given, F* reading) {
    const Index at = z.taped ? u : 0;
    F* w = weights + at * count * row;
    F* value = values + at * row;
    for (Index a = 0; a < count; ++a)
      for (Index k = 0; k < row; ++k)
        w[a * row + k] = k >= width ? F(0) : given[z.shared ? a : k * count + a];
    const F* put = given + (z.shared ? count : count * width);
    for (Index k = 0; k < row; ++k) value[k] = k < width ? put[k] : F(0);
    const F* old = now;
    const Index before = extent(z, u - 1), after = extent(z, u);
    // Without a tape two places take turns.
    if (z.taped)
      now += rows(z, u - 1) * row;
    else
      now = now == cells ? cells + most_rows(z) * row : cells;
    const bool tape = z.shifted == ShiftedKind::tape;
    for (Index d = first(after); d <= last(after); ++d) {
      if (const Index end = regular_end(d, before, after); end > d) {
        move_cells(d, end, old, before, after, w);
        d = end - 1;
        continue;
      }
      F* to = now + place(d, after) * row;
      for (Index k = 0; k < row; ++k) to[k] = tape && d == 0 ? value[k] : F(0);
      for (Index a = 0; a < count; ++a) {
        const Index s = source(a, d);
        if (s == kNothing) continue;
        const F* from = s == kValue ? value : old + place(s, before) * row;
        for (Index k = 0; k < row; ++k) to[k] += w[a * row + k] * from[k];
      }
    }
    const F* rest = old + (rows(z, u - 1) - 1) * row;
    F* left = now + (rows(z, u) - 1) * row;
    for (Index k = 0; k < row; ++k) left[k] = z.worn ? (w[k] + w[row + k]) * rest[k] : rest[k];
    read(after, reading);
  }

  void begin_backward() {
    now = cells;
    for (Index u = -1; u + 1 < updates; ++u) now += rows(z, u) * row;
    clear(gradient, most_rows(z) * row);
  }

  void backward(Index u, const F* reading_gradient, F* out) {
    const F* w = weights + u * count * row;
    const F* value = values + u * row;
    const Index before = extent(z, u - 1), after = extent(z, u);
    const F* old = now - rows(z, u - 1) * row;
    reading_cells([&](Index d, Index at, Index step) {
      F* to = gradient + place(d, after) * row;
      for (Index k = 0; k < width; ++k) to[k] += reading_gradient[at + k * step];
    });
    clear(old_gradient, rows(z, u - 1) * row);
    clear(weight_gradient, (count + 1) * row);  // and that of the value behind it
    for (Index d = first(after); d <= last(after); ++d) {
      if (const Index end = regular_end(d, before, after); end > d) {
        move_gradients(d, end, old, before, after, w);
        d = end - 1;
        continue;
      }
      const F* g = gradient + place(d, after) * row;
      if (z.shifted == ShiftedKind::tape && d == 0) add(value_gradient, g, row);
      for (Index a = 0; a < count; ++a) {
        const Index s = source(a, d);
        if (s == kNothing) continue;
        const Index at = s == kValue ? 0 : place(s, before) * row;
        const F* from = s == kValue ? value : old + at;
        F* slope = s == kValue ? value_gradient : old_gradient + at;
        F* weight_slope = weight_gradient + a * row;
        for (Index k = 0; k < row; ++k) {
          weight_slope[k] += g[k] * from[k];
          slope[k] += g[k] * w[a * row + k];
        }
      }
    }
    // What was never written is the same after a step, but where it wears away.
    const F* rest = old + (rows(z, u - 1) - 1) * row;
    const F* g = gradient + (rows(z, u) - 1) * row;
    F* slope = old_gradient + (rows(z, u - 1) - 1) * row;
    for (Index k = 0; k < row; ++k) {
      slope[k] += z.worn ? g[k] * (w[k] + w[row + k]) : g[k];
      if (!z.worn) continue;
      weight_gradient[k] += g[k] * rest[k];
      weight_gradient[row + k] += g[k] * rest[k];
    }
    for (Index a = 0; a < count; ++a) {
      if (z.shared) {
        out[a] = 0;
        for (Index k = 0; k < width; ++k) out[a] += weight_gradient[a * row + k];
      } else {
        for (Index k = 0; k < width; ++k) out[k * count + a] = weight_gradient[a * row + k];
      }
    }
    copy(out + (z.shared ? count : count * width), value_gradient, width);
    F* spent = gradient;
    gradient = old_gradient;
    old_gradient = spent;
    now = const_cast<F*>(old);
  }
  void cut() { clear(gradient, most_rows(z) * row); }
  void end_backward(const F*, F*) {}
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
