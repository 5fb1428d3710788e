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

// Rows of the action layer: C x W transition scores | vector of a vector stack.
template <class F>
struct NondeterministicScan {
  ScanShape shape;
  Index c, w, m, row, vector_row;  // row: padded C * W; vector_row: padded m
  F* weights;                      // U x row
  F* vectors;                      // U x vector_row
  F* expected;                     // (U + 1) x C*m: the readings of a vector stack
  NondeterministicMemory<F> memory;
  F *reading_rows, *weight_gradient, *vector_gradient;
  NondeterministicKernel<F> kernel;

  NondeterministicScan(const ScanShape& given, F* tape, F* scratch);

  // Numbers before the columns: weights, vectors, readings, forward weights and masses.
  static Index head_size(const ScanShape& shape) {
    const auto& z = shape.automaton;
    const Index c = z.configurations();
    return scan_padded(z.steps * (scan_padded(c * z.actions()) + scan_padded(z.channels)) +
                       z.nodes() * c * (z.channels + 2) + 2 * kScanPadding);
  }
  static Index tape_size(const ScanShape& shape) {
    const auto& z = shape.automaton;
    return head_size(shape) + shape.column_start[z.nodes()] + z.nodes() * z.popped_node();
  }
  static Index scratch_size(const ScanShape& shape) {
    const auto& z = shape.automaton;
    const Index c = z.configurations();
    return shape.column_start[z.nodes()] + z.popped_row() + scan_padded(c * z.actions()) +
           scan_padded((1 + z.channels) * c) + scan_padded(z.channels);
  }

  // u of the node, or the expected vectors times u.
  void read(Index node, F* reading) const {
    const F* u = memory.forward + node * c;
    const Index s = memory.size.symbols;
    if (m > 0) {
      F* value = expected + (node - 1) * c * m;
      const Index length = memory.size.row(node);
      const F* rows = memory.columns + memory.column_start[node] + c * length;
      for (Index k = 0; k < m; ++k)
        for (Index b = 0; b < c; ++b) {
          Vector<F> sum = {};
          for (Index i = 0; i < length; i += kLanes<F>)
            sum += load(rows + (k * c + b) * length + i);
          value[b * m + k] = u[b] * sum_of(sum);
        }
      copy(reading, value, c * m);
    } else if (shape.state_symbol) {
      copy(reading, u, c);
    } else {
      clear(reading, s);
      for (Index b = 0; b < c; ++b) reading[b % s] += u[b];
    }
  }

  void begin(const ScanParameters<F>& parameters, F* reading) {
    F* first = memory.columns + memory.column_start[1];
    clear(memory.columns, memory.column_start[2]);
    clear(memory.forward, 2 * c);
    clear(memory.mass, 2 * c);
    memory.forward[0] = memory.forward[c] = memory.mass[c] = 1;
    if (shape.reexposed) first[0] = 1;
    const Index length = memory.size.row(1);
    for (Index k = 0; shape.reexposed && k < m; ++k)
      first[(1 + k) * c * length] = parameters.bottom[k];
    read(1, reading);
    // The initial bottom is read at first even where it can never be seen again.
    for (Index k = 0; k < m; ++k) expected[k] = reading[k] = parameters.bottom[k];
  }

  void forward(Index u, F* given, F* reading) {
    F* used = weights + u * row;
    const F* from = memory.forward + (u + 1) * c;
    if (m > 0) sigmoid_all(given + c * w, vectors + u * vector_row, m);
    if (shape.normalized) {
      for (Index a = 0; a < c; ++a) {
        F largest = given[a * w];
        for (Index k = 1; k < w; ++k)
          if (given[a * w + k] > largest) largest = given[a * w + k];
        for (Index k = 0; k < w; ++k) used[a * w + k] = given[a * w + k] - largest;
      }
    } else {
      // A common factor changes nothing: the largest weight that can be used becomes 1.
      F largest = 0;
      bool any = false;
      for (Index a = 0; a < c; ++a)
        for (Index k = 0; from[a] > 0 && k < w; ++k)
          if (!any || given[a * w + k] > largest) largest = given[a * w + k], any = true;
      for (Index k = 0; k < c * w; ++k) used[k] = given[k] - largest;
    }
    clear(used + c * w, row - c * w);
    exp_all(used, row);
    for (Index a = 0; a < c; ++a) {
      F* to = used + a * w;
      F factor = from[a] > 0 ? F(1) : F(0);
      if (shape.normalized) {
        F sum = 0;
        for (Index k = 0; k < w; ++k) sum += to[k];
        factor = 1 / sum;
      }
      for (Index k = 0; k < w; ++k) to[k] = factor == 0 ? F(0) : to[k] * factor;
    }
    kernel.step(memory, u + 2, used, vectors + u * vector_row);
    read(u + 2, reading);
  }

