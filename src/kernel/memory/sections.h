// Memories of sections with strengths (stack/stratification.h), K of them side by side. See
// memories.h for the functions.
//
// Actions, for each end, the top one first: those of K pushes | K pops | K readings | K vectors,
// where a strength has one number, one for each value of its distribution, or none
// (stack/strength_layer.h). Reading: for each memory that of each end.
#pragma once
#include "kernel/memory/strengths.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct SectionMemory {
  static constexpr int kPush = 0, kPop = 1, kRead = 2;

  Index updates, m, memories, ends, values;  // ends: 2 of a deque, else 1; values of a distribution
  SectionEnds kind;
  StrengthKind how[3];
  Index end_rows, chance_row;  // of the actions at an end; numbers of distributions
  F* actions;                  // ends x U x 3K: the strengths; each end with a padding behind
  F* chances;                  // ends x U x chance_row: their distributions; the same
  F* vectors;                  // ends x U x Km: the same
  F* strengths;
  F* vector_gradient;  // as vectors
  F* strength_scratch;

  PUSHDOWN_DEVICE SectionMemory(const MemoryShape& shape, const StackMemory<F>& memory)
      : updates(static_cast<Index>(shape.steps - 1)),
        m(static_cast<Index>(shape.size)),
        memories(static_cast<Index>(shape.memories)),
        ends(ends_of(shape)),
        values(static_cast<Index>(shape.max_strength + 1)),
        kind(shape.ends),
        how{shape.strengths[0], shape.strengths[1], shape.strengths[2]},
        end_rows(memories * m),
        chance_row(chances_of(shape)),
        actions(memory.tape),
        chances(actions + ends * part_size(updates, 3 * memories)),
        vectors(chances + ends * part_size(updates, chance_row)),
        strengths(vectors + ends * part_size(updates, memories * m)),
        vector_gradient(memory.scratch),
        strength_scratch(vector_gradient + ends * part_size(updates, memories * m)) {
    for (int what = 0; what < 3; ++what) end_rows += rows_of(what);
  }
  PUSHDOWN_HOST_DEVICE static Index ends_of(const MemoryShape& shape) {
    return shape.ends == SectionEnds::deque ? 2 : 1;
  }
  PUSHDOWN_HOST_DEVICE static Index chances_of(const MemoryShape& shape) {
    Index count = 0;
    for (int what = 0; what < 3; ++what)
      if (shape.strengths[what] == StrengthKind::expectation)
        count += static_cast<Index>(shape.memories * (shape.max_strength + 1));
    return count;
  }
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number part_size(Number updates, Number row) {
    return updates * row + kRowPadding;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape& shape) {
    const Count u = shape.steps - 1, k = shape.memories;
    return ends_of(shape) * (part_size(u, 3 * k) + part_size<Count>(u, chances_of(shape)) +
                             part_size<Count>(u, k * shape.size)) +
           k * Sections<F>::tape_size(u, shape.ends);
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape& shape) {
    const Count u = shape.steps - 1, k = shape.memories;
    return ends_of(shape) * part_size<Count>(u, k * shape.size) +
           k * Sections<F>::scratch_size(u, shape.ends);
  }

  PUSHDOWN_DEVICE Sections<F> sections(Index k) const {
    return {updates, strengths + k * Sections<F>::tape_size(updates, kind),
            strength_scratch + k * Sections<F>::scratch_size(updates, kind), kind, true};
  }
  PUSHDOWN_DEVICE Index rows_of(int what) const {
    return memories * static_cast<Index>(strength_rows(how[what], values - 1));
  }
  PUSHDOWN_DEVICE F* part_of(F* of, Index row, Index end, Index u) const {
    return of + end * part_size(updates, row) + u * row;
  }
  PUSHDOWN_DEVICE F* actions_of(Index end, Index u) const {
    return part_of(actions, 3 * memories, end, u);
  }
  PUSHDOWN_DEVICE F* chances_of(Index end, Index u) const {
    return part_of(chances, chance_row, end, u);
  }
  PUSHDOWN_DEVICE F* vectors_of(F* of, Index end, Index u) const {
    return part_of(of, memories * m, end, u);
  }
  // The vector of memory k at a place: rows are in the order of the updates, at each end.
  PUSHDOWN_DEVICE F* at_place(F* of, Index k, Index place) const {
    if (ends == 1) return vectors_of(of, 0, place) + k * m;
    return (place < updates ? vectors_of(of, 1, updates - 1 - place)
                            : vectors_of(of, 0, place - updates)) +
           k * m;
  }
  PUSHDOWN_DEVICE bool top(Index end) const { return end == 0 && kind != SectionEnds::queue; }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F*, F* reading) {
    each(team, memories * ends * m, [&](Index i) { reading[i] = 0; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given, F* reading) {
    for (Index end = 0; end < ends; ++end) {
      F* action = actions_of(end, u);
      F* chance = chances_of(end, u);
      for (int what = 0; what < 3; ++what, action += memories) {
        // Each writes up to a padding behind: what lies there comes later.
        if (how[what] == StrengthKind::sigmoid) {
          sigmoids(team, given, action, memories);
        } else if (how[what] == StrengthKind::expectation) {
          expected_values(team, given, chance, action, memories, values);
          chance += memories * values;
        } else {
          each(team, memories, [&](Index k) { action[k] = 1; });
        }
        given += rows_of(what);
      }
      tanhs(team, given, vectors_of(vectors, end, u), memories * m);
      given += memories * m;
    }
    each(team, memories * ends * m, [&](Index i) { reading[i] = 0; });
    team.sync();
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k)
      sections(k).update(team, u, first[k], first[memories + k], last[k], last[memories + k]);
    team.sync();
    for (Index k = 0; k < memories; ++k) {
      const auto own = sections(k);
      for (Index end = 0; end < ends; ++end, reading += m) {
        own.read(u, top(end), actions_of(end, u)[2 * memories + k], [&](Index place, F share) {
          const F* vector = at_place(vectors, k, place);
          each(team, m, [&](Index i) { reading[i] += share * vector[i]; });
        });
      }
    }
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, ends * part_size(updates, memories * m), [&](Index i) { vector_gradient[i] = 0; });
    for (Index k = 0; k < memories; ++k) {
      F* gradient = sections(k).gradient;
      each(team, Sections<F>::places(updates, kind), [&](Index i) { gradient[i] = 0; });
    }
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k) {
      const auto own = sections(k);
      for (Index end = 0; end < ends; ++end, reading_gradient += m) {
        const F length = actions_of(end, u)[2 * memories + k];
        const F slope = own.read_backward(team, u, top(end), length, [&](Index place, F share) {
          F* gradient = at_place(vector_gradient, k, place);
          each(team, m, [&](Index i) { gradient[i] += share * reading_gradient[i]; });
          return dot(reading_gradient, at_place(vectors, k, place), m);
        });
        if (team.id() == 0) strength_backward(end, u, kRead, k, slope, out + end * end_rows);
      }
      own.update_backward(team, u, first[memories + k], last[memories + k],
                          [&](F push, F pop, F bottom_push, F bottom_pop) {
                            strength_backward(0, u, kPush, k, push, out);
                            strength_backward(0, u, kPop, k, pop, out);
                            if (ends == 1) return;
                            strength_backward(1, u, kPush, k, bottom_push, out + end_rows);
                            strength_backward(1, u, kPop, k, bottom_pop, out + end_rows);
                          });
    }
    for (Index end = 0; end < ends; ++end) {
      const F* v = vectors_of(vectors, end, u);
      const F* dv = vectors_of(vector_gradient, end, u);
      F* to = out + (end + 1) * end_rows - memories * m;
      each(team, memories * m, [&](Index i) { to[i] = dv[i] * (1 - v[i] * v[i]); });
    }
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    begin_backward(team);
  }

 private:
  // The rows of what strength of memory k, its gradient being given.
  PUSHDOWN_DEVICE void strength_backward(Index end, Index u, int what, Index k, F slope,
                                         F* out) const {
    const F* chance = chances_of(end, u);
    for (int before = 0; before < what; ++before) {
      out += rows_of(before);
      if (how[before] == StrengthKind::expectation) chance += memories * values;
    }
    const F value = actions_of(end, u)[what * memories + k];
    if (how[what] == StrengthKind::sigmoid) out[k] = slope * value * (1 - value);
    if (how[what] != StrengthKind::expectation) return;
    for (Index i = k * values, n = 0; n < values; ++i, ++n)
      out[i] = slope * chance[i] * (static_cast<F>(n) - value);
  }
};

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
