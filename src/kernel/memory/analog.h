// The analog stack of the neural network pushdown automaton (stack/analog_stack.h) with its refused
// pops (model/analog_pushdown.h). See memories.h for the functions.
//
// Actions: A | the symbol, one-hot, V numbers; all 0 for a symbol that does not change the stack.
// Reading: R, V numbers | L | U | whether the step counts, 1 or 0 (without a gradient).
#pragma once
#include "kernel/memory/strengths.h"

namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE {

template <class F>
struct AnalogMemory {
  Index updates, symbols;
  F epsilon, held;  // held: the fraction of a pop that the stack must contain
  bool stops;
  F* actions;  // U: the action on the stack
  F* kinds;    // U: the symbol of section u; -1 for none
  F* lengths;  // U + 1: L before any update and after each
  F* unmet;    // U + 1: the same of U
  Sections<F> sections;
  F unmet_gradient = 0;

  PUSHDOWN_DEVICE AnalogMemory(const MemoryShape& shape, const StackMemory<F>& memory)
      : updates(static_cast<Index>(shape.steps - 1)),
        symbols(static_cast<Index>(shape.analog.symbols)),
        epsilon(static_cast<F>(shape.analog.epsilon)),
        held(static_cast<F>(1 - shape.analog.tolerance)),
        stops(shape.analog.stops),
        actions(memory.tape),
        kinds(actions + updates),
        lengths(kinds + updates),
        unmet(lengths + updates + 1),
        sections(updates, unmet + updates + 1, memory.scratch, SectionEnds::stack, false) {}
  PUSHDOWN_HOST_DEVICE static Count tape_size(const MemoryShape& shape) {
    const Count u = shape.steps - 1;
    return 4 * u + 2 + Sections<F>::tape_size(u, SectionEnds::stack);
  }
  PUSHDOWN_HOST_DEVICE static Count scratch_size(const MemoryShape& shape) {
    return Sections<F>::scratch_size(Count{shape.steps} - 1, SectionEnds::stack);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin(const Team& team, const F*, F* reading) {
    each(team, symbols + 3, [&](Index i) { reading[i] = i == symbols + 2 ? F(1) : F(0); });
    if (team.id() == 0) lengths[0] = unmet[0] = 0;
  }

  // All threads compute the action; one writes it.
  template <class Team>
  PUSHDOWN_DEVICE void forward(const Team& team, Index u, const F* given, F* reading) {
    Index symbol = -1;
    for (Index k = 0; k < symbols; ++k)
      if (given[1 + k] != 0) symbol = k;
    const bool running = unmet[u] == 0;
    F action = given[0];
    if (!running || symbol < 0 || !(action > epsilon || action < -epsilon)) action = 0;
    const bool refused = stops && action < 0 && (lengths[u] < -held * action || lengths[u] <= 0);
    const F missing = refused ? -(lengths[u] + action) : unmet[u];
    if (refused) action = 0;
    if (team.id() == 0) {
      unmet[u + 1] = missing;
      actions[u] = action;
      kinds[u] = static_cast<F>(symbol);
    }
    sections.update(team, u, action > 0 ? action : F(0), action < 0 ? -action : F(0), F(0), F(0));
    team.sync();
    each(team, symbols, [&](Index i) { reading[i] = 0; });
    sections.read(u, true, F(1), [&](Index place, F share) {
      const Index kind = static_cast<Index>(kinds[place]);
      if (kind >= 0 && kind % team.size() == team.id()) reading[kind] += share;
    });
    if (team.id() != 0) return;
    F length = 0;
    const F* now = sections.after(u);
    for (Index i = 0; i <= u; ++i) length += now[i];
    lengths[u + 1] = reading[symbols] = length;
    reading[symbols + 1] = missing;
    reading[symbols + 2] = running && !refused ? F(1) : F(0);
  }

  template <class Team>
  PUSHDOWN_DEVICE void begin_backward(const Team& team) {
    each(team, updates, [&](Index i) { sections.gradient[i] = 0; });
    unmet_gradient = 0;
  }

  template <class Team>
  PUSHDOWN_DEVICE void backward(const Team& team, Index u, const F* reading_gradient, F* out) {
    each(team, u + 1, [&](Index i) { sections.gradient[i] += reading_gradient[symbols]; });
    sections.read_backward(team, u, true, F(1), [&](Index i, F) {
      return kinds[i] >= 0 ? reading_gradient[static_cast<Index>(kinds[i])] : F(0);
    });
    const F action = actions[u];
    unmet_gradient += reading_gradient[symbols + 1];
    const bool refused = unmet[u] == 0 && unmet[u + 1] != 0;
    each(team, symbols, [&](Index i) { out[1 + i] = 0; });
    sections.update_backward(team, u, action < 0 ? -action : F(0), F(0), [&](F push, F pop, F, F) {
      out[0] = action > 0 ? push : action < 0 ? -pop : F(0);
      // U = -(L + A), with the length and the action of that time.
      if (refused) out[0] -= unmet_gradient;
    });
    if (!refused) return;
    each(team, u, [&](Index i) { sections.gradient[i] -= unmet_gradient; });
    unmet_gradient = 0;
  }
  template <class Team>
  PUSHDOWN_DEVICE void cut(const Team& team) {
    begin_backward(team);
  }
};

}  // namespace pushdown::PUSHDOWN_MEMORY_NAMESPACE
