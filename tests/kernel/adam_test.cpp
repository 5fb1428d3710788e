// Adam's loops against plain ones, on every instruction set.
#include "kernel/dense/adam.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/flush_denormals.h"
#include "base/random.h"

namespace pushdown::adam_test {
namespace {

template <class F>
struct Numbers {
  std::vector<F> p, g, m, v;

  explicit Numbers(std::size_t count) {
    Random random(3);
    for (auto* list : {&p, &g, &m, &v}) {
      list->resize(count);
      for (F& x : *list) x = static_cast<F>(0.1 * random.normal());
    }
    for (F& x : v) x *= x;
  }
  bool operator==(const Numbers& other) const {
    return p == other.p && m == other.m && v == other.v;
  }
};

template <class F>
void plain_step(Numbers<F>& x, const AdamNumbers<F>& of, const StepFactors& factors, bool resting) {
  const F rate = static_cast<F>(factors.rate), scale = static_cast<F>(factors.scale);
  for (std::size_t i = 0; i < x.p.size(); ++i) {
    const F g = resting ? 0 : x.g[i];
    x.m[i] = of.beta1 * x.m[i] + of.fresh1 * g;
    x.v[i] = of.beta2 * x.v[i] + of.fresh2 * g * g;
    x.p[i] -= rate * x.m[i] / (std::sqrt(x.v[i]) * scale + of.epsilon);
  }
}

template <class F>
void check_steps() {
  const FlushDenormals flush;
  const AdamNumbers<F> of{F(0.9), F(0.999), F(0.1), F(0.001), F(1e-8)};
  for (const Isa isa : usable_isas())
    for (const std::size_t count : {1, 15, 64, 100}) {
      const auto kernel = kernel_for<AdamKernel<F>>(isa);
      Numbers<F> fast(count), plain(count);
      const auto size = static_cast<std::int64_t>(count);
      std::vector<StepFactors> factors;
      // Long enough that the parameters stand still, then that the first moments are zero.
      for (int t = 1; t <= 1500; ++t)
        factors.push_back({0.01 / (1 - std::pow(0.9, t)), 1 / std::sqrt(1 - std::pow(0.999, t))});
      kernel.step(fast.p.data(), fast.g.data(), fast.m.data(), fast.v.data(), size, of, factors[0]);
      plain_step(plain, of, factors[0], false);
      ASSERT_TRUE(fast == plain) << isa_name(isa) << ", " << count;
      for (const std::int64_t steps : {1, 7, 200, 1500}) {
        const auto first = factors.data() + factors.size() - steps;
        kernel.rest(fast.p.data(), fast.m.data(), fast.v.data(), size, of, first, steps, steps - 1);
        for (std::int64_t k = 0; k < steps; ++k) plain_step(plain, of, first[k], true);
        ASSERT_TRUE(fast == plain) << isa_name(isa) << ", " << count << ", " << steps;
      }
      if (sizeof(F) == 4) {
        EXPECT_EQ(fast.m.front(), F(0));
      }
      EXPECT_GT(fast.v.front(), F(0));
    }
}

TEST(AdamKernel, MakesTheStepsOfAPlainLoop) {
  check_steps<float>();
  check_steps<double>();
}

// With a rate that rises after numbers have stopped to change, they change again.
TEST(AdamKernel, GoesOnWithARisingRate) {
  const AdamNumbers<float> of{0.9f, 0.999f, 0.1f, 0.001f, 1e-8f};
  std::vector<StepFactors> factors(400, {0.001, 1.0});
  for (std::size_t k = 250; k < factors.size(); ++k) factors[k].rate = 1e9;
  const auto kernel = kernel_for<AdamKernel<float>>(current_isa());
  Numbers<float> fast(20), plain(20);
  kernel.rest(fast.p.data(), fast.m.data(), fast.v.data(), 20, of, factors.data(), 400, 149);
  for (const StepFactors& step : factors) plain_step(plain, of, step, true);
  EXPECT_TRUE(fast == plain);
}

}  // namespace
}  // namespace pushdown::adam_test
