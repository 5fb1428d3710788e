// How the methods of train/optimizing/optimizer.h change one number p, given its gradient g and two
// running sums a and b, for the CPU and for CUDA devices.
#pragma once
#include <cmath>

#include "kernel/dense/adam.h"
#include "kernel/device_team.h"

namespace pushdown {

enum class OptimizerRule { descent, momentum, nesterov, rms, rms_momentum, adam };

// A method with its options. `scale` changes from step to step (StepFactors).
struct OptimizerMethod {
  OptimizerRule rule = OptimizerRule::descent;
  double first = 0, second = 0;  // momentum; decay and momentum; beta1 and beta2
  double epsilon = 0, scale = 1;
  double weight_decay = 0;
  bool decoupled = false;  // the weight decay is applied to p, not through g
};

template <class F>
struct DescentRule {
  F rate;
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F&, F&) const { p -= rate * g; }
};

template <class F>
struct MomentumRule {
  F rate, momentum;
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F& a, F&) const {
    a = momentum * a + g;
    p -= rate * a;
  }
};

template <class F>
struct NesterovRule {
  F rate, momentum;
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F& a, F&) const {
    a = momentum * a + g;
    p -= rate * (g + momentum * a);
  }
};

template <class F>
struct RmsRule {
  F rate, decay, fresh, epsilon;  // fresh: 1 - decay
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F& a, F&) const {
    a = decay * a + fresh * g * g;
    p -= rate * g / (std::sqrt(a) + epsilon);
  }
};

template <class F>
struct RmsMomentumRule {
  F rate, decay, fresh, epsilon, momentum;
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F& a, F& b) const {
    a = decay * a + fresh * g * g;
    b = momentum * b + g / (std::sqrt(a) + epsilon);
    p -= rate * b;
  }
};

template <class F>
struct AdamRule {
  AdamNumbers<F> of;
  F rate, scale;
  PUSHDOWN_HOST_DEVICE void operator()(F& p, F g, F& a, F& b) const {
    adam_step(p, g, a, b, of, rate, scale);
  }
};

template <class F>
PUSHDOWN_HOST_DEVICE AdamNumbers<F> adam_numbers(const OptimizerMethod& of) {
  return {static_cast<F>(of.first), static_cast<F>(of.second), static_cast<F>(1 - of.first),
          static_cast<F>(1 - of.second), static_cast<F>(of.epsilon)};
}

// Calls visit(rule) with the rule of a method for a step at this rate.
template <class F, class Visit>
PUSHDOWN_HOST_DEVICE void with_rule(const OptimizerMethod& of, F rate, const Visit& visit) {
  const F first = static_cast<F>(of.first), second = static_cast<F>(of.second),
          epsilon = static_cast<F>(of.epsilon);
  switch (of.rule) {
    case OptimizerRule::descent: return visit(DescentRule<F>{rate});
    case OptimizerRule::momentum: return visit(MomentumRule<F>{rate, first});
    case OptimizerRule::nesterov: return visit(NesterovRule<F>{rate, first});
    case OptimizerRule::rms:
      return visit(RmsRule<F>{rate, first, static_cast<F>(1 - of.first), epsilon});
    case OptimizerRule::rms_momentum:
      return visit(RmsMomentumRule<F>{rate, first, static_cast<F>(1 - of.first), epsilon, second});
    case OptimizerRule::adam:
      return visit(AdamRule<F>{adam_numbers<F>(of), rate, static_cast<F>(of.scale)});
  }
}

}  // namespace pushdown
