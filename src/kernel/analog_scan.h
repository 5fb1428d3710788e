// The analog stack of the neural network pushdown automaton (stack/analog_stack.h) with its refused
// pops (model/analog_pushdown.h), for step programs. For kernel files only.
//
// Actions: A | the symbol, one-hot, V numbers; all 0 for a symbol that leaves the stack alone.
// Reading: R, V numbers | L | U | whether the step counts, 1 or 0 (without a gradient).
#pragma once
#include "kernel/scan_math.h"
#include "kernel/strengths.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

template <class F>
struct AnalogScan {
  Index updates, symbols;
  F epsilon, held;  // held: the share of a pop that must be there
  bool stops;
  F* actions;  // U: what was done to the stack
  F* kinds;    // U: the symbol of section u; -1 for none
  F* lengths;  // U + 1: L before any update and after each
  F* unmet;    // U + 1: the same of U
  Strengths<F> sections;
  F unmet_gradient = 0;

  AnalogScan(const ScanShape& shape, F* tape, F* scratch)
      : updates(shape.steps - 1),
        symbols(shape.size),
        epsilon(static_cast<F>(shape.epsilon)),
        held(static_cast<F>(1 - shape.tolerance)),
        stops(shape.stops),
        actions(tape),
        kinds(actions + updates),
        lengths(kinds + updates),
        unmet(lengths + updates + 1),
        sections{updates, unmet + updates + 1, scratch} {}
  static Index tape_size(const ScanShape& shape) {
    const Index u = shape.steps - 1;
    return 4 * u + 2 + Strengths<F>::tape_size(u);
  }
  static Index scratch_size(const ScanShape& shape) {
    return Strengths<F>::scratch_size(shape.steps - 1);
  }

  void begin(const ScanParameters<F>&, F* reading) {
    clear(reading, symbols + 2);
    reading[symbols + 2] = 1;
    lengths[0] = unmet[0] = 0;
  }

  void forward(Index u, F* given, F* reading) {
    Index symbol = -1;
    for (Index k = 0; k < symbols; ++k)
      if (given[1 + k] != 0) symbol = k;
    const bool running = unmet[u] == 0;
    F action = given[0];
    if (!running || symbol < 0 || !(action > epsilon || action < -epsilon)) action = 0;
    const bool refused = stops && action < 0 && (lengths[u] < -held * action || lengths[u] <= 0);
    unmet[u + 1] = refused ? -(lengths[u] + action) : unmet[u];
    if (refused) action = 0;
    actions[u] = action;
    kinds[u] = static_cast<F>(symbol);
    sections.update(u, action > 0 ? action : F(0), action < 0 ? -action : F(0));
    F length = 0;
    const F* now = sections.after(u);
    for (Index i = 0; i <= u; ++i) length += now[i];
    lengths[u + 1] = length;
    clear(reading, symbols);
    sections.read(u, [&](Index i, F share) {
      if (kinds[i] >= 0) reading[static_cast<Index>(kinds[i])] += share;
    });
    reading[symbols] = length;
    reading[symbols + 1] = unmet[u + 1];
    reading[symbols + 2] = running && !refused ? F(1) : F(0);
  }

  void begin_backward() {
    sections.begin_backward();
    unmet_gradient = 0;
  }

  void backward(Index u, const F* reading_gradient, F* out) {
    clear(out, 1 + symbols);
    for (Index i = 0; i <= u; ++i) sections.gradient[i] += reading_gradient[symbols];
    sections.read_backward(u, [&](Index i, F) {
      return kinds[i] >= 0 ? reading_gradient[static_cast<Index>(kinds[i])] : F(0);
    });
    const F action = actions[u];
    const auto gradient = sections.update_backward(u, action < 0 ? -action : F(0));
    if (action > 0) out[0] = gradient.push;
    if (action < 0) out[0] = -gradient.pop;
    unmet_gradient += reading_gradient[symbols + 1];
    const bool refused = unmet[u] == 0 && unmet[u + 1] != 0;
    if (!refused) return;
    // U = -(L + A), of the length and the action that were there.
    out[0] -= unmet_gradient;
    for (Index i = 0; i < u; ++i) sections.gradient[i] -= unmet_gradient;
    unmet_gradient = 0;
  }
  void cut() { begin_backward(); }
  void end_backward(const F*, F*) {}
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
