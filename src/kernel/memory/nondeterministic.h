// The nondeterministic stacks, with or without a window, around the loops of
// nondeterministic_kernel.h (definition: stack/nondeterministic.h). This is the only memory with a
// source for the CPU alone, because of its tiles (docs/adr/0019). Devices use
// device_nondeterministic.h.
#pragma once
#include "base/lost_precision.h"
#include "kernel/memory/automaton_content.h"
#include "kernel/memory/automaton_range.h"
#include "kernel/memory/lost_runs.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Rows of the action layer: C x W transition scores | vector of a vector stack.
template <class F>
struct NondeterministicStackMemory {
  MemoryShape shape;
  Index c, w, m, row, vector_row;  // row: padded C * W; vector_row: padded m
  Index head, last;                // the node before the first update, and after the last one
  Index first;                     // update 0 of the run; 1 if the run begins with another one
  F* weights;                      // U x row
  F* vectors;                      // U x vector_row
  F* expected;                     // (U + 1) x C*m: the readings of a vector stack
  F *head_vectors, *last_vectors;  // m x C, of these nodes if the run goes on
  F* lost;                         // C, runs that the number type lost (lost_runs.h)
  bool loses = false;              // whether there are any
  const F* left_gradient;          // of the content that the run left; null: none
  NondeterministicMemory<F> memory;
  F *reading_rows, *weight_gradient, *vector_gradient, *first_actions;
  NondeterministicKernel<F> kernel;

  NondeterministicStackMemory(const MemoryShape& given, const StackMemory<F>& place);

  // Number of values before the columns: weights, vectors, readings, forward weights and masses.
  static Index head_size(const MemoryShape& shape) {
    const auto& z = shape.automaton;
    const Index c = z.configurations();
    const Index updates = updates_of(shape);
    return padded_size(updates * (padded_size(c * z.actions()) + padded_size(z.channels)) +
                       (updates + 1) * c * z.channels + 2 * c * z.channels + c + z.nodes() * c * 2 +
                       2 * kPadding);
  }
  static Index updates_of(const MemoryShape& shape) {
    return shape.steps - 1 + (shape.automaton.held_moves ? 1 : 0);
  }
  static Index tape_size(const MemoryShape& shape) {
    const auto& z = shape.automaton;
    return head_size(shape) + (z.edge_rows() + z.states) * shape.automaton.row_start[z.nodes()];
  }
  static Index scratch_size(const MemoryShape& shape) {
    const auto& z = shape.automaton;
    const Index c = z.configurations();
    return z.edge_rows() * shape.automaton.row_start[z.nodes()] + z.forward_gradients() +
           z.popped_gradient() + padded_size(c * z.actions()) + padded_size((1 + z.channels) * c) +
           padded_size(z.channels) + padded_size(c * z.actions() + z.channels);
  }

  F* expected_at(Index node) const { return expected + (node - head) * c * m; }
  // The contents before the first update and after the last one.
  AutomatonContent<F> taken(const F* numbers) const {
    return {c, m, head - 1, 1, const_cast<F*>(numbers)};
  }
  AutomatonContent<F> left(const F* numbers) const {
    const Index most = memory.size.window - 1, kept = last - 1 < most ? last - 1 : most;
    return {c, m, kept, last - kept, const_cast<F*>(numbers)};
  }
  auto rows_of(F* of) const {
    return [this, of](Index j, Index r) { return memory.row(of, j, r); };
  }

  // Reads u of the node, or the expected vectors times u.
  void read(Index node, F* reading) const {
    const F* u = memory.forward + node * c;
    const Index s = memory.size.symbols;
    if (m > 0) {
      F* value = expected_at(node);
      const Index length = memory.size.row(node);
      const F* rows = memory.column(memory.columns, node) + c * length;
      for (Index k = 0; k < m; ++k)
        for (Index b = 0; b < c; ++b) {
          Vector<F> sum = {};
          for (Index i = 0; i < length; i += kLanes<F>)
            sum += load(rows + (k * c + b) * length + i);
          value[b * m + k] = u[b] * sum_of(sum);
        }
      copy(reading, value, c * m);
    } else if (shape.automaton.state_symbol) {
      copy(reading, u, c);
    } else {
      clear(reading, s);
      for (Index b = 0; b < c; ++b) reading[b % s] += u[b];
    }
  }

