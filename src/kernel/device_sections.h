// Memories of sections with strengths (stack/stratification.h) for the CUDA kernels: the same as
// stratification_scan.h and strengths.h, which say what the rows of the action layer are, where
// sections have their places, and what holds at kinks. See device_stacks.h for what the functions
// do.
//
// Which sections a pop or a reading reaches is a sum from the end on, of few terms: every thread
// of the team takes it, in the same order as on the processor, so that both are on the same side of
// every kink. Only what a section is worth a number of is shared out: copies, vectors, gradients.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

// The strengths of one memory over all updates of a sequence.
template <class F>
struct SectionStrengths {
  Index updates;
  SectionEnds ends;
  F* tape;                // the strengths after each update
  F *gradient, *between;  // one for each place; place i of a gradient belongs to thread i mod size
  bool open_when_full = true;  // see strengths.h

  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number places(Number updates, SectionEnds ends) {
    return ends == SectionEnds::deque ? 2 * updates : updates;
  }
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number offset(Number u, SectionEnds ends) {
    return ends == SectionEnds::deque ? u * (u + 1) : u * (u + 1) / 2;
  }
  PUSHDOWN_DEVICE Index count(Index u) const {
    return ends == SectionEnds::deque ? 2 * u + 2 : u + 1;
  }
  PUSHDOWN_DEVICE Index lowest(Index u) const {
    return ends == SectionEnds::deque ? updates - 1 - u : 0;
  }
  PUSHDOWN_DEVICE F* after(Index u) const { return tape + offset(u, ends); }
  PUSHDOWN_DEVICE bool at_top() const { return ends != SectionEnds::queue; }

  // The caller puts a barrier behind.
  template <class Team>
  PUSHDOWN_DEVICE void update(const Team& team, Index u, F push, F pop, F bottom_push,
                              F bottom_pop) const {
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* now = after(u);
    if (ends != SectionEnds::deque) {
      cut(team, old, now, u, pop, at_top());
      if (team.id() == 0) now[u] = push;
      return;
    }
    cut(team, old, between, 2 * u, pop, true);
    team.sync();
    cut(team, between, now + 1, 2 * u, bottom_pop, false);
    if (team.id() == 0) {
      now[0] = bottom_push;
      now[2 * u + 1] = push;
    }
  }

  // From the gradients of the strengths after update u, complete, to those before it. `give`(push,
  // pop, bottom_push, bottom_pop) gets those of the actions, in thread 0.
  template <class Team, class Give>
  PUSHDOWN_DEVICE void update_backward(const Team& team, Index u, F pop, F bottom_pop,
                                       const Give& give) const {
    const F* now = after(u);
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* slopes = gradient + lowest(u);
    team.sync();
    if (ends != SectionEnds::deque) {
      const F pushed = slopes[u];
      const F popped = cut_backward(team, old, now, u, pop, at_top(), slopes);
      if (team.id() == 0) give(pushed, popped, F(0), F(0));
      return;
    }
    cut(team, old, between, 2 * u, pop, true);
    team.sync();
    const F pushed = slopes[2 * u + 1], bottom_pushed = slopes[0];
    const F bottom_popped =
        cut_backward(team, between, now + 1, 2 * u, bottom_pop, false, slopes + 1);
    const F popped = cut_backward(team, old, between, 2 * u, pop, true, slopes + 1);
    if (team.id() == 0) give(pushed, popped, bottom_pushed, bottom_popped);
  }

  template <class Team>
  PUSHDOWN_DEVICE static void cut(const Team& team, const F* old, F* now, Index size, F pop,
                                  bool top) {
    F before = 0;
    Index k = 0;
    for (; k < size; ++k) {
      const F rest = pop - before;
      if (!(rest > 0)) break;
      const Index i = top ? size - 1 - k : k;
      const F left = old[i] - rest;
      if (team.id() == 0) now[i] = left > 0 ? left : F(0);
      before += old[i];
    }
    const Index first = top ? 0 : k;
    each(team, size - k, [&](Index i) { now[first + i] = old[first + i]; });
  }

