// One pass of the neural state pushdown automaton and its derivatives (state_pushdown.h), and the
// loop over a string. For kernel files only.
#pragma once
#include "kernel/state_pushdown/state_pushdown.h"
#include "kernel/vector_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// Hands out parts of the scratch memory; without memory, it only counts.
struct Arena {
  unsigned char* memory = nullptr;
  Index used = 0;

  template <class T>
  T* take(Index count) {
    const Index at = used;
    used += (count * static_cast<Index>(sizeof(T)) + 63) / 64 * 64;
    return memory == nullptr ? nullptr : reinterpret_cast<T*>(memory + at);
  }
};

// to += factor * from; the count is a multiple of kPadding.
template <class F>
[[gnu::always_inline]] inline void add_rows(F* to, const F* from, F factor, Index count) {
  const Vector<F> f = splat(factor);
  for (Index i = 0; i < count; i += kLanes<F>) store(to + i, load(to + i) + f * load(from + i));
}
template <class F>
[[gnu::always_inline]] inline F dot_rows(const F* a, const F* b, Index count) {
  Vector<F> sum = load(a) * load(b);
  for (Index i = kLanes<F>; i < count; i += kLanes<F>) sum += load(a + i) * load(b + i);
  return sum_of(sum);
}

// The dependence of the reading after a step on action neurons: dr/da of neurons[c] is row c.
template <class F>
struct Outcome {
  Index count = 0;
  Index* neurons;  // up to V
  F* effects;      // x R

  void clear_effects(Index neuron, Index readings) {
    neurons[count] = neuron;
    clear(effects + count * readings, readings);
  }
};

// A pass that was made: z, r and symbol l gave v, and v gave the next z (and r at pass 0).
template <class F>
struct Pass {
  Index symbol, number;  // number 0 .. K-1; 0 moves the stack
  bool counts_last;      // the last pass of the string
  const F *z, *r, *v, *next;
  const Outcome<F>* outcome;  // for pass 0
};

template <class F, bool kThird>
struct Machine {
  const StatePushdownShape& shape;
  const StatePushdownParameters<F>& parameters;
  Index j, v, r, rows, state_rows;  // J, V, R; Np, J padded

  Machine(const StatePushdownShape& shape, const StatePushdownParameters<F>& parameters)
      : shape(shape),
        parameters(parameters),
        j(shape.states),
        v(shape.symbols),
        r(shape.symbols + 1),
        rows(padded_size(j + v)),
        state_rows(padded_size(j)) {}

  // The weights in use when symbol l is read: J x R x Np, and J x Np for a column that is always 1.
  template <class T>
  T* main_part(T* packed, Index l) const {
    return kThird ? packed + l * j * r * rows : packed;
  }
  template <class T>
  T* input_part(T* packed, Index l) const {
    return kThird ? nullptr : packed + (r + l) * j * rows;
  }
  Index bias_place() const {
    return kThird ? shape.inputs * j * r * rows : (r + shape.inputs) * j * rows;
  }
  Index size() const { return bias_place() + rows; }
  Index pass_rows(Index number) const { return number == 0 ? rows : state_rows; }
  Index channels() const { return shape.action_reading ? v : (v < 2 ? v : 2); }

  void pre_activations(Index l, const F* z, const F* reading, Index count, F* out) const {
    copy(out, parameters.packed + bias_place(), count);
    const F* main = main_part(parameters.packed, l);
    for (Index i = 0; i < j; ++i) {
      if (z[i] == 0) continue;
      for (Index k = 0; k < r; ++k)
        add_rows(out, main + (i * r + k) * rows, z[i] * reading[k], count);
      if constexpr (!kThird)
        add_rows(out, input_part(parameters.packed, l) + i * rows, z[i], count);
    }
  }

  // Computes dv for changes dz and dr.
  void tangent(const Pass<F>& pass, const F* dz, const F* dr, Index count, F* out) const {
    clear(out, count);
    const F* main = main_part(parameters.packed, pass.symbol);
    for (Index i = 0; i < j; ++i) {
      for (Index k = 0; k < r; ++k)
        add_rows(out, main + (i * r + k) * rows, dz[i] * pass.r[k] + pass.z[i] * dr[k], count);
      if constexpr (!kThird)
        add_rows(out, input_part(parameters.packed, pass.symbol) + i * rows, dz[i], count);
    }
  }

