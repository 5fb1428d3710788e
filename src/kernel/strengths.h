// Strengths of the sections of a continuous stack (Grefenstette et al. 2015; Sun et al. 1998), over
// all updates of a sequence, forward and backward. For kernel files only.
//
// Update u = 0, 1, ... takes `pop` off the top and puts a section of strength `push` there:
//   s_i' = max(0, s_i - max(0, pop - sum_{j>i} s_j)),   s_u' = push
// The reading is a window of length 1 at the top: section i has the share
//   min(s_i, max(0, 1 - sum_{j>i} s_j)).
// At kinks the derivatives are those of the stack's definition: max(0, x) has none at 0, and a
// section that just fits into the window is whole.
#pragma once
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct Strengths {
  Index updates;
  F* tape;  // after update u: u + 1 numbers at u (u + 1) / 2, bottom first
  F *gradient, *old_gradient, *above_gradient;  // updates + 1 each

  struct Actions {
    F push, pop;
  };

  Strengths(Index updates, F* tape, F* scratch)
      : updates(updates),
        tape(tape),
        gradient(scratch),
        old_gradient(gradient + updates + 1),
        above_gradient(old_gradient + updates + 1) {}
  static Index tape_size(Index updates) { return updates * (updates + 1) / 2; }
  static Index scratch_size(Index updates) { return 3 * (updates + 1); }

  F* after(Index u) const { return tape + u * (u + 1) / 2; }

  void update(Index u, F push, F pop) {
    const F* old = u == 0 ? nullptr : after(u - 1);
    F* now = after(u);
    F above = 0;
    for (Index i = u; i-- > 0;) {
      const F cut = pop - above;
      const F left = cut > 0 ? old[i] - cut : old[i];
      now[i] = left > 0 ? left : F(0);
      above += old[i];
    }
    now[u] = push;
  }

  // visit(i, share) for the sections in the window, from the top.
  template <class Visit>
  void read(Index u, Visit visit) const {
    const F* now = after(u);
    F above = 0;
    for (Index i = u + 1; i-- > 0 && above < 1;) {
      const F room = 1 - above;
      visit(i, now[i] <= room ? now[i] : room);
      above += now[i];
    }
  }

  void begin_backward() { clear(gradient, updates + 1); }

  // visit(i, share) returns the gradient of the share.
  template <class Visit>
  void read_backward(Index u, Visit visit) {
    const F* now = after(u);
    F above = 0;
    Index lowest = u + 1;
    for (Index i = u + 1; i-- > 0 && above < 1;) {
      const F room = 1 - above;
      const bool whole = now[i] <= room;
      const F slope = visit(i, whole ? now[i] : room);
      above_gradient[i] = whole ? F(0) : -slope;
      if (whole) gradient[i] += slope;
      above += now[i];
      lowest = i;
    }
    F below = 0;
    for (Index i = lowest; i <= u; ++i) {
      gradient[i] += below;
      below += above_gradient[i];
    }
  }

  // From the gradients of the strengths after update u to those before it.
  Actions update_backward(Index u, F pop) {
    const F* now = after(u);
    const F* old = u == 0 ? nullptr : after(u - 1);
    F pop_gradient = 0, above = 0;
    for (Index i = u; i-- > 0;) {
      const F g = now[i] > 0 ? gradient[i] : F(0);
      const bool cut = pop - above > 0;
      old_gradient[i] = g;
      above_gradient[i] = cut ? g : F(0);
      if (cut) pop_gradient -= g;
      above += old[i];
    }
    F below = 0;
    for (Index i = 0; i < u; ++i) {
      old_gradient[i] += below;
      below += above_gradient[i];
    }
    const Actions result{gradient[u], pop_gradient};
    F* spent = gradient;
    gradient = old_gradient;
    old_gradient = spent;
    return result;
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
