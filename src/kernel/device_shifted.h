// Memories whose cells become mixtures of their neighbours for the CUDA kernels: the same as
// shifted_scan.h, which says what actions and readings are, what the rows of cells mean, and what
// happens to cells that were never written. See device_stacks.h for what the functions do.
//
// A thread owns a number of a cell, in both passes: backward it collects what reaches the number,
// instead of handing out what leaves each.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

template <class F>
struct ShiftedStack {
  static constexpr Index kValue = Index{1} << 30, kNothing = kValue + 1;

  ShiftedKind kind;
  bool shared, worn;
  Index steps, updates, width, reach, limit;
  F empty;
  Index kinds, weights_row, row;  // actions; numbers of their weights; of all that is given
  Index most;                     // rows of cells at most
  F* given_rows;                  // U x (weights | W)
  F* cells;                       // those before any update, then those after each
  F *gradient, *old_gradient;     // of the cells
  F* readings;
  Index reading_size;
  F* now;  // cells after the last update made or undone

  PUSHDOWN_DEVICE ShiftedStack(const ScanShape& shape, const StackMemory<F>& memory)
      : kind(shape.shifted),
        shared(shape.shared),
        worn(shape.worn),
        steps(shape.steps),
        updates(shape.steps - 1),
        width(shape.size),
        reach(shape.reach),
        limit(shape.limit),
        empty(static_cast<F>(shape.empty)),
        kinds(actions(shape)),
        weights_row(shared ? kinds : kinds * width),
        row(weights_row + width),
        most(most_rows(shape)),
        given_rows(memory.tape),
        cells(given_rows + updates * row),
        gradient(memory.scratch),
        old_gradient(gradient + most * width),
        readings(memory.readings),
        reading_size(shape.reading),
        now(cells) {}