  template <class Team>
  void begin(const Team& team, const F* bottom, F* reading) {
    loses = false;
    for (Index b = 0; b < c; ++b) lost[b] = -static_cast<F>(__builtin_inf());
    if (shape.goes_on) return take_over(team, taken(bottom), reading);
    clear(memory.columns, memory.size.edge_rows() * memory.row_start[2]);
    clear(memory.forward, 2 * c);
    clear(memory.mass, 2 * c);
    memory.forward[0] = memory.forward[c] = memory.mass[c] = 1;
    if (shape.automaton.reexposed) memory.row(memory.columns, 1, 0)[0] = 1;
    for (Index k = 0; shape.automaton.reexposed && k < m; ++k)
      memory.row(memory.columns, 1, (1 + k) * c)[0] = bottom[k];
    read(1, reading);
    // The initial bottom is read at first even if it can never be seen again.
    for (Index k = 0; k < m; ++k) expected[k] = reading[k] = bottom[k];
  }
  template <class Team>
  void take_over(const Team& team, const AutomatonContent<F>& content, F* reading) {
    clear(memory.columns, memory.size.edge_rows() * memory.row_start[head + 1]);
    clear(memory.forward, (head + 1) * c);
    content.write_edges(team, rows_of(memory.columns));
    F* u = memory.forward + head * c;
    copy(u, content.forward(), c);
    // The gradients of these columns are not divided by a mass.
    for (Index i = 0; i < (head + 1) * c; ++i) memory.mass[i] = 1;
    copy(head_vectors, content.vectors(), m * c);
    if (first > 0) {
      // Rows are read in whole vectors.
      copy(first_actions, content.actions(), c * w + m);
      return update(0, first_actions, reading);
    }
    if (m == 0) return read(head, reading);
    for (Index b = 0; b < c; ++b)
      for (Index k = 0; k < m; ++k)
        expected[b * m + k] = reading[b * m + k] = u[b] * head_vectors[k * c + b];
  }
  template <class Team>
  void leave(const Team& team, F* numbers) const {
    const auto content = left(numbers);
    content.read_edges(team, rows_of(memory.columns));
    copy(content.forward(), memory.forward + last * c, c);
    const Index from = memory.size.lowest(last) * c;
    for (Index i = 0; i < m * c; ++i) {
      const F* edges = memory.row(memory.columns, last, c + i);
      F sum = 0;
      for (Index e = from; e < last * c; ++e) sum += edges[e];
      last_vectors[i] = sum;
    }
    copy(content.vectors(), last_vectors, m * c);
  }

  template <class Team>
  void forward(const Team&, Index u, const F* given, F* reading) {
    update(first + u, given, reading);
  }
  // Update u of all, with the first one.
  void update(Index u, const F* given, F* reading) {
    F* used = weights + u * row;
    const Index node = head + u + 1;
    const F* from = memory.forward + (node - 1) * c;
    if (m > 0) copy(vectors + u * vector_row, given + c * w, m);
    AutomatonRange<F> range;
    do {
      weigh(given, from, range, used);
      kernel.step(memory, node, used, vectors + u * vector_row);
    } while (range.again(row_sum(from, c), row_sum(memory.mass + node * c, c)));
    const F* mass = memory.mass + node * c;
    if ((loses || gives_up(mass, c)) && watches_losses())
      loses = follow_lost_runs<F>({memory.size.states, memory.size.symbols, given,
                                   shape.automaton.normalized, range.raised, from, mass},
                                  lost);
    read(node, reading);
  }

  void end_after(Index updates) { last = head + updates; }
  void repeat(const NondeterministicStackMemory& other, Index updates) {
    const Index nodes = head + updates + 1, rows = memory.row_start[nodes];
    copy(weights, other.weights, updates * row);
    copy(vectors, other.vectors, updates * vector_row);
    copy(expected, other.expected, (updates + 1) * c * m);
    copy(head_vectors, other.head_vectors, c * m);
    copy(lost, other.lost, c);
    loses = other.loses;
    copy(memory.forward, other.memory.forward, nodes * c);
    copy(memory.mass, other.memory.mass, nodes * c);
    copy(memory.columns, other.memory.columns, memory.size.edge_rows() * rows);
    copy(memory.popped, other.memory.popped, memory.size.states * rows);
  }

