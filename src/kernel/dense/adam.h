// Steps of Adam (train/optimizing/optimizer.h) over consecutive numbers. No product is fused with a
// sum, so the results are the same with every instruction set.
#pragma once
#include <cstdint>

#include "kernel/isa.h"

namespace pushdown {

// What differs from step to step: r / (1 - b1^t) and 1 / sqrt(1 - b2^t).
struct StepFactors {
  double rate, scale;
};

template <class F>
struct AdamNumbers {
  F beta1, beta2, fresh1, fresh2, epsilon;  // fresh: 1 - beta
};

PUSHDOWN_INLINE_ANYWHERE float adam_root(float x) { return __builtin_sqrtf(x); }
PUSHDOWN_INLINE_ANYWHERE double adam_root(double x) { return __builtin_sqrt(x); }

// One step of one number.
template <class F>
PUSHDOWN_INLINE_ANYWHERE void adam_step(F& p, F g, F& m, F& v, const AdamNumbers<F>& of, F rate,
                                        F scale) {
  m = of.beta1 * m + of.fresh1 * g;
  v = of.beta2 * v + of.fresh2 * g * g;
  p -= rate * m / (adam_root(v) * scale + of.epsilon);
}

template <class F>
struct AdamKernel {
  // One step with the gradient g.
  void (*step)(F* p, const F* g, F* m, F* v, std::int64_t count, const AdamNumbers<F>& numbers,
               const StepFactors& factors);
  // `steps` steps with the gradient zero. In the last `falling` steps no number changes by more
  // than in the step before, so that p stays what it is after one that did not change it.
  void (*rest)(F* p, F* m, F* v, std::int64_t count, const AdamNumbers<F>& numbers,
               const StepFactors* factors, std::int64_t steps, std::int64_t falling);
};

}  // namespace pushdown
