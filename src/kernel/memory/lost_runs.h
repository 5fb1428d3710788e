// Runs of a nondeterministic stack that its number type loses. AutomatonRange gives up a
// configuration whose forward weight is below kLeast. Its runs could matter again if all others end
// or become as unlikely, which a later step with weights far apart can do. Nothing can restore
// them, but an estimate of their weight tells whether the readings may be wrong.
#pragma once
#include <cstdint>

namespace pushdown {

// A step of the automaton (nondeterministic_kernel.h).
template <class F>
struct AutomatonStep {
  std::int64_t states, symbols;
  const F* scores;  // C x W, whose exponentials are proportional to the weights
  bool normalized;  // with a softmax over each row
  F raised;         // AutomatonRange::raised
  const F* before;  // C, forward weights of the node before
  const F* mass;    // C, masses of the node after
};

// Returns whether the step gives up a configuration.
template <class F>
[[gnu::always_inline]] inline bool gives_up(const F* mass, std::int64_t configurations) {
  bool any = false;
  for (std::int64_t b = 0; b < configurations; ++b) any |= mass[b] == 0;
  return any;
}

// lost : C, the estimated weights of all lost runs in each configuration, relative to the weight of
// the runs that are left, as natural logarithms; -infinity at first. Updates them for a step, which
// lost runs make with all transitions of their configuration, because their stacks are unknown.
// Reports a loss (base/lost_precision.h) if they reach 1e-5. Returns whether there are any.
template <class F>
bool follow_lost_runs(const AutomatonStep<F>& step, F* lost);

}  // namespace pushdown
