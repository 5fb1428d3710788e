// K parallel memories of sections with strengths (stack/stratification.h). See memories.h for the
// functions.
//
// Actions, for each end, the top one first: K pushes | K pops | K readings | K vectors, where a
// strength has one number, one for each value of its distribution, or none
// (stack/strength_layer.h). Reading: for each memory, the reading at each end.
//
// Initial and final content: for each memory the vectors of its sections, bottom first, their
// strengths, and the lengths of the last reading at each end.
#pragma once
#include "kernel/memory/strengths.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct SectionMemory {
  static constexpr int kPush = 0, kPop = 1, kRead = 2;

  Index held, updates, made;        // updates before the run, all updates, updates of the run
  Index m, memories, ends, values;  // ends: 2 for a deque, else 1; values of a distribution
  SectionEnds kind;
  StrengthKind how[3];
  Index end_rows, chance_row;  // of the actions at an end; numbers of distributions
  F* actions;                  // ends x made x 3K: the strengths, with a padding after each end
  F* chances;                  // ends x made x chance_row: their distributions; the same
  F* vectors;                  // ends x updates x Km: the same
  F* strengths;
  F* lengths;          // ends x K: of the reading before the first update
  F* vector_gradient;  // as vectors
  F* length_gradient;  // ends x K: of the reading after the last update, from later steps
  F* strength_scratch;

  PUSHDOWN_DEVICE SectionMemory(const MemoryShape& shape, const StackMemory<F>& memory)
      : held(static_cast<Index>(shape.held)),
        updates(updates_of(shape)),
        made(static_cast<Index>(shape.steps - 1)),
        m(static_cast<Index>(shape.sections.size)),
        memories(static_cast<Index>(shape.sections.memories)),
        ends(ends_of(shape)),
        values(static_cast<Index>(shape.sections.max_strength + 1)),
        kind(shape.sections.ends),
        how{shape.sections.strengths[0], shape.sections.strengths[1], shape.sections.strengths[2]},
        end_rows(memories * m),
        chance_row(chances_of(shape)),
        actions(memory.tape),
        chances(actions + ends * part_size(made, 3 * memories)),
        vectors(chances + ends * part_size(made, chance_row)),
        strengths(vectors + ends * part_size(updates, memories * m)),
        lengths(strengths + memories * Sections<F>::tape_size(updates, kind, held)),
        vector_gradient(memory.scratch),
        length_gradient(vector_gradient + ends * part_size(updates, memories * m)),
        strength_scratch(length_gradient + ends * memories) {
    for (int what = 0; what < 3; ++what) end_rows += rows_of(what);
  }
  PUSHDOWN_HOST_DEVICE static Index updates_of(const MemoryShape& shape) {
    return static_cast<Index>(shape.held + shape.steps - 1);
  }
  PUSHDOWN_HOST_DEVICE static Index ends_of(const MemoryShape& shape) {
    return shape.sections.ends == SectionEnds::deque ? 2 : 1;
  }
  PUSHDOWN_HOST_DEVICE static Index chances_of(const MemoryShape& shape) {
    Index count = 0;
    for (int what = 0; what < 3; ++what)
      if (shape.sections.strengths[what] == StrengthKind::expectation)
        count += static_cast<Index>(shape.sections.memories * (shape.sections.max_strength + 1));
    return count;
  }
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number part_size(Number updates, Number row) {
    return updates * row + kRowPadding;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape& shape) {
    const Count pieces = shape.steps - 1, u = updates_of(shape), k = shape.sections.memories;
    return ends_of(shape) *
               (part_size(pieces, 3 * k) + part_size<Count>(pieces, chances_of(shape)) +
                part_size<Count>(u, k * shape.sections.size) + k) +
           k * Sections<F>::tape_size(u, shape.sections.ends, Count{shape.held});
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape& shape) {
    const Count u = updates_of(shape), k = shape.sections.memories;
    return ends_of(shape) * (part_size<Count>(u, k * shape.sections.size) + k) +
           k * Sections<F>::scratch_size(u, shape.sections.ends);
  }

  PUSHDOWN_DEVICE Sections<F> sections(Index k) const {
    return {updates,
            strengths + k * Sections<F>::tape_size(updates, kind, held),
            strength_scratch + k * Sections<F>::scratch_size(updates, kind),
            kind,
            true,
            held};
  }
  PUSHDOWN_DEVICE Index rows_of(int what) const {
    return memories * static_cast<Index>(strength_rows(how[what], values - 1));
  }
  // The actions of update u of the run.
  PUSHDOWN_DEVICE F* actions_of(Index end, Index u) const {
    return actions + end * part_size(made, 3 * memories) + u * 3 * memories;
  }
  PUSHDOWN_DEVICE F* chances_of(Index end, Index u) const {
    return chances + end * part_size(made, chance_row) + u * chance_row;
  }
  // The vectors of update u of all updates.
  PUSHDOWN_DEVICE F* vectors_of(F* of, Index end, Index u) const {
    return of + end * part_size(updates, memories * m) + u * memories * m;
  }
  // The vector of memory k at a place; rows are in the order of the updates, at each end.
  PUSHDOWN_DEVICE F* at_place(F* of, Index k, Index place) const {
    if (ends == 1) return vectors_of(of, 0, place) + k * m;
    return (place < updates ? vectors_of(of, 1, updates - 1 - place)
                            : vectors_of(of, 0, place - updates)) +
           k * m;
  }
  PUSHDOWN_DEVICE bool top(Index end) const { return end == 0 && kind != SectionEnds::queue; }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F* given, F* reading) {
    each(team, memories * ends * m, [&](Index i) { reading[i] = 0; });
    if (given == nullptr) return;
    take(team, given, vectors, held, lengths, [&](Index k) { return sections(k).after(held - 1); });
    team.sync();
    if (held == 0) return;
    read(
        team, held - 1, [&](Index end, Index k) { return lengths[end * memories + k]; }, reading);
  }
  template <class Team>
  PUSHDOWN_DEVICE void leave(const Team& team, F* left) const {
    give(
        team, left, vectors, updates,
        [&](Index end, Index k) { return actions_of(end, made - 1)[2 * memories + k]; },
        [&](Index k) { return sections(k).after(updates - 1); });
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given, F* reading) {
    for (Index end = 0; end < ends; ++end) {
      F* action = actions_of(end, u);
      F* chance = chances_of(end, u);
      for (int what = 0; what < 3; ++what, action += memories) {
        // Each writes up to a padding too far; the values there are computed later.
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
      tanhs(team, given, vectors_of(vectors, end, held + u), memories * m);
      given += memories * m;
    }
    each(team, memories * ends * m, [&](Index i) { reading[i] = 0; });
    team.sync();
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k)
      sections(k).update(team, held + u, first[k], first[memories + k], last[k],
                         last[memories + k]);
    team.sync();
    read(
        team, held + u, [&](Index end, Index k) { return actions_of(end, u)[2 * memories + k]; },
        reading);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, ends * part_size(updates, memories * m), [&](Index i) { vector_gradient[i] = 0; });
    each(team, ends * memories, [&](Index i) { length_gradient[i] = 0; });
    for (Index k = 0; k < memories; ++k) {
      F* gradient = sections(k).gradient;
      each(team, Sections<F>::places(updates, kind), [&](Index i) { gradient[i] = 0; });
    }
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team, const F* left_gradient) {
    begin_backward(team);
    team.sync();
    take(team, left_gradient, vector_gradient, updates, length_gradient,
         [&](Index k) { return sections(k).gradient; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k) {
      const auto memory = sections(k);
      for (Index end = 0; end < ends; ++end, reading_gradient += m) {
        F slope = read_backward(team, held + u, end, k, actions_of(end, u)[2 * memories + k],
                                reading_gradient);
        if (u == made - 1) slope += length_gradient[end * memories + k];
        if (team.id() == 0) strength_backward(end, u, kRead, k, slope, out + end * end_rows);
      }
      memory.update_backward(team, held + u, first[memories + k], last[memories + k],
                             [&](F push, F pop, F bottom_push, F bottom_pop) {
                               strength_backward(0, u, kPush, k, push, out);
                               strength_backward(0, u, kPop, k, pop, out);
                               if (ends == 1) return;
                               strength_backward(1, u, kPush, k, bottom_push, out + end_rows);
                               strength_backward(1, u, kPop, k, bottom_pop, out + end_rows);
                             });
    }
    for (Index end = 0; end < ends; ++end) {
      const F* v = vectors_of(vectors, end, held + u);
      const F* dv = vectors_of(vector_gradient, end, held + u);
      F* to = out + (end + 1) * end_rows - memories * m;
      each(team, memories * m, [&](Index i) { to[i] = dv[i] * (1 - v[i] * v[i]); });
    }
  }
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team& team, const F* reading_gradient,
                                    F* given_gradient) {
    for (Index k = 0; k < memories; ++k)
      for (Index end = 0; end < ends; ++end, reading_gradient += m) {
        F* slope = length_gradient + end * memories + k;
        const F slope_of_length =
            held == 0 ? F(0)
                      : read_backward(team, held - 1, end, k, lengths[end * memories + k],
                                      reading_gradient);
        if (team.id() == 0) *slope = slope_of_length;
      }
    team.sync();
    give(
        team, given_gradient, vector_gradient, held,
        [&](Index end, Index k) { return length_gradient[end * memories + k]; },
        [&](Index k) { return sections(k).gradient + sections(k).lowest(held - 1); });
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    begin_backward(team);
  }

 private:
  // The readings after update u of all updates.
  template <class Team, class Length>
  PUSHDOWN_DEVICE void read(const Team& team, Index u, const Length& length, F* reading) const {
    for (Index k = 0; k < memories; ++k)
      for (Index end = 0; end < ends; ++end, reading += m)
        sections(k).read(u, top(end), length(end, k), [&](Index place, F share) {
          const F* vector = at_place(vectors, k, place);
          each(team, m, [&](Index i) { reading[i] += share * vector[i]; });
        });
  }
  // The gradient of the reading's length.
  template <class Team>
  PUSHDOWN_DEVICE F read_backward(const Team& team, Index u, Index end, Index k, F length,
                                  const F* reading_gradient) const {
    return sections(k).read_backward(team, u, top(end), length, [&](Index place, F share) {
      F* gradient = at_place(vector_gradient, k, place);
      each(team, m, [&](Index i) { gradient[i] += share * reading_gradient[i]; });
      return dot(reading_gradient, at_place(vectors, k, place), m);
    });
  }
  // Copies the content between two runs, after `count` updates, into or out of its places.
  template <class Team, class Strengths>
  PUSHDOWN_DEVICE void take(const Team& team, const F* from, F* all_vectors, Index count,
                            F* all_lengths, const Strengths& strengths_of) const {
    for (Index k = 0; k < memories; ++k) {
      const Index lowest = sections(k).lowest(count - 1), many = ends * count;
      for (Index i = 0; i < many; ++i, from += m) {
        F* to = at_place(all_vectors, k, lowest + i);
        each(team, m, [&](Index j) { to[j] = from[j]; });
      }
      F* to = strengths_of(k);
      each(team, many, [&](Index i) { to[i] = from[i]; });
      from += many;
      each(team, ends, [&](Index end) { all_lengths[end * memories + k] = from[end]; });
      from += ends;
    }
  }
  template <class Team, class Length, class Strengths>
  PUSHDOWN_DEVICE void give(const Team& team, F* to, F* all_vectors, Index count,
                            const Length& length, const Strengths& strengths_of) const {
    for (Index k = 0; k < memories; ++k) {
      const Index lowest = sections(k).lowest(count - 1), many = ends * count;
      for (Index i = 0; i < many; ++i, to += m) {
        const F* from = at_place(all_vectors, k, lowest + i);
        each(team, m, [&](Index j) { to[j] = from[j]; });
      }
      const F* from = strengths_of(k);
      each(team, many, [&](Index i) { to[i] = from[i]; });
      to += many;
      each(team, ends, [&](Index end) { to[end] = length(end, k); });
      to += ends;
    }
  }
  // Computes the rows of strength `what` of memory k from its gradient.
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
