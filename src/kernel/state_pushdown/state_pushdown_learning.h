// Observers of the passes of a string (state_pushdown_step.h): one that only records the hidden
// vectors, and the three learning algorithms. For kernel files only.
#pragma once
#include "kernel/state_pushdown/state_pushdown_step.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
Outcome<F> make_outcome(Arena& arena, Index channels, Index readings) {
  Outcome<F> outcome;
  outcome.neurons = arena.take<Index>(channels);
  outcome.effects = arena.take<F>(channels * readings);
  return outcome;
}

// Records the hidden vectors. A pass that is skipped repeats the previous one.
template <class F, bool kThird>
struct Recorder {
  const Machine<F, kThird>& machine;
  F *hiddens, *weights;
  const F* latest = nullptr;

  Outcome<F>* next_outcome() { return nullptr; }
  void see(const Pass<F>& pass) {
    latest = pass.next;
    write(pass.next, 1);
  }
  void end_symbol(Index made) {
    for (Index k = made; k < machine.shape.passes; ++k) write(latest, 0);
  }
  void write(const F* hidden, F weight) {
    if (hiddens != nullptr) {
      copy(hiddens, hidden, machine.j);
      hiddens += machine.j;
    }
    if (weights != nullptr) *weights++ = weight;
  }
};

// Keeps everything that the backward pass needs.
template <class F, bool kThird>
struct Tape {
  const Machine<F, kThird>& machine;
  Validity<F> validity;
  F *z, *v, *errors;      // for each pass: J, Np, the gradient by the score
  F* r;                   // for each symbol and after the last
  Index *symbols, *made;  // for each symbol
  Outcome<F>* outcomes;   // for each symbol
  Index* neurons;
  F* effects;
  Index passes = 0, steps = 0;

  Tape(const Machine<F, kThird>& machine, StatePushdownLoss<F>* loss, Index length, Arena& arena)
      : machine(machine), validity{*loss, machine.j} {
    const Index most = length * machine.shape.passes, channels = machine.channels();
    z = arena.take<F>(most * machine.j);
    v = arena.take<F>(most * machine.rows);
    errors = arena.take<F>(most);
    r = arena.take<F>(length * machine.r);
    symbols = arena.take<Index>(length);
    made = arena.take<Index>(length);
    outcomes = arena.take<Outcome<F>>(length);
    neurons = arena.take<Index>(length * channels);
    effects = arena.take<F>(length * channels * machine.r);
  }

  Outcome<F>* next_outcome() {
    const Index channels = machine.channels();
    outcomes[steps] =
        Outcome<F>{0, neurons + steps * channels, effects + steps * channels * machine.r};
    return outcomes + steps;
  }
  void see(const Pass<F>& pass) {
    copy(z + passes * machine.j, pass.z, machine.j);
    copy(v + passes * machine.rows, pass.v, machine.pass_rows(pass.number));
    if (pass.number == 0) {
      copy(r + steps * machine.r, pass.r, machine.r);
      symbols[steps] = pass.symbol;
    }
    errors[passes++] = validity.see(pass.next, pass.counts_last);
  }
  void end_symbol(Index count) { made[steps++] = count; }

  // `reading`: r after the last symbol.
  void go_back(const F* reading, Arena& arena) {
    const Index j = machine.j, width = machine.r;
    F *dz = arena.take<F>(j), *carried = arena.take<F>(j), *previous = arena.take<F>(j);
    F *dr = arena.take<F>(width), *previous_dr = arena.take<F>(width);
    F* g = arena.take<F>(machine.rows);
    if (arena.memory == nullptr) return;
    clear(carried, j);
    clear(dr, width);
    F* const gradient = validity.loss.gradient;
    for (Index t = steps; t-- > 0;) {
      const Index l = symbols[t];
      const F* next_r = t + 1 < steps ? r + (t + 1) * width : reading;
      const bool at_first = machine.shape.carry_first;
      clear(dz, j);
      if (!at_first) add(dz, carried, j);
      for (Index k = made[t]; k-- > 0;) {
        --passes;
        const Index count = machine.pass_rows(k);
        if (k == 0 && at_first) add(dz, carried, j);
        add_scaled(dz, validity.loss.output, errors[passes], j);
        machine.slopes(v + passes * machine.rows, count, g);
        for (Index i = 0; i < j; ++i) g[i] *= dz[i];
        if (k > 0) {
          clear(g + j, count - j);
          machine.adjoint(l, z + passes * j, next_r, g, count, previous, dr, gradient);
        } else {
          spread(outcomes[t], dr, g + j, count - j);
          clear(previous_dr, width);
          machine.adjoint(l, z + passes * j, r + t * width, g, count, previous, previous_dr,
                          gradient);
        }
        F* swapped = dz;
        dz = previous;
        previous = swapped;
      }
      copy(carried, dz, j);
      F* swapped = dr;
      dr = previous_dr;
      previous_dr = swapped;
    }
  }