  // Computes the transition weights from the scores of the action layer.
  void weigh(const F* given, const F* from, const AutomatonRange<F>& range, F* used) const {
    if (shape.automaton.normalized) {
      for (Index a = 0; a < c; ++a) {
        const F largest = row_greatest(given + a * w, w);
        for (Index k = 0; k < w; ++k) used[a * w + k] = given[a * w + k] - largest;
      }
    } else {
      // A common factor changes nothing, so the largest usable weight is scaled to 1.
      F largest = 0;
      bool any = false;
      for (Index a = 0; a < c; ++a)
        for (Index k = 0; from[a] > 0 && k < w; ++k)
          if (!any || given[a * w + k] > largest) largest = given[a * w + k], any = true;
      if (__builtin_isinf(largest)) largest = 0;
      for (Index k = 0; k < c * w; ++k) used[k] = given[k] - largest;
    }
    clear(used + c * w, row - c * w);
    if (range.raised > 0) return weigh_again(range, from, used);
    exp_all(used, row);
    for (Index a = 0; a < c; ++a) {
      F* to = used + a * w;
      F factor = from[a] > 0 ? F(1) : F(0);
      if (shape.automaton.normalized) factor = 1 / row_sum(to, w);
      scale_weights(to, factor);
    }
  }
  // The same from the logarithms in `used`.
  void weigh_again(const AutomatonRange<F>& range, const F* from, F* used) const {
    for (Index a = 0; a < c; ++a) {
      F* to = used + a * w;
      F shift = 0;
      if (shape.automaton.normalized) {
        copy(weight_gradient, to, w);
        exp_all(weight_gradient, padded_size(w));
        shift = static_cast<F>(__builtin_log(row_sum(weight_gradient, w)));
      }
      for (Index k = 0; k < w; ++k) to[k] = range.exponent(to[k] - shift);
    }
    exp_all(used, row);
    for (Index a = 0; a < c; ++a) scale_weights(used + a * w, from[a] > 0 ? F(1) : F(0));
  }
  void scale_weights(F* to, F factor) const {
    for (Index k = 0; k < w; ++k)
      to[k] = factor == 0 ? F(0) : AutomatonRange<F>::kept(to[k] * factor);
  }

  // Adds the gradient of a reading to the rows of its column. Readings depend on the
  // gauge-invariant forward weights a[j] = 1 and a[i] by
  //   u_j[b] a[j][b] / sum_b' u_j[b'] a[j][b'],     a[j][b] = sum_{i,a} a[i][a] P[i->j][a->b],
  // and readings of a vector stack by u_j[b] sum_{i,a} a[i][a] V[i->j][a->b] / sum_b' u_j[b']
  // a[j][b'].
  void spread(Index node, const F* given) {
    const F* u = memory.forward + node * c;
    if (m > 0) {
      const F mean = dot(given, expected_at(node), c * m);
      for (Index b = 0; b < c; ++b) {
        reading_rows[b] = -u[b] * mean;
        for (Index k = 0; k < m; ++k) reading_rows[(1 + k) * c + b] = u[b] * given[b * m + k];
      }
      return;
    }
    const Index s = memory.size.symbols;
    F mean = 0;
    for (Index b = 0; b < c; ++b) mean += given[shape.automaton.state_symbol ? b : b % s] * u[b];
    for (Index b = 0; b < c; ++b)
      reading_rows[b] = u[b] * (given[shape.automaton.state_symbol ? b : b % s] - mean);
  }

  template <class Team>
  void begin_backward(const Team&) {
    clear(memory.forward_gradients, memory.size.forward_gradients());
    clear(memory.column(memory.numerators, last), memory.size.edge_rows() * memory.size.row(last));
    left_gradient = nullptr;
  }
  template <class Team>
  void begin_backward(const Team& team, const F* given) {
    begin_backward(team);
    left_gradient = given;
  }