  PUSHDOWN_HOST_DEVICE static Index actions(const ScanShape& shape) {
    if (shape.shifted == ShiftedKind::tape) return 5;
    return (shape.shifted == ShiftedKind::stack ? 2 : 3) + (shape.no_op ? 1 : 0);
  }
  // See shifted_scan.h; u = -1: before any update.
  PUSHDOWN_HOST_DEVICE static Index extent(ShiftedKind kind, Index steps, Index reach, Index limit,
                                           Index u) {
    if (kind == ShiftedKind::tape) return limit;
    const Index written = u + 1;
    Index needed = reach + (steps - 2 - u);
    if (limit > 0 && limit < needed) needed = limit;
    return written < needed ? written : needed;
  }
  PUSHDOWN_HOST_DEVICE static Index rows(ShiftedKind kind, Index extent) {
    return (kind == ShiftedKind::list ? 2 * extent + 1 : extent) + 1;
  }
  PUSHDOWN_HOST_DEVICE static Index rows(const ScanShape& z, Index u) {
    return rows(z.shifted, extent(z.shifted, z.steps, z.reach, z.limit, u));
  }
  PUSHDOWN_HOST_DEVICE static Index most_rows(const ScanShape& shape) {
    Index most = 0;
    for (Index u = -1; u + 1 < shape.steps; ++u)
      most = rows(shape, u) > most ? rows(shape, u) : most;
    return most;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const ScanShape& shape) {
    const Count weights = actions(shape) * (shape.shared ? 1 : shape.size);
    Count all = (shape.steps - 1) * (weights + shape.size);
    for (Count u = -1; u + 1 < shape.steps; ++u) all += rows(shape, u) * shape.size;
    return all;
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const ScanShape& shape) {
    return 2 * most_rows(shape) * shape.size;
  }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const ScanShape&) { return 0; }

  PUSHDOWN_DEVICE Index extent(Index u) const { return extent(kind, steps, reach, limit, u); }
  PUSHDOWN_DEVICE Index rows_after(Index u) const { return rows(kind, extent(u)); }
  // Where action a takes the content of cell d from.
  PUSHDOWN_DEVICE Index source(Index a, Index d) const {
    if (kind == ShiftedKind::stack) {
      if (a == 0) return d == 0 ? kValue : d - 1;
      if (a == 1) return d + 1;
      return worn && d > 0 ? kNothing : d;
    }
    if (kind == ShiftedKind::list) {
      if (a == 2) return d < 0 ? d + 1 : d == 0 ? kValue : d;
      return a == 0 ? d - 1 : a == 1 ? d + 1 : d;
    }
    if (a == 2) return d;
    const bool up = a == 0 || a == 4;
    const Index from = up ? d + 1 : d - 1;
    if (from >= 0 && from < limit) return from;
    return a < 2 ? (up ? 0 : limit - 1) : kNothing;
  }
  PUSHDOWN_DEVICE Index first(Index extent) const {
    return kind == ShiftedKind::list ? -extent : 0;
  }
  PUSHDOWN_DEVICE Index last(Index extent) const {
    return kind == ShiftedKind::list ? extent : extent - 1;
  }
  PUSHDOWN_DEVICE bool outside(Index d, Index extent) const {
    return d < first(extent) || d > last(extent);
  }
  // The row of cell d among those that reach so far.
  PUSHDOWN_DEVICE Index place(Index d, Index extent) const {
    return outside(d, extent) ? last(extent) - first(extent) + 1 : d - first(extent);
  }
  PUSHDOWN_DEVICE F weight(const F* given, Index a, Index k) const {
    return given[shared ? a : k * kinds + a];
  }
  // Cell and number of number i of a reading.
  PUSHDOWN_DEVICE Index read_cells() const {
    return kind == ShiftedKind::list ? 2 * reach + 1 : kind == ShiftedKind::tape ? 1 : reach;
  }
  PUSHDOWN_DEVICE Index read_first() const { return kind == ShiftedKind::list ? -reach : 0; }
  template <class Body>
  PUSHDOWN_DEVICE void read_number(Index i, const Body& body) const {
    const Index many = read_cells();
    const Index at = shared ? i / width : i % many, k = shared ? i % width : i / many;
    body(read_first() + at, k);
  }

  template <class Team>
  PUSHDOWN_DEVICE void read(const Team& team, Index extent, F* reading) const {
    each(team, read_cells() * width, [&](Index i) {
      read_number(i, [&](Index d, Index k) { reading[i] = now[place(d, extent) * width + k]; });
    });
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team) {
    now = cells;
    each(team, rows_after(-1) * width, [&](Index i) { now[i] = empty; });
    each(team, read_cells() * width, [&](Index i) { readings[i] = empty; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given) {
    F* kept = given_rows + u * row;
    each(team, row, [&](Index i) { kept[i] = given[i]; });
    const F *old = now, *value = given + weights_row;
    const Index before = extent(u - 1), after = extent(u);
    F* to = now + rows_after(u - 1) * width;
    const Index many = rows_after(u);
    each(team, many * width, [&](Index i) {
      const Index at = i / width, k = i - at * width;
      if (at + 1 == many) {
        const F rest = old[(rows_after(u - 1) - 1) * width + k];
        to[i] = worn ? (weight(given, 0, k) + weight(given, 1, k)) * rest : rest;
        return;
      }
      const Index d = first(after) + at;
      F sum = kind == ShiftedKind::tape && d == 0 ? value[k] : F(0);
      for (Index a = 0; a < kinds; ++a) {
        const Index s = source(a, d);
        if (s == kNothing) continue;
        sum += weight(given, a, k) * (s == kValue ? value[k] : old[place(s, before) * width + k]);
      }
      to[i] = sum;
    });
    now = to;
    team.sync();
    read(team, after, readings + (u + 1) * reading_size);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    now = cells;
    for (Index u = -1; u + 1 < updates; ++u) now += rows_after(u) * width;
    cut(team);
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F* given = given_rows + u * row;
    const F* value = given + weights_row;
    const Index before = extent(u - 1), after = extent(u);
    const Index old_rows = rows_after(u - 1), many = rows_after(u);
    const F* old = now - old_rows * width;
    // Several cells that are read may be in the one row of those that were never written.
    each(team, width, [&](Index k) {
      for (Index c = 0; c < read_cells(); ++c) {
        const Index i = shared ? c * width + k : k * read_cells() + c;
        gradient[place(read_first() + c, after) * width + k] += reading_gradient[i];
      }
    });
    team.sync();
    const F* rest = old + (old_rows - 1) * width;
    const F* rest_gradient = gradient + (many - 1) * width;
    // Of the weights: sums over the cells, or over all their numbers.
    const auto times = [&](Index a, Index at, Index k) {
      const F slope = gradient[at * width + k];
      if (at + 1 == many) return worn && a < 2 ? slope * rest[k] : F(0);
      const Index s = source(a, first(after) + at);
      if (s == kNothing) return F(0);
      return slope * (s == kValue ? value[k] : old[place(s, before) * width + k]);
    };
    sums<F>(
        team, weights_row, [&](Index) { return shared ? many * width : many; },
        [&](Index i) {
          return [&, i](Index term) {
            return shared ? times(i, term / width, term % width)
                          : times(i % kinds, term, i / kinds);
          };
        },
        [&](Index i, F sum) { out[i] = sum; });
    each(team, width, [&](Index k) {
      F sum = 0;
      const Index top = -first(after);  // the row of cell 0
      if (top < many - 1) {
        const F slope = gradient[top * width + k];
        if (kind == ShiftedKind::tape) sum += slope;
        for (Index a = 0; a < kinds; ++a)
          if (source(a, 0) == kValue) sum += slope * weight(given, a, k);
      }
      out[weights_row + k] = sum;
    });
    // Of the cells before the update.
    each(team, old_rows * width, [&](Index i) {
      const Index at = i / width, k = i - at * width;
      F sum = 0;
      const auto collect = [&](Index d, Index s) {
        if (d < first(after) || d > last(after)) return;
        const F slope = gradient[(d - first(after)) * width + k];
        for (Index a = 0; a < kinds; ++a)
          if (source(a, d) == s) sum += slope * weight(given, a, k);
      };
      if (at + 1 < old_rows) {
        const Index s = first(before) + at;
        for (Index d = s - 1; d <= s + 1; ++d) collect(d, s);
        // The head of a tape turns around at its ends.
        if (kind == ShiftedKind::tape && s == 0 && limit > 2) collect(limit - 1, s);
        if (kind == ShiftedKind::tape && s == limit - 1 && limit > 2) collect(0, s);
        old_gradient[i] = sum;
        return;
      }
      // What was never written; only cells near the ends take from there.
      for (Index d = first(after); d <= last(after); ++d) {
        if (d > first(before) && d < last(before)) d = last(before);
        const F slope = gradient[(d - first(after)) * width + k];
        for (Index a = 0; a < kinds; ++a) {
          const Index s = source(a, d);
          if (s < kValue && outside(s, before)) sum += slope * weight(given, a, k);
        }
      }
      const F slope = rest_gradient[k];
      old_gradient[i] = sum + (worn ? slope * (weight(given, 0, k) + weight(given, 1, k)) : slope);
    });
    F* spent = gradient;
    gradient = old_gradient;
    old_gradient = spent;
    now = const_cast<F*>(old);
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    each(team, most * width, [&](Index i) { gradient[i] = 0; });
  }
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team&, const F*, F*) {}
};

}  // namespace pushdown::device
