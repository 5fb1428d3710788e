// The step functions of the stacks for the CUDA kernels, forward and backward (see scan_stacks.h
// for the vectorised ones; definitions: stack/*.cpp). U = T - 1 updates, u = 0 .. U-1.
//
//   begin(team)                       the reading before any update, into row 0 of the readings
//   forward(team, u, actions)         update u from the action layer's output, and the reading
//                                     after it, row u + 1
//   begin_backward(team)
//   backward(team, u, reading_gradient, actions)
//                                     gradient of the action layer's output of update u, for
//                                     u = U-1 .. 0, given that of the reading after it
//   cut(team)                         between two calls of backward(): nothing reaches further back
//   end_backward(team, reading_gradient, bottom)
//                                     given that of the first reading: gradient of what the stack
//                                     starts with
// The caller puts a barrier before and behind each. Members are the same in all threads.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

template <class F>
struct NoStack {
  PUSHDOWN_DEVICE NoStack(const ScanShape&, const StackMemory<F>&) {}
  PUSHDOWN_HOST_DEVICE static Count tape_size(const ScanShape&) { return 0; }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const ScanShape&) { return 0; }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const ScanShape&) { return 0; }
  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team&, Index, const F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team&, Index, const F*, F*) {}
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team&) {}
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team&, const F*, F*) {}
};

// Rows of the action layer: push, pop, no_op | vector.
template <class F>
struct SuperpositionStack {
  Index updates, m;
  F* actions;          // U x (3 + m): probabilities and pushed vector
  F* cells;            // the cells after each update that later readings can see, top first
  F *gradient, *next;  // of the cells after an update; before it
  F* slopes;           // of the probabilities
  F* readings;
  F* cells_after;  // of the last update made or undone

  PUSHDOWN_DEVICE SuperpositionStack(const ScanShape& shape, const StackMemory<F>& memory)
      : updates(shape.steps - 1),
        m(shape.size),
        actions(memory.tape),
        cells(actions + updates * (3 + m)),
        gradient(memory.scratch),
        next(gradient + (updates + 1) * m),
        slopes(memory.fast),
        readings(memory.readings),
        cells_after(nullptr) {}

  // After update u a cell is u + 1 deep at most, and of use no deeper than pops can still reach.
  PUSHDOWN_HOST_DEVICE static Index depth(Index updates, Index u) {
    return u + 1 < updates - u ? u + 1 : updates - u;
  }
  PUSHDOWN_HOST_DEVICE static Count tape_size(const ScanShape& shape) {
    Count total = 0;
    for (Count u = 0; u < shape.steps - 1; ++u) total += depth(shape.steps - 1, u);
    return (shape.steps - 1) * (3 + shape.size) + total * shape.size;
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const ScanShape& shape) {
    return 2 * shape.steps * shape.size;
  }
  PUSHDOWN_HOST_DEVICE static Count fast_size(const ScanShape&) { return 3; }
  PUSHDOWN_DEVICE Index depth(Index u) const { return depth(updates, u); }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team) {
    each(team, m, [&](Index i) { readings[i] = 0; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given) {
    F* a = actions + u * (3 + m);
    F largest = given[0] > given[1] ? given[0] : given[1];
    if (given[2] > largest) largest = given[2];
    F push = std::exp(given[0] - largest), pop = std::exp(given[1] - largest),
      stay = std::exp(given[2] - largest);
    const F total = push + pop + stay;
    push /= total;
    pop /= total;
    stay /= total;
    if (team.id() == 0) {
      a[0] = push;
      a[1] = pop;
      a[2] = stay;
    }
    const F* old = cells_after;
    const Index old_depth = u == 0 ? 0 : depth(u - 1);
    F* now = u == 0 ? cells : cells_after + old_depth * m;
    each(team, depth(u) * m, [&](Index place) {
      const Index d = place / m, i = place - d * m;
      F above;
      if (d == 0)
        above = a[3 + i] = sigmoid(given[3 + i]);
      else
        above = old[place - m];
      F sum = push * above;
      if (d < old_depth) sum += stay * old[place];
      if (d + 1 < old_depth) sum += pop * old[place + m];
      now[place] = sum;
      if (d == 0) readings[(u + 1) * m + i] = sum;
    });
    cells_after = now;
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    cells_after = cells;
    for (Index u = 0; u + 1 < updates; ++u) cells_after += depth(u) * m;
    each(team, m, [&](Index i) { gradient[i] = 0; });
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F* a = actions + u * (3 + m);
    const Index now_size = depth(u) * m, old_size = u == 0 ? 0 : depth(u - 1) * m;
    const F* old = u == 0 ? nullptr : cells_after - old_size;
    const auto now = [&](Index place) {
      return place < m ? gradient[place] + reading_gradient[place] : gradient[place];
    };
    // What each probability was multiplied with: push the cell above, pop that below, no_op itself.
    sums<F>(
        team, 3, [&](Index) { return now_size; },
        [&](Index which) {
          return [&, which](Index place) {
            F cell = 0;
            if (which == 0)
              cell = place < m ? a[3 + place] : old[place - m];
            else if (which == 1)
              cell = place + m < old_size ? old[place + m] : F(0);
            else
              cell = place < old_size ? old[place] : F(0);
            return now(place) * cell;
          };
        },
        [&](Index which, F sum) { slopes[which] = sum; });
    each(team, old_size, [&](Index place) {
      F sum = 0;
      if (place < now_size) sum += a[2] * now(place);
      if (place + m < now_size) sum += a[0] * now(place + m);
      if (place >= m && place - m < now_size) sum += a[1] * now(place - m);
      next[place] = sum;
    });
    each(team, m, [&](Index i) { out[3 + i] = a[0] * now(i) * a[3 + i] * (1 - a[3 + i]); });
    team.sync();
    if (team.id() == 0) {
      const F mean = a[0] * slopes[0] + a[1] * slopes[1] + a[2] * slopes[2];
      for (int k = 0; k < 3; ++k) out[k] = a[k] * (slopes[k] - mean);
    }
    F* spent = gradient;
    gradient = next;
    next = spent;
    cells_after = const_cast<F*>(old);
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    each(team, (updates + 1) * m, [&](Index i) { gradient[i] = 0; });
  }
  template <class Team>
  PUSHDOWN_DEVICE void end_backward(const Team&, const F*, F*) {}
};

}  // namespace pushdown::device