  template <class Team>
  void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    undo(team, first + u, reading_gradient, out);
  }
  template <class Team>
  void undo(const Team& team, Index u, const F* reading_gradient, F* out) {
    const F* used = weights + u * row;
    const Index node = head + u + 1;
    spread(node, reading_gradient);
    if (left_gradient != nullptr) {
      const auto content = left(left_gradient);
      if (content.has_column(node))
        content.add_edges(team, node, rows_of(memory.columns), rows_of(memory.numerators),
                          memory.forward_gradients);
      if (node == last)
        content.add_head(team, memory.forward + node * c, last_vectors, reading_rows);
    }
    kernel.step_backward(memory, node, last, used, vectors + u * vector_row, reading_rows,
                         weight_gradient, vector_gradient);
    for (Index a = 0; a < c; ++a) {
      const F* to = used + a * w;
      const F* slope = weight_gradient + a * w;
      // The weights of a configuration sum to 1, or to exp(raised).
      const F sum = shape.automaton.normalized ? row_sum(to, w) : F(0);
      const F mean = sum > 0 ? row_dot(to, slope, w) / sum : F(0);
      for (Index k = 0; k < w; ++k) out[a * w + k] = to[k] * (slope[k] - mean);
    }
    if (!shape.automaton.normalized && is_noise(used)) clear(out, c * w);
    copy(out + c * w, vector_gradient, m);
  }

  // See AutomatonRange::is_noise().
  bool is_noise(const F* used) const {
    Vector<F> sum = {}, magnitude = {};
    for (Index i = 0; i < c * w; i += kLanes<F>) {
      const Vector<F> slope = first_lanes(load(used + i) * load(weight_gradient + i), c * w - i);
      sum += slope;
      magnitude += slope < F(0) ? -slope : slope;
    }
    return AutomatonRange<F>::is_noise(sum_of(sum), sum_of(magnitude));
  }

  template <class Team>
  void end_backward(const Team& team, const F* reading_gradient, F* bottom) {
    if (shape.goes_on) return give_back(team, taken(bottom), reading_gradient);
    if (m == 0) return;
    if (!shape.automaton.reexposed) return copy(bottom, reading_gradient, m);
    spread(1, reading_gradient);
    kernel.finish_backward(memory, 1, last, reading_rows);
    for (Index k = 0; k < m; ++k) bottom[k] = memory.row(memory.numerators, 1, (1 + k) * c)[0];
  }
  // The gradient of the content that the run took over.
  template <class Team>
  void give_back(const Team& team, const AutomatonContent<F>& content, const F* reading_gradient) {
    if (first > 0) undo(team, 0, reading_gradient, content.actions());
    if (shape.automaton.held_constant)
      return clear(content.numbers, content.actions() - content.numbers);
    // The weights of the first update are multiplied by u.
    const F* u = memory.forward + head * c;
    F* slope = content.forward();
    for (Index a = 0; a < c; ++a)
      slope[a] = u[a] >= AutomatonRange<F>::kSmallest
                     ? row_dot(weights + a * w, weight_gradient + a * w, w) / u[a]
                     : F(0);
    clear(content.vectors(), m * c);
    for (Index b = 0; first == 0 && b < c; ++b) {
      if (m == 0)
        slope[b] += reading_gradient[shape.automaton.state_symbol ? b : b % memory.size.symbols];
      for (Index k = 0; k < m; ++k) {
        const F read_slope = reading_gradient[b * m + k];
        slope[b] += read_slope * head_vectors[k * c + b];
        content.vectors()[k * c + b] = read_slope * u[b];
      }
    }
    // Columns without readings; nothing reaches the weights of earlier runs.
    clear(reading_rows, padded_size((1 + m) * c));
    for (Index j = head; j > 1; --j) {
      clear(memory.forward_gradients, memory.size.end(head + 1));
      kernel.finish_backward(memory, j, last, reading_rows);
    }
    content.read_edges(team, rows_of(memory.numerators));
    if (left_gradient == nullptr) return;
    const auto after = left(left_gradient);
    for (Index j = after.oldest + 1; j <= head; ++j)
      for (Index r = 0; r < (1 + m) * c; ++r)
        for (Index e = after.begin(); e < j * c; ++e) content.row(j, r)[e] += after.row(j, r)[e];
  }
};

template <class F>
NondeterministicStackMemory<F>::NondeterministicStackMemory(const MemoryShape& given,
                                                            const StackMemory<F>& place)
    : shape(given),
      c(given.automaton.configurations()),
      w(given.automaton.actions()),
      m(given.automaton.channels),
      row(padded_size(c * w)),
      vector_row(padded_size(m)),
      head(given.automaton.held + 1),
      last(given.automaton.steps + 1),
      first(given.automaton.held_moves ? 1 : 0),
      weights(place.tape),
      left_gradient(nullptr) {
  const auto& z = given.automaton;
  const Index updates = updates_of(given);
  vectors = weights + updates * row;
  expected = vectors + updates * vector_row + kPadding;
  head_vectors = expected + (updates + 1) * c * m;
  last_vectors = head_vectors + c * m;
  lost = last_vectors + c * m;
  F* forward = lost + c;
  F* columns = place.tape + head_size(given);
  memory = {z,
            z.row_start,
            columns,
            columns + z.edge_rows() * z.row_start[z.nodes()],
            forward,
            forward + z.nodes() * c,
            place.scratch,
            place.scratch + z.edge_rows() * z.row_start[z.nodes()]};
  memory.popped_gradient = memory.forward_gradients + z.forward_gradients();
  weight_gradient = memory.popped_gradient + z.popped_gradient();
  reading_rows = weight_gradient + row;
  vector_gradient = reading_rows + padded_size((1 + m) * c);
  first_actions = vector_gradient + vector_row;
  kernel = isa_kernel<NondeterministicKernel<F>, PUSHDOWN_OWN_ISA>(z.states, z.symbols);
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
