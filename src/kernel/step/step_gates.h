// The operations of gates in step programs (StepOp::lstm_cell, lstm_hidden and gru), forward and
// backward. For kernel files only.
//
// A row of gates has parts of `size` numbers, one after the other. The activations replace the
// gates and are stored for the backward pass; nothing else is. Products are rounded before they are
// added, as they are if every operation of the cell is a node of its own, so that both give the
// same numbers.
#pragma once
#include "kernel/step/step_operations.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// high - height / (1 + exp(rate x)): the logistic function and tanh, which differ in constants
// only. So one pass computes a row of both.
template <class F>
struct Squash {
  Vector<F> high, height, rate;

  static Squash logistic() { return {splat(F(0)), splat(F(-1)), splat(F(-1))}; }
  static Squash tanh() { return {splat(F(1)), splat(F(2)), splat(F(2))}; }
  // Returns this function for the first `count` lanes and `other` for the rest.
  Squash before(Index count, const Squash& other) const {
    return {first_lanes(high, count, other.high), first_lanes(height, count, other.height),
            first_lanes(rate, count, other.rate)};
  }
  [[gnu::always_inline]] Vector<F> operator()(Vector<F> x) const {
    return high - height / (F(1) + vector_exp(rate * x));
  }
};

// Stores the lanes of x that belong to a part of `size` numbers, of which it begins at number i.
template <class F>
[[gnu::always_inline]] inline void store_part(F* to, Vector<F> x, Index i, Index size) {
  if (i + kLanes<F> <= size)
    store(to + i, x);
  else
    store_first(to + i, x, size - i);
}

// The slopes of y = logistic(x) and of y = tanh(x), for the slope of y.
template <class F>
[[gnu::always_inline]] inline Vector<F> logistic_slope(Vector<F> slope, Vector<F> y) {
  return slope * y * (F(1) - y);
}
template <class F>
[[gnu::always_inline]] inline Vector<F> tanh_slope(Vector<F> slope, Vector<F> y) {
  return slope * (F(1) - y * y);
}

// gates: i, f, g, o; cell = sigmoid(f) before + sigmoid(i) tanh(g)
template <class F>
void compute_lstm_cell(Rows<F> cell, Rows<F> gates, Rows<F> before, Index rows, Index size) {
  const auto logistic = Squash<F>::logistic(), tanh = Squash<F>::tanh();
  for (Index i = 0; i < 4 * size; i += kLanes<F>) {
    const auto squash = logistic.before(2 * size - i, tanh.before(3 * size - i, logistic));
    for (Index b = 0; b < rows; ++b) store(gates[b] + i, squash(load(gates[b] + i)));
  }
  for (Index b = 0; b < rows; ++b) {
    const F *own = gates[b], *old = before[b];
    F* to = cell[b];
    for (Index i = 0; i < size; i += kLanes<F>)
      store(to + i, held(load(own + size + i) * load(old + i)) +
                        held(load(own + i) * load(own + 2 * size + i)));
  }
}

// slopes: of the gates; that of o is the slope of its activation before the call.
template <class F>
void propagate_lstm_cell(Rows<F> slope, Rows<F> gates, Rows<F> before, Rows<F> slopes, Index rows,
                         Index size) {
  for (Index b = 0; b < rows; ++b) {
    const F *given = slope[b], *own = gates[b], *old = before[b];
    F* to = slopes[b];
    for (Index i = 0; i < size; i += kLanes<F>) {
      const Vector<F> g = load(given + i), in = load(own + i), forget = load(own + size + i),
                      candidate = load(own + 2 * size + i), out = load(own + 3 * size + i);
      store_part(to, logistic_slope<F>(g * candidate, in), i, size);
      store_part(to + size, logistic_slope<F>(g * load(old + i), forget), i, size);
      store_part(to + 2 * size, tanh_slope<F>(held(g * in), candidate), i, size);
      store_part(to + 3 * size, logistic_slope<F>(load(to + 3 * size + i), out), i, size);
    }
  }
}

// out = o squashed, squashed = tanh(cell)
template <class F>
void compute_lstm_hidden(Rows<F> out, Rows<F> cell, Rows<F> o, Rows<F> squashed, Index rows,
                         Index size) {
  const auto tanh = Squash<F>::tanh();
  for (Index b = 0; b < rows; ++b)
    for (Index i = 0; i < size; i += kLanes<F>) {
      const Vector<F> y = tanh(load(cell[b] + i));
      store(squashed[b] + i, y);
      store(out[b] + i, load(o[b] + i) * y);
    }
}

// x: r, z and n from the input; h: from the hidden vector; `before`: the hidden vector.
template <class F>
void compute_gru(Rows<F> out, Rows<F> x, Rows<F> h, Rows<F> before, Index rows, Index size) {
  const auto logistic = Squash<F>::logistic(), tanh = Squash<F>::tanh();
  for (Index b = 0; b < rows; ++b) {
    F* own = x[b];
    const F* other = h[b];
    for (Index i = 0; i < 2 * size; i += kLanes<F>)
      store_part(own, logistic(load(own + i) + load(other + i)), i, 2 * size);
  }
  for (Index b = 0; b < rows; ++b) {
    F *own = x[b], *to = out[b];
    const F *other = h[b], *old = before[b];
    for (Index i = 0; i < size; i += kLanes<F>) {
      const Vector<F> n =
          tanh(load(own + 2 * size + i) + held(load(own + i) * load(other + 2 * size + i)));
      store(own + 2 * size + i, n);
      store(to + i, n + held(load(own + size + i) * (load(old + i) - n)));
    }
  }
}

// of_x, of_h: slopes of both, null where none is wanted.
template <class F>
void propagate_gru(Rows<F> slope, Rows<F> x, Rows<F> h, Rows<F> before, Rows<F> of_x, Rows<F> of_h,
                   Index rows, Index size) {
  for (Index b = 0; b < rows; ++b) {
    const F *given = slope[b], *own = x[b], *other = h[b], *old = before[b];
    for (Index i = 0; i < size; i += kLanes<F>) {
      const Vector<F> g = load(given + i), reset = load(own + i), update = load(own + size + i),
                      n = load(own + 2 * size + i);
      const Vector<F> candidate = tanh_slope<F>(g - held(g * update), n);
      const Vector<F> of_reset = logistic_slope<F>(candidate * load(other + 2 * size + i), reset);
      const Vector<F> of_update = logistic_slope<F>(g * (load(old + i) - n), update);
      const auto put = [&](Rows<F> to, Vector<F> last) {
        if (to.first == nullptr) return;
        store_part(to[b], of_reset, i, size);
        store_part(to[b] + size, of_update, i, size);
        store_part(to[b] + 2 * size, last, i, size);
      };
      put(of_x, candidate);
      put(of_h, candidate * reset);
    }
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
