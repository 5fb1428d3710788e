// Memories whose cells become mixtures of their neighbours: stacks (stack/superposition.cpp,
// stack/parallel_superposition.cpp), lists (stack/list.cpp), the tape of the Baby NTM
// (stack/baby_ntm.cpp) and that of the Tape-RNN, a ring (stack/tape.cpp). See memories.h for the
// functions.
//
// A cell has W numbers (ShiftedShape::size), in parts for K memories side by side. Every action a
// has a weight, one for each memory, and a source from which a cell takes its content:
//   new[d] = sum_a w_a old[source(a, d)],   with the value v instead of an old cell where one is
//   inserted
// Actions: the weights, memory by memory, A each | v, W numbers | the distance of jumps, if it is
// given. Reading: the cells that are read, memory by memory, cell by cell.
//
// A ring is written before it moves: every action takes the value v in the place of the old cell 0.
//
// In the backward pass, the gradient of an old cell is such a mixture, too, because no two cells
// take their content from the same cell by the same action.
//
// Cells that were never written are all equal. They are stored as one row after the others, the
// rest. It is constant except in a stack with erosion.
//
// Initial and final content: the rows of the cells from the first one on, W numbers each, followed
// by the rest.
#pragma once
#include "kernel/memory/loops.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

// The distance from cell 0 of the cells that can still be read later.
struct ShiftedReach {
  ShiftedKind kind;
  Index steps, reach, limit, held;
  bool goes_on;

  PUSHDOWN_HOST_DEVICE explicit ShiftedReach(const MemoryShape& shape)
      : kind(shape.shifted.kind),
        steps(static_cast<Index>(shape.steps)),
        reach(static_cast<Index>(shape.shifted.reach)),
        limit(static_cast<Index>(shape.shifted.limit)),
        held(static_cast<Index>(shape.held)),
        goes_on(shape.goes_on) {}
  // After update u: 0 .. extent - 1, for a list -extent .. extent. u = -1: before any update.
  PUSHDOWN_HOST_DEVICE Index extent(Index u) const {
    if (kind == ShiftedKind::tape || kind == ShiftedKind::ring) return limit;
    const Index written = held + u + 1;
    Index needed = goes_on ? written : reach + (steps - 2 - u);
    if (limit > 0 && limit < needed) needed = limit;
    return written < needed ? written : needed;
  }
  // One more row than cells: the rest.
  PUSHDOWN_HOST_DEVICE Index rows(Index u) const {
    const Index cells = extent(u);
    return (kind == ShiftedKind::list ? 2 * cells + 1 : cells) + 1;
  }
  PUSHDOWN_HOST_DEVICE Index most_rows() const {
    Index most = 0;
    for (Index u = -1; u + 1 < steps; ++u) most = rows(u) > most ? rows(u) : most;
    return most;
  }
};

template <class F>
struct ShiftedMemory {
  static constexpr Index kValue = Index{1} << 30, kNothing = kValue + 1, kMostActions = 5;

  ShiftedReach reaches;
  ShiftedKind kind;
  bool worn, taped;
  Index steps, width, row, count;      // row: padded width; count: number of actions
  Index memories, reach, limit, most;  // most: maximum number of cell rows
  Index jump, offsets[kMostActions];   // of a ring: see set_offsets()
  F empty;
  F* weights;  // U x (count + 1) rows, with the value after the weights
  F* cells;    // rows before any update, then those after each
  F *gradient, *old_gradient, *products;
  F* now;        // rows after the last update made or undone
  F* distances;  // U, of the jumps on a ring

  PUSHDOWN_DEVICE ShiftedMemory(const MemoryShape& shape, const StackMemory<F>& memory)
      : reaches(shape),
        kind(shape.shifted.kind),
        worn(shape.shifted.worn),
        taped(shape.shifted.taped),
        steps(static_cast<Index>(shape.steps)),
        width(static_cast<Index>(shape.shifted.size)),
        row(row_size(width)),
        count(actions(shape)),
        memories(static_cast<Index>(shape.shifted.memories)),
        reach(static_cast<Index>(shape.shifted.reach)),
        limit(static_cast<Index>(shape.shifted.limit)),
        most(reaches.most_rows()),
        jump(static_cast<Index>(shape.shifted.jump)),
        offsets{},
        empty(static_cast<F>(shape.shifted.empty)),
        weights(memory.tape),
        cells(weights + kept(shape) * (count + 1) * row),
        gradient(memory.scratch),
        old_gradient(gradient + most * row),
        products(old_gradient + most * row),
        now(cells),
        distances(memory.tape + tape_size(shape) - distance_row(shape)) {}