  // Computes dz for the gradient g of v, and adds to the gradients of r and of the packed weights.
  void adjoint(Index l, const F* z, const F* reading, const F* g, Index count, F* dz, F* dr,
               F* gradient) const {
    const F* main = main_part(parameters.packed, l);
    F* main_gradient = main_part(gradient, l);
    for (Index i = 0; i < j; ++i) {
      F sum = 0;
      for (Index k = 0; k < r; ++k) {
        const F slope = dot_rows(g, main + (i * r + k) * rows, count);
        sum += slope * reading[k];
        dr[k] += slope * z[i];
      }
      if constexpr (!kThird) sum += dot_rows(g, input_part(parameters.packed, l) + i * rows, count);
      dz[i] = sum;
      if (z[i] == 0) continue;
      for (Index k = 0; k < r; ++k)
        add_rows(main_gradient + (i * r + k) * rows, g, z[i] * reading[k], count);
      if constexpr (!kThird) add_rows(input_part(gradient, l) + i * rows, g, z[i], count);
    }
    add_rows(gradient + bias_place(), g, F(1), count);
  }

  // The derivatives of the functions that are quantised: logistic for the state rows, 2 logistic -
  // 1 for the others.
  void slopes(const F* pre, Index count, F* out) const {
    sigmoid_all(pre, out, count);
    for (Index i = 0; i < count; ++i) out[i] *= 1 - out[i];
    for (Index i = j; i < count; ++i) out[i] *= 2;
  }

  Index action(F u) const {
    return u > parameters.push_threshold ? 1 : u < parameters.pop_threshold ? -1 : 0;
  }

  // Sets alpha_1 everywhere, then alpha_3 at `popped` (-1: none), then alpha_2 at the top.
  void look(Index top, Index popped, F* reading) const {
    for (Index k = 0; k < r; ++k) reading[k] = parameters.other;
    if (popped >= 0) reading[popped] = parameters.popped;
    reading[top] = parameters.top;
  }
  // effect += factor * the reading of that outcome
  void add_look(Index top, Index popped, F factor, F* effect) const {
    for (Index k = 0; k < r; ++k)
      effect[k] += factor * (k == top      ? parameters.top
                             : k == popped ? parameters.popped
                                           : parameters.other);
  }

  // Performs the stack operation that the pre-activations u choose at symbol l, and computes the
  // reading after it.
  void operate(Index l, const F* u, StatePushdownString<F>& string, F* reading,
               Outcome<F>* outcome) const {
    Index* stack = string.stack;
    const Index depth = string.depth;
    const Index top = depth > 0 ? stack[depth - 1] : v, below = depth > 1 ? stack[depth - 2] : v;
    const Index at_symbol = l < v ? action(u[l]) : -1, at_top = depth > 0 ? action(u[top]) : 1;
    const bool push = at_symbol == 1, pop = !push && at_top == -1;
    if (push) stack[string.depth++] = l;
    if (pop) --string.depth;
    if (shape.action_reading) {
      for (Index k = 0; k < v; ++k) {
        const Index a = action(u[k]);
        reading[k] = a == 1 ? parameters.top : a == -1 ? parameters.popped : parameters.other;
        if (outcome == nullptr) continue;
        outcome->count = k;
        outcome->clear_effects(k, r);
        F& effect = outcome->effects[k * r + k];
        if (a >= 0) effect += parameters.top - parameters.other;
        if (a <= 0) effect -= parameters.popped - parameters.other;
      }
      reading[v] = string.depth > 0 ? parameters.other : parameters.top;
      if (outcome != nullptr) outcome->count = v;
      return;
    }
    look(push ? l : pop ? below : top, pop ? top : Index{-1}, reading);
    if (outcome == nullptr) return;
    // r = p pushed + (1 - p) q popped + (1 - p)(1 - q) kept, where q is computed as if there were
    // no push.
    outcome->count = 0;
    if (l < v && at_symbol >= 0) {
      outcome->clear_effects(l, r);
      add_look(l, -1, F(1), outcome->effects);
      if (at_top == -1)
        add_look(below, top, F(-1), outcome->effects);
      else
        add_look(top, -1, F(-1), outcome->effects);
      outcome->count = 1;
    }
    if (depth > 0 && at_top <= 0 && !push) {  // dq/da = -1
      const bool same = outcome->count == 1 && outcome->neurons[0] == top;
      const Index place = same ? 0 : outcome->count;
      if (!same) {
        outcome->clear_effects(top, r);
        ++outcome->count;
      }
      add_look(below, top, F(-1), outcome->effects + place * r);
      add_look(top, -1, F(1), outcome->effects + place * r);
    }
  }

