// The step functions of the stacks, forward and backward, for the fused recurrence (definitions:
// stack/*.cpp). For kernel files only.
//
// A stack is set up over its part of the tape (kept from the forward to the backward pass) and of
// the scratch memory. U = T - 1 updates, u = 0 .. U-1.
//   begin(parameters, reading)             the reading before any update
//   forward(u, actions, reading)           update u from the action layer's output (may be
//                                          overwritten), and the reading after it
//   begin_backward()
//   backward(u, reading_gradient, actions) gradient of the action layer's output of update u, for
//                                          u = U-1 .. 0, given that of the reading after it
//   end_backward(reading_gradient, bottom) given that of the first reading: gradient of what the
//                                          stack starts with
#pragma once
#include "kernel/memory/nondeterministic.h"
#include "kernel/scan_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct NoStack {
  NoStack(const ScanShape&, F*, F*) {}
  static Index tape_size(const ScanShape&) { return 0; }
  static Index scratch_size(const ScanShape&) { return 0; }
  void begin(const ScanParameters<F>&, F*) {}
  void forward(Index, F*, F*) {}
  void begin_backward() {}
  void backward(Index, const F*, F*) {}
  void end_backward(const F*, F*) {}
};

// Rows of the action layer: push, pop, no_op | vector.
template <class F>
struct SuperpositionScan {
  Index updates, m;
  F* actions;  // U x (3 + m): probabilities and pushed vector
  F* cells;    // the cells after each update that later readings can see, top first
  F* gradient[2];

  SuperpositionScan(const ScanShape& shape, F* tape, F* scratch)
      : updates(shape.steps - 1), m(shape.size), actions(tape) {
    cells = actions + updates * (3 + m) + kScanPadding;
    gradient[0] = scratch;
    gradient[1] = scratch + (updates + 2) * m;
  }
  static Index tape_size(const ScanShape& shape) {
    Index total = 0;
    for (Index u = 0; u < shape.steps - 1; ++u) total += depth(shape.steps - 1, u);
    return (shape.steps - 1) * (3 + shape.size) + kScanPadding + total * shape.size;
  }
  static Index scratch_size(const ScanShape& shape) { return 2 * (shape.steps + 1) * shape.size; }

  // After update u a cell is u + 1 deep at most, and of use no deeper than pops can still reach.
  static Index depth(Index updates, Index u) { return u + 1 < updates - u ? u + 1 : updates - u; }
  Index depth(Index u) const { return depth(updates, u); }

  F* cells_after = nullptr;  // of the last update made or undone

  void begin(const ScanParameters<F>&, F* reading) {
    clear(reading, m);
    cells_after = nullptr;
  }

  void forward(Index u, F* given, F* reading) {
    F* a = actions + u * (3 + m);
    F largest = given[0] > given[1] ? given[0] : given[1];
    if (given[2] > largest) largest = given[2];
    F weight[kScanPadding] = {};
    for (int k = 0; k < 3; ++k) weight[k] = given[k] - largest;
    exp_all(weight, kScanPadding);
    const F total = weight[0] + weight[1] + weight[2];
    const F push = weight[0] / total, pop = weight[1] / total, stay = weight[2] / total;
    sigmoid_all(given + 3, a + 3, m);  // writes up to a vector behind: the next row comes later
    a[0] = push;
    a[1] = pop;
    a[2] = stay;
    const F* old = cells_after;
    const Index old_depth = u == 0 ? 0 : depth(u - 1), new_depth = depth(u);
    F* now = u == 0 ? cells : cells_after + old_depth * m;
    for (Index d = 0; d < new_depth; ++d) {
      F* to = now + d * m;
      const F* above = d == 0 ? a + 3 : old + (d - 1) * m;
      for (Index i = 0; i < m; ++i) to[i] = push * above[i];
      if (d < old_depth) add_scaled(to, old + d * m, stay, m);
      if (d + 1 < old_depth) add_scaled(to, old + (d + 1) * m, pop, m);
    }
    cells_after = now;
    copy(reading, now, m);
  }

  void begin_backward() {
    cells_after = cells;
    for (Index u = 0; u + 1 < updates; ++u) cells_after += depth(u) * m;
    clear(gradient[0], (updates + 2) * m);
  }

  void backward(Index u, const F* reading_gradient, F* out) {
    const F* a = actions + u * (3 + m);
    const Index now_depth = depth(u), old_depth = u == 0 ? 0 : depth(u - 1);
    F* now = gradient[0];  // of the cells after update u
    F* before = gradient[1];
    const F* old = u == 0 ? nullptr : cells_after - old_depth * m;
    add(now, reading_gradient, m);
    F push = dot(now, a + 3, m), pop = 0, stay = 0;
    for (Index d = 1; d < now_depth; ++d) push += dot(now + d * m, old + (d - 1) * m, m);
    for (Index d = 0; d < now_depth && d < old_depth; ++d) stay += dot(now + d * m, old + d * m, m);
    for (Index d = 0; d < now_depth && d + 1 < old_depth; ++d)
      pop += dot(now + d * m, old + (d + 1) * m, m);
    clear(before, (old_depth + 1) * m);
    for (Index d = 0; d < old_depth; ++d) {
      if (d < now_depth) add_scaled(before + d * m, now + d * m, a[2], m);
      if (d + 1 < now_depth) add_scaled(before + d * m, now + (d + 1) * m, a[0], m);
      if (d >= 1 && d - 1 < now_depth) add_scaled(before + d * m, now + (d - 1) * m, a[1], m);
    }
    const F mean = a[0] * push + a[1] * pop + a[2] * stay;
    out[0] = a[0] * (push - mean);
    out[1] = a[1] * (pop - mean);
    out[2] = a[2] * (stay - mean);
    for (Index i = 0; i < m; ++i) out[3 + i] = a[0] * now[i] * a[3 + i] * (1 - a[3 + i]);
    gradient[0] = before;
    gradient[1] = now;
    cells_after = const_cast<F*>(old);
  }
  void end_backward(const F*, F*) {}
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
