// The loops of adam.h, compiled once for each instruction set.
#include "kernel/dense/adam.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

template <class F>
void step_adam(F* __restrict p, const F* __restrict g, F* __restrict m, F* __restrict v,
               std::int64_t count, const AdamNumbers<F>& numbers, const StepFactors& factors) {
  const AdamNumbers<F> of = numbers;
  const F rate = static_cast<F>(factors.rate), scale = static_cast<F>(factors.scale);
  for (std::int64_t i = 0; i < count; ++i) adam_step(p[i], g[i], m[i], v[i], of, rate, scale);
}

// Some numbers, which stay in the fastest cache from step to step.
template <class F>
struct RestingNumbers {
  static constexpr std::int64_t kCount = 64, kGroup = 16;

  // Loops run over whole groups.
  explicit RestingNumbers(std::int64_t own) : count((own + kGroup - 1) / kGroup * kGroup) {}

  // Returns whether a p has changed.
  bool step(const AdamNumbers<F>& of, const StepFactors& factors) {
    const F rate = static_cast<F>(factors.rate), scale = static_cast<F>(factors.scale);
    int changes = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const F before = p[i];
      adam_step(p[i], F(0), m[i], v[i], of, rate, scale);
      changes += p[i] != before;
    }
    return changes != 0;
  }
  void fade(const AdamNumbers<F>& of) {
    for (std::int64_t i = 0; i < count; ++i) {
      m[i] = of.beta1 * m[i] + F(0);
      v[i] = of.beta2 * v[i] + F(0);
    }
  }
  bool any_moment() const {
    int moments = 0;
    for (std::int64_t i = 0; i < count; ++i) moments += m[i] != 0 || v[i] != 0;
    return moments != 0;
  }

  std::int64_t count;
  F p[kCount] = {}, m[kCount] = {}, v[kCount] = {};
};

template <class F>
void rest_adam(F* p, F* m, F* v, std::int64_t count, const AdamNumbers<F>& numbers,
               const StepFactors* factors, std::int64_t steps, std::int64_t falling) {
  const AdamNumbers<F> of = numbers;
  using Numbers = RestingNumbers<F>;
  constexpr std::int64_t kBetweenChecks = 64;
  for (std::int64_t first = 0; first < count; first += Numbers::kCount) {
    const auto own = count - first < Numbers::kCount ? count - first : Numbers::kCount;
    Numbers all(own);
    for (std::int64_t i = 0; i < own; ++i) {
      all.p[i] = p[first + i];
      all.m[i] = m[first + i];
      all.v[i] = v[first + i];
    }
    std::int64_t k = 0;
    while (k < steps) {
      const bool changed = all.step(of, factors[k]);
      ++k;
      if (!changed && k >= steps - falling) break;
    }
    for (; k < steps; ++k) {
      all.fade(of);
      if (k % kBetweenChecks == 0 && !all.any_moment()) break;
    }
    for (std::int64_t i = 0; i < own; ++i) {
      p[first + i] = all.p[i];
      m[first + i] = all.m[i];
      v[first + i] = all.v[i];
    }
  }
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
AdamKernel<float> isa_kernel<AdamKernel<float>, PUSHDOWN_OWN_ISA>() {
  using namespace PUSHDOWN_ISA_NAMESPACE;
  return {step_adam<float>, rest_adam<float>};
}
template <>
AdamKernel<double> isa_kernel<AdamKernel<double>, PUSHDOWN_OWN_ISA>() {
  using namespace PUSHDOWN_ISA_NAMESPACE;
  return {step_adam<double>, rest_adam<double>};
}

}  // namespace pushdown