  bool hinted(Index l, const F* z, const StatePushdownString<F>& string) const {
    if (parameters.hints == nullptr) return false;
    Index active = -1;
    for (Index i = 0; i < j; ++i) {
      if (z[i] == 0) continue;
      if (active >= 0) return false;
      active = i;
    }
    const Index top = string.depth > 0 ? string.stack[string.depth - 1] : v;
    return active >= 0 && parameters.hints[(active * r + top) * shape.inputs + l];
  }

  // Reads the string and shows `learner` every pass that is made: learner.see(pass). With kOutcome,
  // its outcomes are computed as well; learner.next_outcome() returns the place for the next one.
  template <class Learner>
  void walk(StatePushdownString<F>& string, Learner& learner, Arena& arena) const {
    F* pre = arena.take<F>(rows);
    F *z = arena.take<F>(j), *first = arena.take<F>(j), *other[2];
    for (F*& buffer : other) buffer = arena.take<F>(j);
    F *reading = arena.take<F>(r), *next_reading = arena.take<F>(r);
    if (arena.memory == nullptr) return;
    copy(z, string.neurons, j);
    copy(reading, string.reading, r);
    for (Index t = 0; t < string.length; ++t) {
      const Index l = string.words[t];
      const Index made = shape.passes > 1 && hinted(l, z, string) ? 1 : shape.passes;
      const auto quantise = [&](F* to) {
        for (Index i = 0; i < j; ++i) to[i] = pre[i] > 0 ? F(1) : F(0);
      };
      pre_activations(l, z, reading, rows, pre);
      quantise(first);
      Outcome<F>* outcome = learner.next_outcome();
      operate(l, pre + j, string, next_reading, outcome);
      const bool last = t + 1 == string.length;
      learner.see(Pass<F>{l, 0, last && made == 1, z, reading, pre, first, outcome});
      const F* current = first;
      for (Index k = 1; k < made; ++k) {
        pre_activations(l, current, next_reading, state_rows, pre);
        F* next = other[k % 2];
        quantise(next);
        learner.see(
            Pass<F>{l, k, last && k + 1 == made, current, next_reading, pre, next, nullptr});
        current = next;
      }
      learner.end_symbol(made);
      copy(z, shape.carry_first ? first : current, j);
      F* swapped = reading;
      reading = next_reading;
      next_reading = swapped;
    }
    copy(string.neurons, z, j);
    copy(string.reading, reading, r);
  }
};

// The loss of one string, pass by pass.
template <class F>
struct Validity {
  StatePushdownLoss<F>& loss;
  Index j;

  // Returns the gradient of the loss by the score of the hidden vector h, 0 if it has no loss, and
  // adds to the output layer's gradients.
  F see(const F* h, bool counts_last) {
    F score = loss.output_bias;
    for (Index i = 0; i < j; ++i) score += loss.output[i] * h[i];
    loss.score = score;
    if (!loss.every_step && !counts_last) return 0;
    const double s = score, y = loss.label, e = __builtin_exp(s < 0 ? s : -s);
    loss.loss += (s > 0 ? s : 0) + __builtin_log1p(e) - y * s;
    const F slope = loss.scale * static_cast<F>((s < 0 ? e : 1) / (1 + e) - y);
    for (Index i = 0; i < j; ++i) loss.output_gradient[i] += slope * h[i];
    *loss.output_bias_gradient += slope;
    return slope;
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