  PUSHDOWN_HOST_DEVICE static Index actions(const MemoryShape& shape) {
    if (shape.shifted.kind == ShiftedKind::tape || shape.shifted.kind == ShiftedKind::ring)
      return kMostActions;
    return (shape.shifted.kind == ShiftedKind::stack ? 2 : 3) + (shape.shifted.no_op ? 1 : 0);
  }
  // Number of updates that are kept; without a backward pass, only the last one.
  PUSHDOWN_HOST_DEVICE static Index kept(const MemoryShape& shape) {
    return shape.shifted.taped ? static_cast<Index>(shape.steps - 1) : 1;
  }
  PUSHDOWN_HOST_DEVICE static Count distance_row(const MemoryShape& shape) {
    return shape.shifted.kind == ShiftedKind::ring ? row_size(kept(shape)) : 0;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape& shape) {
    const ShiftedReach reaches(shape);
    const Count row = row_size(static_cast<Index>(shape.shifted.size));
    Count rows = Count{kept(shape)} * (actions(shape) + 1);
    if (!shape.shifted.taped) return (rows + 2 * reaches.most_rows()) * row + distance_row(shape);
    for (Index u = -1; u + 1 < shape.steps; ++u) rows += reaches.rows(u);
    return rows * row + distance_row(shape);
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape& shape) {
    const Index row = row_size(static_cast<Index>(shape.shifted.size));
    return 2 * Count{ShiftedReach(shape).most_rows()} * row + product_scratch(actions(shape), row);
  }

