// Strengths of the sections of a continuous stack, queue or deque (Grefenstette et al. 2015; Sun et
// al. 1998; Merrill et al. 2019), over all updates of a sequence, forward and backward. For kernel
// files only.
//
// Update u = 0, 1, ... takes `pop` off an end and puts a section of strength `push` at one; a deque
// is cut at the top, then at the bottom, and gets a section at both ends (definition:
// stack/stratification.h). With `before` the sum of the strengths between section i and the end,
//   cut      s_i' = max(0, s_i - max(0, pop - before))
//   reading  a window of length r, 1 if nothing else is said: the share of section i is
//            min(s_i, max(0, r - before)).
// Sections have places that they keep: i = 0 .. u of a stack or a queue, U - 1 - u .. U + u of a
// deque, U being the number of updates, from the bottom to the top.
//
// At kinks the derivatives are those of the definitions: a cut has none where it ends, a section
// that just fits into the window is whole, and a section before which the window is exactly full
// has a slope where `open_when_full`, see read_backward().
//
// A section whose strength has become 0 stays so, and nothing flows back through it: it is not
// visited. An update and a reading cost O(sections), but only those near the end are more than
// copied.
#pragma once
#include "kernel/scan.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct Strengths {
  Index updates;
  SectionEnds ends;
  bool open_when_full;
  F* tape;                // the strengths after each update
  F *gradient, *between;  // one for each place

  struct Actions {
    F push, pop, bottom_push, bottom_pop;
  };

  Strengths(Index updates, F* tape, F* scratch, SectionEnds ends = SectionEnds::stack,
            bool open_when_full = false)
      : updates(updates),
        ends(ends),
        open_when_full(open_when_full),
        tape(tape),
        gradient(scratch),
        between(scratch + places(updates, ends)) {}
  static Index places(Index updates, SectionEnds ends) {
    return ends == SectionEnds::deque ? 2 * updates : updates;
  }
  static Index tape_size(Index updates, SectionEnds ends = SectionEnds::stack) {
    return offset(updates, ends);
  }
  static Index scratch_size(Index updates, SectionEnds ends = SectionEnds::stack) {
    return 2 * places(updates, ends);
  }

  // After update u: how many sections there are, the place of the lowest, their strengths.
  Index count(Index u) const { return ends == SectionEnds::deque ? 2 * u + 2 : u + 1; }
  Index lowest(Index u) const { return ends == SectionEnds::deque ? updates - 1 - u : 0; }
  F* after(Index u) const { return tape + offset(u, ends); }
  bool at_top() const { return ends != SectionEnds::queue; }

  void update(Index u, F push, F pop, F bottom_push = 0, F bottom_pop = 0) {
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* now = after(u);
    if (ends != SectionEnds::deque) {
      cut(old, now, u, pop, at_top());
      now[u] = push;
      return;
    }
    cut(old, between, 2 * u, pop, true);
    cut(between, now + 1, 2 * u, bottom_pop, false);
    now[0] = bottom_push;
    now[2 * u + 1] = push;
  }

  // visit(place, share) for the sections in the window, from the end on.
  template <class Visit>
  void read(Index u, bool top, F length, Visit visit) const {
    window(u, top, length,
           [&](Index i, F strength, F room) { visit(i, strength <= room ? strength : room); });
  }
  template <class Visit>
  void read(Index u, Visit visit) const {
    read(u, at_top(), 1, visit);
  }

  void begin_backward() { clear(gradient, places(updates, ends)); }

  // visit(place, share) returns the gradient of the share. Returns that of the window's length.
  template <class Visit>
  F read_backward(Index u, bool top, F length, Visit visit) {
    F below = 0;  // of the room of the only section that is in the window in part
    Index partial = -1;
    window(u, top, length, [&](Index i, F strength, F room) {
      const bool whole = strength <= room;
      const F slope = visit(i, whole ? strength : room);
      if (whole) {
        gradient[i] += slope;
      } else {
        below = -slope;
        partial = i;
      }
    });
    if (partial < 0) return 0;
    const Index first = lowest(u), end = first + count(u);
    for (Index i = top ? partial + 1 : first; i < (top ? end : partial); ++i) gradient[i] += below;
    return -below;
  }
  template <class Visit>
  void read_backward(Index u, Visit visit) {
    read_backward(u, at_top(), 1, visit);
  }

  // From the gradients of the strengths after update u to those before it.
  Actions update_backward(Index u, F pop, F bottom_pop = 0) {
    const F* now = after(u);
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* slopes = gradient + lowest(u);
    if (ends != SectionEnds::deque)
      return {slopes[u], cut_backward(old, now, u, pop, at_top(), slopes), 0, 0};
    cut(old, between, 2 * u, pop, true);
    Actions result{slopes[2 * u + 1], 0, slopes[0], 0};
    result.bottom_pop = cut_backward(between, now + 1, 2 * u, bottom_pop, false, slopes + 1);
    result.pop = cut_backward(old, between, 2 * u, pop, true, slopes + 1);
    return result;
  }

 private:
  static Index offset(Index u, SectionEnds ends) {
    return ends == SectionEnds::deque ? u * (u + 1) : u * (u + 1) / 2;
  }

  // The first of the `size` strengths, going on from the end, that the pop does not reach.
  static Index reached(const F* old, Index size, F pop, bool top) {
    F before = 0;
    Index k = 0;
    for (; k < size && pop - before > 0; ++k) before += old[top ? size - 1 - k : k];
    return k;
  }

  static void cut(const F* old, F* now, Index size, F pop, bool top) {
    F before = 0;
    Index k = 0;
    for (; k < size; ++k) {
      const F rest = pop - before;
      if (!(rest > 0)) break;
      const Index i = top ? size - 1 - k : k;
      const F left = old[i] - rest;
      now[i] = left > 0 ? left : F(0);
      before += old[i];
    }
    const Index first = top ? 0 : k;
    copy(now + first, old + first, size - k);
  }

  // Turns the gradients of the strengths after a cut into those before it; returns that of the pop.
  static F cut_backward(const F* old, const F* now, Index size, F pop, bool top, F* slopes) {
    const Index cuts = reached(old, size, pop, top);
    for (Index i = 0; i < size; ++i) slopes[i] = now[i] > 0 ? slopes[i] : F(0);
    F farther = 0;
    for (Index k = cuts; k-- > 0;) {
      F& slope = slopes[top ? size - 1 - k : k];
      farther += slope;
      slope = farther;
    }
    return -farther;
  }

  // visit(place, strength, room) for the sections in the window and, for a slope, the one behind.
  template <class Visit>
  void window(Index u, bool top, F length, Visit visit) const {
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
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