  // Converts the gradient of the reading and the slopes of the action rows to gradients of their
  // pre-activations.
  void spread(const Outcome<F>& outcome, const F* dr, F* slopes, Index count) const {
    for (Index i = 0; i < count; ++i) {
      F sum = 0;
      for (Index c = 0; c < outcome.count; ++c)
        if (outcome.neurons[c] == i) sum += dot(outcome.effects + c * machine.r, dr, machine.r);
      slopes[i] *= sum;
    }
  }
};

// The parts of the packed weights that a string has used so far.
struct Range {
  Index begin, size;
};

template <class F, bool kThird>
struct Ranges {
  Range* list;
  Index count = 0;
  bool* seen;

  Ranges(const Machine<F, kThird>& machine, Arena& arena)
      : list(arena.take<Range>(machine.shape.inputs + 2)),
        seen(arena.take<bool>(machine.shape.inputs)) {}

  // Calls fresh(range) for every part that symbol l is the first to use.
  template <class Fresh>
  void use(const Machine<F, kThird>& machine, Index l, Fresh fresh) {
    const auto add = [&](Index begin, Index size) {
      list[count++] = {begin, size};
      fresh(list[count - 1]);
    };
    const Index main = machine.j * machine.r * machine.rows;
    if (count == 0) {
      for (Index i = 0; i < machine.shape.inputs; ++i) seen[i] = false;
      add(machine.bias_place(), machine.rows);
      if (!kThird) add(0, main);
    }
    if (seen[l]) return;
    seen[l] = true;
    if (kThird)
      add(l * main, main);
    else
      add((machine.r + l) * machine.j * machine.rows, machine.j * machine.rows);
  }
};

// Carries dz/dW (J rows) and da/dW of the action neurons that the reading depends on.
template <class F, bool kThird>
struct Influence {
  const Machine<F, kThird>& machine;
  Validity<F> validity;
  Ranges<F, kThird> ranges;
  F *states[3], *actions[2];  // rows of size() numbers; [0] is carried, the others are free
  F *by_state, *by_reading;   // J x Np and R x Np: dv/dz and dv/dr
  F *by_action, *slope;       // channels x Np, Np
  const F** sources;
  F* factors;
  Outcome<F> outcomes[2];     // [0]: for the reading that pass 0 reads
  const F* latest = nullptr;  // rows of the states after the latest pass
  Index size;

  Influence(const Machine<F, kThird>& machine, StatePushdownLoss<F>* loss, Index, Arena& arena)
      : machine(machine), validity{*loss, machine.j}, ranges(machine, arena), size(machine.size()) {
    const Index channels = machine.channels();
    for (F*& rows : states) rows = arena.take<F>(machine.j * size);
    for (F*& rows : actions) rows = arena.take<F>(channels * size);
    by_state = arena.take<F>(machine.j * machine.rows);
    by_reading = arena.take<F>(machine.r * machine.rows);
    by_action = arena.take<F>(channels * machine.rows);
    slope = arena.take<F>(machine.rows);
    sources = arena.take<const F*>(machine.j + channels);
    factors = arena.take<F>(machine.j + channels);
    for (auto& outcome : outcomes) outcome = make_outcome<F>(arena, channels, machine.r);
  }

  Outcome<F>* next_outcome() { return &outcomes[1]; }

