// The analog stack, compared with the chapter's traces, a stack of sections in a plain list, and
// finite differences.
#include "stack/analog_stack.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::analog_stack_test {
namespace {

using namespace testing_support;

struct Section {
  std::vector<double> symbol;
  double length;
};
using Sections = std::vector<Section>;  // bottom first

std::vector<double> one_hot(char symbol) {
  std::vector<double> vector(3, 0.0);
  vector[symbol - 'a'] = 1;
  return vector;
}
AnalogStack pushed(const std::vector<std::pair<char, double>>& sections) {
  AnalogStack stack = empty_analog_stack(1, 3, at::kDouble);
  for (const auto& [symbol, length] : sections)
    stack = analog_step(stack, at::tensor({length}, at::kDouble),
                        at::tensor(one_hot(symbol), at::kDouble).unsqueeze(0));
  return stack;
}
AnalogStack popped(const AnalogStack& stack, double length) {
  return analog_step(stack, at::tensor({-length}, at::kDouble), at::zeros({1, 3}, at::kDouble));
}
void expect_row(const Tensor& got, std::vector<double> wanted, double tolerance = 1e-12) {
  EXPECT_LT(deviation(got[0], at::tensor(wanted, at::kDouble)), tolerance) << got;
}

TEST(AnalogStackTrace, ThePopOfFigure6) {
  const AnalogStack stack = pushed({{'a', .32}, {'a', .2}, {'b', .7}, {'a', .4}});
  expect_row(analog_reading(stack), {.4, .6, 0});
  const AnalogStack after = popped(stack, .86);
  expect_row(after.lengths, {.32, .2, .24, 0});
  expect_row(analog_reading(after), {.52, .24, 0});
  EXPECT_NEAR(analog_length(after).item<double>(), .76, 1e-12);
}

TEST(AnalogStackTrace, ThePopsOfFigure4b) {
  const AnalogStack stack =
      pushed({{'a', .7}, {'a', .3}, {'b', 1.0}, {'c', .7}, {'b', .6}, {'a', .9}});
  expect_row(analog_reading(popped(stack, .9)), {0, .6, .4});
  expect_row(analog_reading(popped(stack, .899)), {.001, .6, .399});
}

TEST(AnalogStackTrace, TheWindowEndsOfSection35) {
  const AnalogStack stack = pushed({{'b', .9}, {'a', .2}, {'b', .7}, {'c', .15}});
  expect_row(analog_window_ends(stack), {-1, 0, 1}, 1e-15);  // r1 = 3, r2 = 1
}

TEST(AnalogStackTrace, WindowEndsOfShortAndEmptyStacks) {
  expect_row(analog_window_ends(empty_analog_stack(1, 3, at::kDouble)), {0, 0, 0}, 1e-15);
  expect_row(analog_window_ends(pushed({{'a', .3}, {'b', .6}})), {0, 1, 0}, 1e-15);
  // The pop takes the whole section on top, up to rounding.
  expect_row(analog_window_ends(popped(pushed({{'a', .3}, {'c', .3}, {'b', .6}}), .1 + .2 + .3)),
             {0, 0, 1}, 1e-15);
  // With one symbol from top to bottom, the reading does not change.
  expect_row(analog_window_ends(pushed({{'a', .8}, {'a', .8}})), {0, 0, 0}, 1e-15);
}

// One step of the plain data structure.
void plain_step(Sections& sections, double action, const std::vector<double>& symbol) {
  if (action > 0) sections.push_back({symbol, action});
  for (double left = -action; left > 0 && !sections.empty();) {
    const double taken = std::min(left, sections.back().length);
    left -= taken;
    sections.back().length -= taken;
    if (sections.back().length <= 0) sections.pop_back();
  }
}
std::vector<double> plain_reading(const Sections& sections, std::size_t size) {
  std::vector<double> reading(size, 0.0);
  double room = 1;
  for (auto section = sections.rbegin(); section != sections.rend() && room > 0; ++section) {
    const double share = std::min(room, section->length);
    for (std::size_t k = 0; k < size; ++k) reading[k] += share * section->symbol[k];
    room -= share;
  }
  return reading;
}

constexpr std::int64_t kBatch = 3, kSteps = 25, kSymbols = 4;

Tensor random_actions(std::uint64_t seed) { return random_tensor({kBatch, kSteps}, seed, -1, 1.3); }
Tensor random_symbols(std::uint64_t seed) {
  return random_tensor({kBatch, kSteps, kSymbols}, seed, -2, 2).softmax(2);
}

TEST(AnalogStack, FollowsAPlainList) {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    for (const double epsilon : {0.0, 0.3}) {
      const Tensor actions = random_actions(seed), vectors = random_symbols(seed + 50);
      const Tensor readings =
          simulate_stack({{"kind", "analog"}, {"epsilon", epsilon}, {"bottom_reading", true}},
                         {{"actions", actions}, {"vectors", vectors}});
      ASSERT_EQ(readings.sizes(), (std::vector<std::int64_t>{kBatch, kSteps + 1, kSymbols + 1}));
      EXPECT_LT(deviation(readings.sum(2), at::ones({kBatch, kSteps + 1}, at::kDouble)), 1e-12);
      for (std::int64_t b = 0; b < kBatch; ++b) {
        Sections sections;
        for (std::int64_t t = 0; t <= kSteps; ++t) {
          const auto wanted = plain_reading(sections, kSymbols);
          EXPECT_LT(
              deviation(readings[b][t].narrow(0, 0, kSymbols), at::tensor(wanted, at::kDouble)),
              1e-12)
              << "seed " << seed << ", time " << t;
          if (t == kSteps) break;
          const double action = actions[b][t].item<double>();
          const Tensor symbol = vectors[b][t].contiguous();
          if (std::abs(action) > epsilon)
            plain_step(sections, action,
                       {symbol.data_ptr<double>(), symbol.data_ptr<double>() + kSymbols});
        }
      }
    }
}

TEST(AnalogStack, GradientsMatchFiniteDifferences) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    const Tensor actions = random_actions(seed).requires_grad_();
    const Tensor vectors = random_symbols(seed + 50).requires_grad_();
    const Tensor factor = random_symbols(9).select(1, 0).sum(0);
    EXPECT_LT(gradient_error({actions, vectors},
                             [&] {
                               return (simulate_stack({{"kind", "analog"}},
                                                      {{"actions", actions}, {"vectors", vectors}})
                                           .pow(2) *
                                       factor)
                                   .sum();
                             }),
              1e-7);
  }
}