  // Turns the gradients of the strengths after a cut into those before it; returns that of the
  // pop, in thread 0.
  template <class Team>
  PUSHDOWN_DEVICE static F cut_backward(const Team& team, const F* old, const F* now, Index size,
                                        F pop, bool top, F* slopes) {
    each(team, size, [&](Index i) {
      if (!(now[i] > 0)) slopes[i] = 0;
    });
    team.sync();
    F farther = 0;
    if (team.id() == 0) {
      F before = 0;
      Index cuts = 0;
      for (; cuts < size && pop - before > 0; ++cuts) before += old[top ? size - 1 - cuts : cuts];
      for (Index k = cuts; k-- > 0;) {
        F& slope = slopes[top ? size - 1 - k : k];
        farther += slope;
        slope = farther;
      }
    }
    team.sync();
    return -farther;
  }

  // visit(place, strength, room) for the sections in the window and the one behind.
  template <class Visit>
  PUSHDOWN_DEVICE void window(Index u, bool top, F length, const Visit& visit) const {
    const F* now = after(u);
    const Index size = count(u), first = lowest(u);
    F before = 0;
    for (Index k = 0; k < size && (before < length || (open_when_full && before == length)); ++k) {
      const Index i = top ? size - 1 - k : k;
      const bool pushed = i + 1 == size || (i == 0 && ends == SectionEnds::deque);
      if (now[i] != 0 || pushed) visit(first + i, now[i], length - before);
      before += now[i];
    }
  }

  // slope(place, share) returns the gradient of the share. Returns that of the window's length.
  template <class Team, class Slope>
  PUSHDOWN_DEVICE F read_backward(const Team& team, Index u, bool top, F length,
                                  const Slope& slope) const {
    F below = 0;  // of the room of the only section that is in the window in part
    Index partial = -1;
    window(u, top, length, [&](Index i, F strength, F room) {
      const bool whole = strength <= room;
      const F given = slope(i, whole ? strength : room);
      if (!whole) {
        below = -given;
        partial = i;
      } else if (i % team.size() == team.id()) {
        gradient[i] += given;
      }
    });
    if (partial < 0) return 0;
    const Index lower = lowest(u), first = top ? partial + 1 : lower,
                end = top ? lower + count(u) : partial;
    const Index skipped = first - first % team.size() + team.id();
    for (Index i = skipped < first ? skipped + team.size() : skipped; i < end; i += team.size())
      gradient[i] += below;
    return -below;
  }
};

// K memories of sections with strengths.
template <class F>
struct SectionStack {
  static constexpr int kPush = 0, kPop = 1, kRead = 2;

  Index updates, m, memories, ends, values;  // ends: 2 of a deque, else 1
  SectionEnds kind;
  StrengthKind how[3];
  Index end_rows, chance_row;  // of the action layer at an end; numbers of distributions
  F* actions;                  // ends x U x 3K: the strengths
  F* chances;                  // ends x U x chance_row: their distributions
  F* vectors;                  // ends x U x Km
  F* strengths;
  F* vector_gradient;  // as vectors
  F* strength_scratch;
  F* readings;