  void see(const Pass<F>& pass) {
    const Index j = machine.j, count = machine.pass_rows(pass.number);
    ranges.use(machine, pass.symbol, [&](Range range) {
      for (F* matrix : states)
        for (Index i = 0; i < j; ++i) clear(matrix + i * size + range.begin, range.size);
      for (F* matrix : actions)
        for (Index i = 0; i < machine.channels(); ++i)
          clear(matrix + i * size + range.begin, range.size);
    });
    // Pass 0 starts from the carried rows. The later ones keep the reading, and so its rows.
    const bool first = pass.number == 0;
    const F* from = first ? states[0] : latest;
    F* to = states[1] == from ? states[2] : states[1];
    const Outcome<F>& outcome = outcomes[first ? 0 : 1];
    const F* from_actions = actions[first ? 0 : 1];
    machine.slopes(pass.v, count, slope);
    differentiate(pass, outcome, count);
    for (Index i = 0; i < j; ++i) change(pass, outcome, from, from_actions, i, to + i * size);
    if (first)
      for (Index c = 0; c < outcomes[1].count; ++c)
        change(pass, outcome, from, from_actions, j + outcomes[1].neurons[c],
               actions[1] + c * size);
    latest = to;
    if (first && machine.shape.carry_first) {
      // The later passes are a branch, so their start must be preserved.
      states[1] = states[0];
      states[0] = to;
    }
    const F error = validity.see(pass.next, pass.counts_last);
    if (error == 0) return;
    for (Index i = 0; i < j; ++i)
      for (Index n = 0; n < ranges.count; ++n)
        add_rows(validity.loss.gradient + ranges.list[n].begin,
                 latest + i * size + ranges.list[n].begin, error * validity.loss.output[i],
                 ranges.list[n].size);
  }

  void end_symbol(Index) {
    if (!machine.shape.carry_first)
      for (int i = 1; i < 3; ++i)
        if (states[i] == latest) {
          states[i] = states[0];
          states[0] = const_cast<F*>(latest);
        }
    const Outcome<F> outcome = outcomes[0];
    outcomes[0] = outcomes[1];
    outcomes[1] = outcome;
    F* rows = actions[0];
    actions[0] = actions[1];
    actions[1] = rows;
  }

  // Computes the derivatives of v by the states before the pass and by the action neurons that its
  // reading depends on.
  void differentiate(const Pass<F>& pass, const Outcome<F>& outcome, Index count) {
    const Index j = machine.j, r = machine.r, rows = machine.rows;
    const F* main = machine.main_part(machine.parameters.packed, pass.symbol);
    clear(by_reading, r * rows);
    for (Index i = 0; i < j; ++i) {
      F* row = by_state + i * rows;
      clear(row, count);
      for (Index k = 0; k < r; ++k) {
        const F* weights = main + (i * r + k) * rows;
        add_rows(row, weights, pass.r[k], count);
        if (pass.z[i] != 0) add_rows(by_reading + k * rows, weights, pass.z[i], count);
      }
      if constexpr (!kThird)
        add_rows(row, machine.input_part(machine.parameters.packed, pass.symbol) + i * rows, F(1),
                 count);
    }
    for (Index c = 0; c < outcome.count; ++c) {
      clear(by_action + c * rows, count);
      for (Index k = 0; k < r; ++k)
        add_rows(by_action + c * rows, by_reading + k * rows, outcome.effects[c * r + k], count);
    }
  }

  // Computes the new row of the neuron in row n of v: through the previous states and actions, and
  // directly.
  void change(const Pass<F>& pass, const Outcome<F>& outcome, const F* from, const F* from_actions,
              Index n, F* to) {
    const Index j = machine.j, r = machine.r, rows = machine.rows;
    Index count = 0;
    const auto use = [&](const F* row, F factor) {
      sources[count] = row;
      factors[count++] = slope[n] * factor;
    };
    for (Index i = 0; i < j; ++i) use(from + i * size, by_state[i * rows + n]);
    for (Index c = 0; c < outcome.count; ++c) use(from_actions + c * size, by_action[c * rows + n]);
    for (Index m = 0; m < ranges.count; ++m) {
      const Index end = ranges.list[m].begin + ranges.list[m].size;
      for (Index i = ranges.list[m].begin; i < end; i += kLanes<F>) {
        Vector<F> sum = {};
        for (Index s = 0; s < count; ++s) sum += splat(factors[s]) * load(sources[s] + i);
        store(to + i, sum);
      }
    }
    F* main = machine.main_part(to, pass.symbol);
    for (Index i = 0; i < j; ++i) {
      if (pass.z[i] == 0) continue;
      for (Index k = 0; k < r; ++k)
        main[(i * r + k) * rows + n] += slope[n] * pass.z[i] * pass.r[k];
      if constexpr (!kThird)
        machine.input_part(to, pass.symbol)[i * rows + n] += slope[n] * pass.z[i];
    }
    to[machine.bias_place() + n] += slope[n];
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
