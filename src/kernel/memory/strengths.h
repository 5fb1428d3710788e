// Strengths of the sections of a continuous stack, queue or deque (Grefenstette et al. 2015; Sun et
// al. 1998; Merrill et al. 2019), over all updates of a sequence, forward and backward.
//
// Update u = 0, 1, ... removes `pop` at an end and adds a section of strength `push` at one. A
// deque is cut at the top, then at the bottom, and gets a section at both ends (definition:
// stack/stratification.h). With `before` the sum of the strengths between section i and the end,
//   cut      s_i' = max(0, s_i - max(0, pop - before))
//   reading  a window of length r: the share of section i is min(s_i, max(0, r - before)).
// Sections keep their places: i = 0 .. u for a stack or a queue, U - 1 - u .. U + u for a deque,
// where U is the number of updates, from the bottom to the top. The first `held` updates were made
// before the run; of them, only the strengths after the last one are known.
//
// At kinks the derivatives are those of the definitions: a cut has none where it ends, and a
// section that exactly fits into the window counts as whole. If the sections before one fill the
// window exactly, that section has a slope if `open_when_full` is set, see read_backward().
//
// A section whose strength has become 0 keeps it, and no gradient flows through it, so it is not
// visited. An update and a reading cost O(sections), but only the sections near the end need more
// than a copy.
//
// The sections that a pop or a reading reaches are found by a sum from the end on, of few terms.
// Every thread of the team computes it in the same order, so that all are on the same side of every
// kink. Only the work for each number of a section is divided among the threads: copies, vectors,
// gradients.
#pragma once
#include "kernel/memory/loops.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct Sections {
  Index updates, held;
  SectionEnds ends;
  bool open_when_full;
  F* tape;                // the strengths after each update, from update held - 1 on
  F *gradient, *between;  // one for each place; place i of a gradient belongs to thread i mod size

  PUSHDOWN_DEVICE Sections(Index updates, F* tape, F* scratch, SectionEnds ends,
                           bool open_when_full, Index held = 0)
      : updates(updates),
        held(held),
        ends(ends),
        open_when_full(open_when_full),
        tape(tape),
        gradient(scratch),
        between(scratch + places(updates, ends)) {}
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number places(Number updates, SectionEnds ends) {
    return ends == SectionEnds::deque ? 2 * updates : updates;
  }
  // Total number of strengths after all updates before u.
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number offset(Number u, SectionEnds ends) {
    return ends == SectionEnds::deque ? u * (u + 1) : u * (u + 1) / 2;
  }
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number tape_size(Number updates, SectionEnds ends, Number held = 0) {
    return offset(updates, ends) - offset(held - 1, ends);
  }
  template <class Number>
  PUSHDOWN_HOST_DEVICE static Number scratch_size(Number updates, SectionEnds ends) {
    return 2 * places(updates, ends);
  }

  // After update u: the number of sections, the place of the lowest, their strengths.
  PUSHDOWN_DEVICE Index count(Index u) const {
    return ends == SectionEnds::deque ? 2 * u + 2 : u + 1;
  }
  PUSHDOWN_DEVICE Index lowest(Index u) const {
    return ends == SectionEnds::deque ? updates - 1 - u : 0;
  }
  PUSHDOWN_DEVICE F* after(Index u) const {
    return tape + offset(u, ends) - offset(held - 1, ends);
  }
  PUSHDOWN_DEVICE bool at_top() const { return ends != SectionEnds::queue; }

  // The caller puts a barrier after it.
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

  // Converts the complete gradients of the strengths after update u to those before it.
  // `give`(push, pop, bottom_push, bottom_pop) receives those of the actions, in thread 0.
  template <class Team, class Give>
  PUSHDOWN_DEVICE void update_backward(const Team& team, Index u, F pop, F bottom_pop,
                                       const Give& give) const {
    const F* now = after(u);
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* slopes = gradient + lowest(u);
    const bool both = ends == SectionEnds::deque;
    team.sync();
    const F pushed = slopes[count(u) - 1], bottom_pushed = slopes[0];
    if (both) cut(team, old, between, 2 * u, pop, true);
    const F* left = both ? now + 1 : now;
    F* of_left = both ? slopes + 1 : slopes;
    const Index size = both ? 2 * u : u;
    each(team, size, [&](Index i) { of_left[i] = left[i] > 0 ? of_left[i] : F(0); });
    team.sync();
    if (team.id() != 0) return;
    const F bottom_popped =
        both ? cut_backward(between, size, bottom_pop, false, true, of_left) : F(0);
    const F popped = cut_backward(old, size, pop, at_top(), false, of_left);
    give(pushed, popped, bottom_pushed, bottom_popped);
  }

  // Calls visit(place, share) for the sections in the window, from the end on.
  template <class Visit>
  PUSHDOWN_DEVICE void read(Index u, bool top, F length, const Visit& visit) const {
    window(u, top, length,
           [&](Index i, F strength, F room) { visit(i, strength <= room ? strength : room); });
  }

  // slope(place, share) returns the gradient of the share. Returns the gradient of the window's
  // length.
  template <class Team, class Slope>
  PUSHDOWN_DEVICE F read_backward(const Team& team, Index u, bool top, F length,
                                  const Slope& slope) const {
    F below = 0;  // for the room of the only section that is partly in the window
    Index partial = -1;
    window(u, top, length, [&](Index i, F strength, F room) {
      const bool whole = strength <= room;
      const F share_slope = slope(i, whole ? strength : room);
      if (!whole) {
        below = -share_slope;
        partial = i;
      } else if (i % team.size() == team.id()) {
        gradient[i] += share_slope;
      }
    });
    if (partial < 0) return 0;
    const Index lower = lowest(u), first = top ? partial + 1 : lower,
                end = top ? lower + count(u) : partial;
    each_between(team, first, end, [&](Index i) { gradient[i] += below; });
    return -below;
  }

 private:
  template <class Team>
  PUSHDOWN_DEVICE static void cut(const Team& team, const F* old, F* now, Index size, F pop,
                                  bool top) {
    F before = 0;
    Index k = 0;
    for (Index i = top ? size - 1 : 0; k < size; ++k, i += top ? -1 : 1) {
      const F rest = pop - before;
      if (!(rest > 0)) break;
      const F left = old[i] - rest;
      if (team.id() == 0) now[i] = left > 0 ? left : F(0);
      before += old[i];
    }
    const Index first = top ? 0 : k;
    each(team, size - k, [&](Index i) { now[first + i] = old[first + i]; });
  }

  // Converts the gradients of the strengths after a cut, which are 0 where nothing is left, to
  // those before it, and returns that of the pop; in one thread. `clears`: they are 0 where nothing
  // was.
  PUSHDOWN_DEVICE static F cut_backward(const F* old, Index size, F pop, bool top, bool clears,
                                        F* slopes) {
    const Index end = top ? -1 : size, step = top ? -1 : 1;
    F before = 0, farther = 0;
    Index i = top ? size - 1 : 0;
    const Index first = i;
    for (; i != end && pop - before > 0; i += step) before += old[i];
    while (i != first) {
      i -= step;
      farther += slopes[i];
      slopes[i] = clears && !(old[i] > 0) ? F(0) : farther;
    }
    return -farther;
  }

  // Calls visit(place, strength, room) for the sections in the window and, for a slope, the next
  // one.
  template <class Visit>
  PUSHDOWN_DEVICE void window(Index u, bool top, F length, const Visit& visit) const {
    const F* now = after(u);
    const Index size = count(u), first = lowest(u);
    F before = 0;
    for (Index k = 0, i = top ? size - 1 : 0;
         k < size && (before < length || (open_when_full && before == length));
         ++k, i += top ? -1 : 1) {
      const bool pushed = i + 1 == size || (i == 0 && ends == SectionEnds::deque);
      if (now[i] != 0 || pushed) visit(first + i, now[i], length - before);
      before += now[i];
    }
  }
};

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
