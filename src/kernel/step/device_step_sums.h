// The gradients of the matrices and parameters of a step program on a device: sums over steps and
// sequences.
#pragma once
#include "kernel/step/device_step_loop.h"

namespace pushdown::device {

template <class F, class Memory, bool kLong>
template <class Team>
PUSHDOWN_DEVICE void StepLoop<F, Memory, kLong>::sum_over_steps(const Team& team) const {
  F* all = p.sequence_gradients + (model * p.batch + sequence) * p.parameters;
  for (int n = 0; n < p.count; ++n) {
    const StepNode& node = nodes()[n];
    if (node.op != StepOp::affine || !node.gradient) continue;
    for (int k = 0; k < node.terms; ++k) {
      const StepTerm& term = terms()[node.first_term + k];
      const auto weights = matrix(term.matrix);
      if (weights.gradient < 0) continue;
      const F* slopes = gradient(n, 0);
      const Index slope_step = place(n).gradient_step, step = place(term.operand).step;
      if (term.lookup) {
        each(team, weights.rows * weights.columns, [&](Index place) {
          const Index i = place / weights.columns, j = place - i * weights.columns;
          F sum = 0;
          for (Index t = 0; t < steps; ++t)
            if (symbol(t) == j) sum += slopes[t * slope_step + i];
          all[weights.gradient + place] = sum;
        });
        continue;
      }
      const F* values = value(term.operand, 0);
      each(team, weights.rows * weights.columns, [&](Index place) {
        const Index i = place / weights.columns, j = place - i * weights.columns;
        F sum = 0;
        for (Index t = 0; t < steps; ++t) sum += slopes[t * slope_step + i] * values[t * step + j];
        all[weights.gradient + place] = sum;
      });
    }
  }
}

// Computes gradient i of a model: the sum over its sequences.
template <class F>
PUSHDOWN_DEVICE void sum_over_sequences(const DeviceStepProgram<F>& program, Index model, Index i) {
  const F* from = program.sequence_gradients + model * program.batch * program.parameters + i;
  F sum = 0;
  for (Index b = 0; b < program.batch; ++b) sum += from[b * program.parameters];
  program.gradients[model * program.parameters + i] = sum;
}

}  // namespace pushdown::device
