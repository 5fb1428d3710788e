// Keeps the numbers of a nondeterministic stack within the range of the number type, although the
// weights of a step may differ by any factor.
#pragma once
#include "kernel/isa.h"

#ifdef __CUDACC__
#define PUSHDOWN_RANGE_FUNCTION __host__ __device__ inline
#else
#define PUSHDOWN_RANGE_FUNCTION PUSHDOWN_INLINE
#endif

namespace pushdown {

// The largest weight of a step may be that of a transition that is impossible, such as a pop of the
// initial bottom symbol, or that starts in a configuration with almost no forward weight. The other
// weights can then be too small for the number type. Such a step is computed again with all weights
// multiplied by exp(raised), which changes no result.
template <class F>
struct AutomatonRange {
  static constexpr bool kSingle = sizeof(F) == sizeof(float);
  // Configurations with a smaller forward weight count as unreachable.
  static constexpr F kLeast = kSingle ? F(1e-28) : F(1e-270);
  static constexpr F kLeastTotal = F(1e-6);
  // Smaller weights and masses are 0, with their gradients: nothing is divided by them.
  static constexpr F kSmallest = kSingle ? F(2e-38) : F(4e-308);
  // In natural logarithms: what an attempt adds to a step without mass, what all attempts add, and
  // the largest weight.
  static constexpr F kRaise = kSingle ? F(60) : F(550);
  static constexpr F kMostRaised = 16 * kRaise;
  static constexpr F kMostExponent = kSingle ? F(80) : F(650);
  // Of a numerator. The gradient is the probability of an edge after the whole sequence divided by
  // the edge's weight in the step, which can be any positive number.
  static constexpr F kMostGradient = kSingle ? F(1e30) : F(1e280);

  F raised = 0;

  PUSHDOWN_RANGE_FUNCTION static F kept(F weight) { return weight < kSmallest ? F(0) : weight; }
  // The gradients of a step's scores add up to 0, because a common factor of its weights changes no
  // reading. Returns whether their sum shows that they consist of rounding errors: if a single
  // transition is possible, nothing else is left of them, and large parameters would multiply these
  // errors from step to step.
  PUSHDOWN_RANGE_FUNCTION static bool is_noise(F sum, F magnitude) {
    return (sum < 0 ? -sum : sum) > magnitude / 4;
  }
  // Returns the least mass of a reachable configuration in a step of this mass.
  PUSHDOWN_RANGE_FUNCTION static F least(F total) {
    return kLeast * total > kSmallest ? kLeast * total : kSmallest;
  }
  // Returns whether a step of this mass has to be computed again; `before` is the sum of the
  // forward weights before the step.
  PUSHDOWN_RANGE_FUNCTION bool again(F before, F total) {
    if (!(before > 0 && total < kLeastTotal) || raised >= kMostRaised) return false;
    if (total < kSmallest) {
      raised += kRaise;
    } else {
      for (; total < 1; total *= 1024) raised += F(6.931471805599453);
    }
    return true;
  }
  // Returns the logarithm of a weight that is exp(x) at first. Only impossible transitions exceed
  // the largest one.
  PUSHDOWN_RANGE_FUNCTION F exponent(F x) const {
    return x + raised < kMostExponent ? x + raised : kMostExponent;
  }
  PUSHDOWN_RANGE_FUNCTION static F limited(F gradient) {
    const F most = kMostGradient;
    return gradient > most ? most : gradient < -most ? -most : gradient;
  }
};

}  // namespace pushdown