  // What the gradient of a reading means for the rows of its column. Readings depend on the
  // gauge-invariant forward weights a[j] = 1 and a[i] by
  //   u_j[b] a[j][b] / sum_b' u_j[b'] a[j][b'],     a[j][b] = sum_{i,a} a[i][a] P[i->j][a->b],
  // those of a vector stack by u_j[b] sum_{i,a} a[i][a] V[i->j][a->b] / sum_b' u_j[b'] a[j][b'].
  void spread(Index node, const F* given) {
    const F* u = memory.forward + node * c;
    if (m > 0) {
      const F mean = dot(given, expected + (node - 1) * c * m, c * m);
      for (Index b = 0; b < c; ++b) {
        reading_rows[b] = -u[b] * mean;
        for (Index k = 0; k < m; ++k) reading_rows[(1 + k) * c + b] = u[b] * given[b * m + k];
      }
      return;
    }
    const Index s = memory.size.symbols;
    F mean = 0;
    for (Index b = 0; b < c; ++b) mean += given[shape.state_symbol ? b : b % s] * u[b];
    for (Index b = 0; b < c; ++b)
      reading_rows[b] = u[b] * (given[shape.state_symbol ? b : b % s] - mean);
  }

  void begin_backward() { clear(memory.forward_gradients, memory.size.popped_row()); }

  void backward(Index u, const F* reading_gradient, F* out) {
    const F* used = weights + u * row;
    const F* vector = vectors + u * vector_row;
    spread(u + 2, reading_gradient);
    kernel.step_backward(memory, u + 2, memory.size.steps + 1, used, vector, reading_rows,
                         weight_gradient, vector_gradient);
    for (Index a = 0; a < c; ++a) {
      const F* to = used + a * w;
      const F* slope = weight_gradient + a * w;
      const F mean = shape.normalized ? dot(to, slope, w) : F(0);
      for (Index k = 0; k < w; ++k) out[a * w + k] = to[k] * (slope[k] - mean);
    }
    for (Index k = 0; k < m; ++k) out[c * w + k] = vector_gradient[k] * vector[k] * (1 - vector[k]);
  }

  void end_backward(const F* reading_gradient, F* bottom) {
    if (m == 0) return;
    if (!shape.reexposed) return copy(bottom, reading_gradient, m);
    spread(1, reading_gradient);
    kernel.finish_backward(memory, memory.size.steps + 1, reading_rows);
    const Index length = memory.size.row(1);
    const F* first = memory.numerators + memory.column_start[1];
    for (Index k = 0; k < m; ++k) bottom[k] = first[(1 + k) * c * length];
  }
};

NondeterministicKernel<float> nondeterministic_kernel_f(int states, int symbols);
NondeterministicKernel<double> nondeterministic_kernel_d(int states, int symbols);

template <class F>
NondeterministicScan<F>::NondeterministicScan(const ScanShape& given, F* tape, F* scratch)
    : shape(given),
      c(given.automaton.configurations()),
      w(given.automaton.actions()),
      m(given.automaton.channels),
      row(scan_padded(c * w)),
      vector_row(scan_padded(m)),
      weights(tape) {
  const auto& z = given.automaton;
  vectors = weights + z.steps * row;
  expected = vectors + z.steps * vector_row + kScanPadding;
  F* forward = expected + z.nodes() * c * m;
  F* columns = tape + head_size(given);
  memory = {z,
            given.column_start,
            columns,
            forward,
            forward + z.nodes() * c,
            columns + given.column_start[z.nodes()],
            scratch,
            scratch + given.column_start[z.nodes()]};
  weight_gradient = memory.forward_gradients + z.popped_row();
  reading_rows = weight_gradient + row;
  vector_gradient = reading_rows + scan_padded((1 + m) * c);
  if constexpr (sizeof(F) == sizeof(float))
    kernel = nondeterministic_kernel_f(z.states, z.symbols);
  else
    kernel = nondeterministic_kernel_d(z.states, z.symbols);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