// The Jacobian of the last reading, V x n, with respect to the lengths of pushes and pops.
Tensor last_jacobian(const std::vector<double>& actions, const std::string& symbols,
                     const std::string& derivative) {
  const Tensor given = at::tensor(actions, at::kDouble).unsqueeze(0).clone().requires_grad_();
  std::vector<Tensor> vectors;
  for (const char symbol : symbols) vectors.push_back(at::tensor(one_hot(symbol), at::kDouble));
  const Tensor last =
      simulate_stack({{"kind", "analog"}, {"stack_derivative", derivative}},
                     {{"actions", given}, {"vectors", at::stack(vectors).unsqueeze(0)}})
          .select(1, static_cast<std::int64_t>(actions.size()))[0];
  std::vector<Tensor> rows;
  for (std::int64_t k = 0; k < 3; ++k)
    rows.push_back(gradients({last[k]}, {given}, {}, {.keep_graph = true})[0][0]);
  return at::stack(rows);
}

// Equation A-11: the sections of the window are 1 .. K, 1 the lowest, and tau_i are the times that
// made section i what it is: dR_k = sum_{i >= 2} (delta_ik - delta_1k) dA(tau_i).
TEST(AnalogStack, TheExactDerivativeIsThatOfTheSectionsInTheWindow) {
  // b .9 | a .5 less .2 | c .4: the window contains .3 of b, .3 of a, .4 of c.
  const Tensor exact = last_jacobian({.9, .5, -.2, .4}, "baac", "exact");
  const Tensor wanted = at::tensor({0., 1., 1., 0.,     //
                                    0., -1., -1., -1.,  //
                                    0., 0., 0., 1.},
                                   at::kDouble)
                            .view({3, 4});
  EXPECT_LT(deviation(exact, wanted), 1e-15) << exact;
}

TEST(AnalogStack, TopAndBottomKeepsOnlyTheLatestAction) {
  const Tensor rough = last_jacobian({.9, .5, -.2, .4}, "baac", "top_and_bottom");
  Tensor wanted = at::zeros({3, 4}, at::kDouble);
  wanted[1][3] = -1;
  wanted[2][3] = 1;
  EXPECT_LT(deviation(rough, wanted), 1e-15) << rough;
}

TEST(AnalogStack, TheValuesDoNotDependOnTheDerivative) {
  const Tensor actions = random_actions(4), vectors = random_symbols(5);
  const NamedTensors inputs{{"actions", actions}, {"vectors", vectors}};
  EXPECT_TRUE(simulate_stack({{"kind", "analog"}}, inputs)
                  .equal(simulate_stack(
                      {{"kind", "analog"}, {"stack_derivative", "top_and_bottom"}}, inputs)));
}

TEST(AnalogStack, StepsWithoutAPushAddNoSection) {
  AnalogStack stack = pushed({{'a', .5}});
  for (int t = 0; t < 3; ++t) stack = popped(stack, .1);
  EXPECT_EQ(stack.lengths.size(1), 1);
  EXPECT_NEAR(analog_length(stack).item<double>(), .2, 1e-12);
}

TEST(AnalogStack, InvalidOptionsAreRefused) {
  const Tensor vectors = at::zeros({2, 3, 4}, at::kDouble);
  EXPECT_THROW(simulate_stack({{"kind", "analog"}}, {{"vectors", vectors}}), std::invalid_argument);
  EXPECT_THROW(simulate_stack({{"kind", "analog"}},
                              {{"vectors", vectors}, {"actions", at::zeros({2, 4}, at::kDouble)}}),
               std::invalid_argument);
  EXPECT_THROW(simulate_stack({{"kind", "analog"}, {"epsilon", -1}},
                              {{"vectors", vectors}, {"actions", at::zeros({2, 3}, at::kDouble)}}),
               std::invalid_argument);
  EXPECT_THROW(simulate_stack({{"kind", "analog"}, {"stack_derivative", "none"}},
                              {{"vectors", vectors}, {"actions", at::zeros({2, 3}, at::kDouble)}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::analog_stack_test