  PUSHDOWN_DEVICE SectionStack(const ScanShape& shape, const StackMemory<F>& memory)
      : updates(shape.steps - 1),
        m(shape.size),
        memories(shape.memories),
        ends(ends_of(shape)),
        values(shape.max_strength + 1),
        kind(shape.ends),
        how{shape.strengths[0], shape.strengths[1], shape.strengths[2]},
        end_rows(memories * m),
        chance_row(chances_of(shape)),
        actions(memory.tape),
        chances(actions + ends * updates * 3 * memories),
        vectors(chances + ends * updates * chance_row),
        strengths(vectors + ends * updates * memories * m),
        vector_gradient(memory.scratch),
        strength_scratch(vector_gradient + ends * updates * memories * m),
        readings(memory.readings) {
    for (int what = 0; what < 3; ++what) end_rows += rows_of(what);
  }
  PUSHDOWN_HOST_DEVICE static Index ends_of(const ScanShape& shape) {
    return shape.ends == SectionEnds::deque ? 2 : 1;
  }
  PUSHDOWN_HOST_DEVICE static Index chances_of(const ScanShape& shape) {
    Index count = 0;
    for (int what = 0; what < 3; ++what)
      if (shape.strengths[what] == StrengthKind::expectation)
        count += shape.memories * (shape.max_strength + 1);
    return count;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const ScanShape& shape) {
    const Count u = shape.steps - 1, k = shape.memories;
    return ends_of(shape) * u * (3 * k + chances_of(shape) + k * shape.size) +
           k * SectionStrengths<F>::offset(u, shape.ends);
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const ScanShape& shape) {
    const Count u = shape.steps - 1, k = shape.memories;
    return ends_of(shape) * u * k * shape.size + 2 * k * SectionStrengths<F>::places(u, shape.ends);
  }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const ScanShape&) { return 0; }

  PUSHDOWN_DEVICE SectionStrengths<F> sections(Index k) const {
    const Index places = SectionStrengths<F>::places(updates, kind);
    F* scratch = strength_scratch + 2 * k * places;
    return {updates, kind, strengths + k * SectionStrengths<F>::offset(updates, kind), scratch,
            scratch + places};
  }
  PUSHDOWN_DEVICE Index rows_of(int what) const {
    return memories * strength_rows(how[what], values - 1);
  }
  PUSHDOWN_DEVICE F* actions_of(Index end, Index u) const {
    return actions + (end * updates + u) * 3 * memories;
  }
  PUSHDOWN_DEVICE F* chances_of(Index end, Index u) const {
    return chances + (end * updates + u) * chance_row;
  }
  PUSHDOWN_DEVICE F* vectors_of(F* of, Index end, Index u) const {
    return of + (end * updates + u) * memories * m;
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
  PUSHDOWN_DEVICE void begin(const Team& team) {
    each(team, memories * ends * m, [&](Index i) { readings[i] = 0; });
  }

  // The strength `what` of memory k from its rows, and its distribution.
  PUSHDOWN_DEVICE F strength_of(int what, Index k, const F* given, F* chance) const {
    if (how[what] == StrengthKind::fixed) return 1;
    if (how[what] == StrengthKind::sigmoid) return sigmoid(given[k]);
    given += k * values;
    chance += k * values;
    F largest = given[0], sum = 0, mean = 0;
    for (Index i = 1; i < values; ++i) largest = given[i] > largest ? given[i] : largest;
    for (Index i = 0; i < values; ++i) sum += chance[i] = std::exp(given[i] - largest);
    for (Index i = 0; i < values; ++i) {
      chance[i] /= sum;
      mean += static_cast<F>(i) * chance[i];
    }
    return mean;
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given) {
    for (Index end = 0; end < ends; ++end) {
      F* action = actions_of(end, u);
      F* chance = chances_of(end, u);
      for (int what = 0; what < 3; ++what) {
        each(team, memories,
             [&](Index k) { action[what * memories + k] = strength_of(what, k, given, chance); });
        given += rows_of(what);
        if (how[what] == StrengthKind::expectation) chance += memories * values;
      }
      each(team, memories * m,
           [&](Index i) { vectors_of(vectors, end, u)[i] = std::tanh(given[i]); });
      given += memories * m;
    }
    team.sync();
    const F *first = actions_of(0, u), *last = actions_of(ends - 1, u);
    for (Index k = 0; k < memories; ++k)
      sections(k).update(team, u, first[k], first[memories + k], last[k], last[memories + k]);
    team.sync();
    F* reading = readings + (u + 1) * memories * ends * m;
    for (Index k = 0; k < memories; ++k)
      for (Index end = 0; end < ends; ++end, reading += m) {
        each(team, m, [&](Index i) { reading[i] = 0; });
        sections(k).window(u, top(end), actions_of(end, u)[2 * memories + k],
                           [&](Index place, F strength, F room) {
                             const F share = strength <= room ? strength : room;
                             const F* vector = at_place(vectors, k, place);
                             each(team, m, [&](Index i) { reading[i] += share * vector[i]; });
                           });
      }
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, ends * updates * memories * m, [&](Index i) { vector_gradient[i] = 0; });
    for (Index k = 0; k < memories; ++k)
      each(team, SectionStrengths<F>::places(updates, kind),
           [&](Index i) { sections(k).gradient[i] = 0; });
  }

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
          const F* vector = at_place(vectors, k, place);
          F sum = 0;
          for (Index i = 0; i < m; ++i) sum += reading_gradient[i] * vector[i];
          return sum;
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
      out += end_rows;
      each(team, memories * m, [&](Index i) { out[i - memories * m] = dv[i] * (1 - v[i] * v[i]); });
    }
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    begin_backward(team);
  }
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team&, const F*, F*) {}
};

}  // namespace pushdown::device