  PUSHDOWN_DEVICE Index extent(Index u) const { return reaches.extent(u); }
  PUSHDOWN_DEVICE Index rows_after(Index u) const { return reaches.rows(u); }
  PUSHDOWN_DEVICE Index first(Index extent) const {
    return kind == ShiftedKind::list ? -extent : 0;
  }
  PUSHDOWN_DEVICE Index last(Index extent) const {
    return kind == ShiftedKind::list ? extent : extent - 1;
  }
  PUSHDOWN_DEVICE bool outside(Index d, Index extent) const {
    return d < first(extent) || d > last(extent);
  }
  // The row of cell d among cells with this extent.
  PUSHDOWN_DEVICE Index place(Index d, Index extent) const {
    return outside(d, extent) ? last(extent) - first(extent) + 1 : d - first(extent);
  }
  // Sets the distances from a cell of a ring to the cell from which each action takes its content:
  // stay, left, right, jump left, jump right.
  PUSHDOWN_DEVICE void set_offsets(F distance) {
    const Index far = static_cast<Index>(distance) % limit;
    offsets[0] = 0;
    offsets[1] = 1 % limit;
    offsets[2] = (limit - 1) % limit;
    offsets[3] = far;
    offsets[4] = (limit - far) % limit;
  }
  // The cell from which action a takes the content of cell d.
  PUSHDOWN_DEVICE Index source(Index a, Index d) const {
    if (kind == ShiftedKind::ring) {
      const Index s = d + offsets[a];
      return s % limit == 0 ? kValue : s < limit ? s : s - limit;
    }
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
  // The cell that takes the content of cell s by action a.
  PUSHDOWN_DEVICE Index target(Index a, Index s) const {
    if (kind == ShiftedKind::ring) {
      if (s == 0) return kNothing;
      return s < offsets[a] ? s - offsets[a] + limit : s - offsets[a];
    }
    if (kind == ShiftedKind::stack) {
      if (a == 0) return s + 1;
      if (a == 1) return s > 0 ? s - 1 : kNothing;
      return worn && s > 0 ? kNothing : s;
    }
    if (kind == ShiftedKind::list) {
      if (a == 2) return s <= 0 ? s - 1 : s;
      return a == 0 ? s + 1 : a == 1 ? s - 1 : s;
    }
    if (a == 2) return s;
    const bool up = a == 0 || a == 4;
    const Index to = up ? s - 1 : s + 1;
    if (to >= 0 && to < limit) return to;
    return a < 2 ? (up ? limit - 1 : 0) : kNothing;
  }
  // Cells d .. regular_end - 1 of `from` take their content from, or give it to, cells of `to` that
  // are contiguous in the same order; d + 1 if there is no such range.
  PUSHDOWN_DEVICE Index regular_end(Index d, Index from, Index to) const {
    if (kind == ShiftedKind::ring) {
      // With each offset, its opposite is another one.
      Index end = limit;
      for (Index a = 0; a < kMostActions; ++a) {
        if (offsets[a] == d) return d + 1;
        if (offsets[a] > d && offsets[a] < end) end = offsets[a];
      }
      return end;
    }
    const Index low = first(to) + 1, high = last(to) - 1;
    if (d == 0 || d < low) return d + 1;
    Index end = d < 0 ? -1 : kind == ShiftedKind::tape ? limit - 2 : last(from);
    if (high < end) end = high;
    return end < d ? d + 1 : end + 1;
  }

  // Calls visit(cell, number of the cell among those that are read, their number).
  template <class Visit>
  PUSHDOWN_DEVICE void reading_cells(const Visit& visit) const {
    const Index from = kind == ShiftedKind::list ? -reach : 0;
    const Index read = kind == ShiftedKind::list    ? 2 * reach + 1
                       : kind == ShiftedKind::stack ? reach
                                                    : 1;
    for (Index c = 0; c < read; ++c) visit(from + c, c, read);
  }
  // Calls body(number of a cell, its index in the reading) for the numbers of cell c.
  template <class Team, class Body>
  PUSHDOWN_DEVICE void reading_numbers(const Team& team, Index c, Index read,
                                       const Body& body) const {
    const Index part = width / memories;
    if (memories == 1 || read == 1)
      each(team, width, [&](Index k) { body(k, c * width + k); });
    else if (part == 1)
      each(team, width, [&](Index k) { body(k, k * read + c); });
    else
      each(team, width, [&](Index k) {
        const Index memory = k / part;
        body(k, (memory * (read - 1) + c) * part + k);
      });
  }
  template <class Team>
  PUSHDOWN_DEVICE void read(const Team& team, Index extent, F* reading) const {
    reading_cells([&](Index d, Index c, Index read) {
      const F* cell = now + place(d, extent) * row;
      reading_numbers(team, c, read, [&](Index k, Index at) { reading[at] = cell[k]; });
    });
  }
  template <class Team>
  PUSHDOWN_DEVICE void add_reading_gradient(const Team& team, Index extent, const F* slopes) {
    reading_cells([&](Index d, Index c, Index read) {
      F* to = gradient + place(d, extent) * row;
      reading_numbers(team, c, read, [&](Index k, Index at) { to[k] += slopes[at]; });
    });
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F* held, F* reading) {
    now = cells;
    if (held == nullptr) {
      each(team, rows_after(-1) * row, [&](Index i) { now[i] = empty; });
    } else {
      for (Index r = 0; r < rows_after(-1); ++r)
        each(team, row,
             [&](Index k) { now[r * row + k] = k < width ? held[r * width + k] : F(0); });
    }
    team.sync();
    read(team, extent(-1), reading);
  }
  template <class Team>
  PUSHDOWN_DEVICE void leave(const Team& team, F* held) const {
    copy_rows(team, now, row, held, width, rows_after(steps - 2));
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given, F* reading) {
    F* w = weights + (taped ? u : 0) * (count + 1) * row;
    F* value = w + count * row;
    spread_actions(team, w, given, width, row, count, memories);
    if (kind == ShiftedKind::ring) {
      const F distance = jump < 0 ? given[count * memories + width] : static_cast<F>(jump);
      set_offsets(distance);
      each(team, 1, [&](Index) { distances[taped ? u : 0] = distance; });
    }
    const F* old = now;
    const Index before = extent(u - 1), after = extent(u), old_rows = rows_after(u - 1);
    // Without a tape, two buffers alternate.
    now = taped ? now + old_rows * row : now == cells ? cells + most * row : cells;
    team.sync();
    const Index low = first(after), many = rows_after(u);
    mix(
        team, now, many - 1, row, count, w,
        [&](Index a, Index at) -> const F* { return from(a, low + at, old, before, value); },
        [&](Index at) { return regular_end(low + at, after, before) - low; });
    const F* rest = old + (old_rows - 1) * row;
    F* left = now + (many - 1) * row;
    if (F* top = now; kind == ShiftedKind::tape)
      each(team, row, [&](Index k) { top[k] += value[k]; });
    if (worn)
      each(team, row, [&](Index k) { left[k] = (w[k] + w[row + k]) * rest[k]; });
    else
      each(team, row, [&](Index k) { left[k] = rest[k]; });
    team.sync();
    read(team, after, reading);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    now = cells;
    for (Index u = -1; u + 2 < steps; ++u) now += rows_after(u) * row;
    cut(team);
  }
  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team, const F* left_gradient) {
    begin_backward(team);
    team.sync();
    copy_rows(team, left_gradient, width, gradient, row, rows_after(steps - 2));
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F* w = weights + u * (count + 1) * row;
    const F* value = w + count * row;
    const Index before = extent(u - 1), after = extent(u);
    const Index old_rows = rows_after(u - 1), many = rows_after(u);
    const Index low = first(after), old_low = first(before);
    const F* old = now - old_rows * row;
    if (kind == ShiftedKind::ring) set_offsets(distances[u]);
    add_reading_gradient(team, after, reading_gradient);
    team.sync();
    const F* rest = old + (old_rows - 1) * row;
    const F* rest_gradient = gradient + (many - 1) * row;
    sum_products(
        team, out, gradient, many, width, count, memories,
        [&](Index a, Index at) -> const F* {
          if (at + 1 == many) return worn && a < 2 ? rest : nullptr;
          return from(a, low + at, old, before, value);
        },
        [&](Index at) {
          return at + 1 == many ? many : regular_end(low + at, after, before) - low;
        },
        products);
    out += count * memories;
    const Index put = kind == ShiftedKind::stack ? 0 : 2;  // the action that inserts the value
    const F* top = gradient + place(0, after) * row;
    if (const F* insert = w + put * row; kind == ShiftedKind::ring) {
      each(team, width, [&](Index k) {
        F sum = 0;
        for (Index a = 0; a < count; ++a)
          sum += w[a * row + k] * gradient[(limit - offsets[a]) % limit * row + k];
        out[k] = sum;
      });
      if (jump < 0) each(team, 1, [&](Index) { out[width] = 0; });
    } else if (kind == ShiftedKind::tape) {
      each(team, width, [&](Index k) { out[k] = top[k]; });
    } else {
      each(team, width, [&](Index k) { out[k] = top[k] * insert[k]; });
    }
    mix(
        team, old_gradient, old_rows - 1, row, count, w,
        [&](Index a, Index at) -> const F* {
          const Index d = target(a, old_low + at);
          return outside(d, after) ? nullptr : gradient + (d - low) * row;
        },
        [&](Index at) { return regular_end(old_low + at, before, after) - old_low; });
    // The rest: only cells near the ends take their content from it.
    F* slope = old_gradient + (old_rows - 1) * row;
    if (worn)
      each(team, row, [&](Index k) { slope[k] = rest_gradient[k] * (w[k] + w[row + k]); });
    else
      each(team, row, [&](Index k) { slope[k] = rest_gradient[k]; });
    for (Index d = low; d <= last(after); ++d) {
      if (d > old_low && d < last(before)) d = last(before);
      const F* slopes = gradient + (d - low) * row;
      for (Index a = 0; a < count; ++a) {
        const Index s = source(a, d);
        if (s >= kValue || !outside(s, before)) continue;
        const F* weight = w + a * row;
        each(team, row, [&](Index k) { slope[k] += slopes[k] * weight[k]; });
      }
    }
    F* spent = gradient;
    gradient = old_gradient;
    old_gradient = spent;
    now = const_cast<F*>(old);
  }
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team& team, const F* reading_gradient, F* held_gradient) {
    add_reading_gradient(team, extent(-1), reading_gradient);
    team.sync();
    copy_rows(team, gradient, row, held_gradient, width, rows_after(-1));
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    each(team, most * row, [&](Index i) { gradient[i] = 0; });
  }

 private:
  template <class Team>
  PUSHDOWN_DEVICE void copy_rows(const Team& team, const F* from, Index from_row, F* to,
                                 Index to_row, Index count) const {
    for (Index r = 0; r < count; ++r)
      each(team, width, [&](Index k) { to[r * to_row + k] = from[r * from_row + k]; });
  }
  // Returns the content that cell d takes by action a; null if none.
  PUSHDOWN_DEVICE const F* from(Index a, Index d, const F* old, Index before,
                                const F* value) const {
    const Index s = source(a, d);
    return s == kNothing ? nullptr : s == kValue ? value : old + place(s, before) * row;
  }
};

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
