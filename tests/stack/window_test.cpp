// Limited memory of the nondeterministic stacks, compared with the equations of inner and forward
// weights. They are summed term by term, without the terms that reach back further than the window.
#include <gtest/gtest.h>

#include "stack/automaton_state.h"
#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::window_test {
namespace {

using namespace testing_support;

struct Inputs {
  Tensor logits, vectors, bottom;  // n x C x W, n x m, m
};

// gamma[i->t], zeta[i->t] and alpha[t] as the papers number them: times 0 .. n, and -1 for the push
// of the initial bottom. Readings after 0 .. n steps : (n+1) x C, or (n+1) x C*m.
Tensor by_equations(const NondeterministicShape& shape, const Inputs& inputs) {
  const int q = static_cast<int>(shape.states), s = static_cast<int>(shape.symbols), c = q * s;
  const int m = static_cast<int>(shape.vector), n = static_cast<int>(inputs.logits.size(0));
  const int window = shape.window == 0 ? n + 2 : static_cast<int>(shape.window);
  using Edge = std::vector<std::vector<double>>;  // [a][b], and [a][b*m + k]
  std::map<std::pair<int, int>, Edge> gamma, zeta;
  std::map<int, std::vector<double>> alpha;
  const Edge none(c, std::vector<double>(c)), none_m(c, std::vector<double>(c * m));
  alpha[-1] = alpha[0] = std::vector<double>(c);
  alpha[-1][0] = alpha[0][0] = 1;
  const int first = shape.reexposed ? -1 : 0;
  if (shape.reexposed) {
    gamma[{-1, 0}] = none, zeta[{-1, 0}] = none_m;
    gamma[{-1, 0}][0][0] = 1;
    for (int k = 0; k < m; ++k) zeta[{-1, 0}][0][k] = inputs.bottom[k].item<double>();
  }
  Tensor result = at::zeros({n + 1, m > 0 ? c * m : c}, at::kDouble);
  if (m > 0) result[0].narrow(0, 0, m).copy_(inputs.bottom);
  if (m == 0) result[0][0] = 1;
  for (int t = 1; t <= n; ++t) {
    const Tensor weights = inputs.logits[t - 1].exp().contiguous();
    const auto* w = weights.data_ptr<double>();
    const auto push = [&](int a, int b) { return w[a * (2 * c + q) + b]; };
    const auto replace = [&](int a, int b) { return w[a * (2 * c + q) + c + b]; };
    const auto pop = [&](int a, int r) { return w[a * (2 * c + q) + 2 * c + r]; };
    for (int i = std::max(first, t - window); i < t; ++i) {
      Edge g = none, z = none_m;
      for (int a = 0; a < c; ++a)
        for (int b = 0; b < c; ++b) {
          const int r = b / s, y = b % s;
          if (i == t - 1) {
            g[a][b] += push(a, b);
            for (int k = 0; k < m; ++k)
              z[a][b * m + k] += push(a, b) * inputs.vectors[t - 1][k].item<double>();
          }
          if (i < t - 1)
            for (int x = 0; x < c; ++x) {
              g[a][b] += gamma.at({i, t - 1})[a][x] * replace(x, b);
              for (int k = 0; k < m; ++k)
                z[a][b * m + k] += zeta.at({i, t - 1})[a][x * m + k] * replace(x, b);
            }
          for (int k = i + 1; k <= t - 2; ++k)
            for (int u = 0; u < q; ++u)
              for (int x = 0; x < c; ++x) {
                const double popped = gamma.at({k, t - 1})[u * s + y][x] * pop(x, r);
                g[a][b] += gamma.at({i, k})[a][u * s + y] * popped;
                for (int l = 0; l < m; ++l)
                  z[a][b * m + l] += zeta.at({i, k})[a][(u * s + y) * m + l] * popped;
              }
        }
      gamma[{i, t}] = g;
      zeta[{i, t}] = z;
    }
    alpha[t] = std::vector<double>(c);
    std::vector<double> eta(c * m);
    double total = 0;
    for (int i = std::max(first, t - window); i < t; ++i)
      for (int a = 0; a < c; ++a)
        for (int b = 0; b < c; ++b) {
          alpha[t][b] += alpha[i][a] * gamma[{i, t}][a][b];
          total += alpha[i][a] * gamma[{i, t}][a][b];
          for (int k = 0; k < m; ++k) eta[b * m + k] += alpha[i][a] * zeta[{i, t}][a][b * m + k];
        }
    for (int x = 0; x < (m > 0 ? c * m : c); ++x)
      result[t][x] = (m > 0 ? eta[x] : alpha[t][x]) / total;
  }
  return result;
}

using Case = std::tuple<int, int, bool, int, int>;  // Q, S, reexposed, m, D
class Window : public testing::TestWithParam<Case> {
 protected:
  static constexpr int kSteps = 9;
  NondeterministicShape shape() const {
    NondeterministicShape shape;
    shape.states = std::get<0>(GetParam());
    shape.symbols = std::get<1>(GetParam());
    shape.reexposed = std::get<2>(GetParam());
    shape.vector = std::get<3>(GetParam());
    shape.window = std::get<4>(GetParam());
    return shape;
  }
  Inputs inputs() const {
    const auto shape = this->shape();
    return {random_normal({kSteps, shape.configurations(), shape.actions()}, 1),
            random_normal({kSteps, shape.vector}, 2), random_normal({shape.vector}, 3)};
  }
  static Tensor composite(const NondeterministicShape& shape, const Inputs& inputs) {
    const bool vector = shape.vector > 0;
    return run_automaton(shape, false, inputs.logits.unsqueeze(0), true,
                         vector ? inputs.vectors.unsqueeze(0) : Tensor(),
                         vector ? inputs.bottom : Tensor())[0];
  }
};

TEST_P(Window, EqualsTheEquations) {
  EXPECT_LT(deviation(composite(shape(), inputs()), by_equations(shape(), inputs())), 1e-10);
}

TEST_P(Window, GradientsAreThoseOfTheEquations) {
  const auto inputs = this->inputs();
  std::vector<Tensor> leaves{inputs.logits};
  if (shape().vector > 0) leaves = {inputs.logits, inputs.vectors, inputs.bottom};
  for (const auto& leaf : leaves) leaf.set_requires_grad(true);
  const auto width = by_equations(shape(), inputs).size(1);
  const Tensor coefficients = random_normal({kSteps + 1, width}, 4);
  // Differentiated here, compared with a difference of two points.
  const auto loss = [&] {
    return (coefficients * (at::GradMode::is_enabled() ? composite(shape(), inputs)
                                                       : by_equations(shape(), inputs)))
        .sum();
  };
  EXPECT_LT(gradient_error(leaves, loss, 20), 1e-7);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Window,
                         testing::Combine(testing::Values(1, 2), testing::Values(2),
                                          testing::Bool(), testing::Values(0, 2),
                                          testing::Values(0, 1, 2, 3, 6)));

TEST(WindowLimits, AsLongAsTheSequenceChangesNothing) {
  for (const bool reexposed : {false, true}) {
    NondeterministicShape shape;
    shape.reexposed = reexposed;
    const Tensor logits = random_normal({2, 8, 4, 10}, 5);
    const Tensor wanted = run_automaton(shape, false, logits, true);
    // The initial bottom was pushed one time step before the first step.
    shape.window = reexposed ? 9 : 8;
    EXPECT_TRUE(run_automaton(shape, false, logits, true).equal(wanted));
    EXPECT_LT(deviation(run_automaton(shape, true, logits, true), wanted), 1e-14);
    --shape.window;
    const Tensor limited = run_automaton(shape, false, logits, true);
    EXPECT_TRUE(limited.narrow(1, 0, 8).equal(wanted.narrow(1, 0, 8)));
    EXPECT_GT(deviation(limited, wanted), 1e-8);
  }
}

TEST(WindowLimits, MemoryDoesNotGrowWithTheSequence) {
  NondeterministicShape shape;
  shape.window = 6;
  shape.vector = 2;
  shape.reexposed = true;
  const Tensor logits = random_normal({1, 4, 10}, 6), vector = random_normal({1, 2}, 7);
  auto automaton =
      initial_automaton(shape, 1, logits.options(), at::zeros({1, 2}, logits.options()));
  std::vector<std::size_t> bytes;
  for (int t = 0; t < 40; ++t) {
    automaton = step_automaton(shape, automaton, logits.exp(), vector);
    bytes.push_back(automaton_bytes(automaton));
  }
  EXPECT_EQ(automaton.edges.sizes(), (std::vector<std::int64_t>{1, 3, 5, 5, 4, 4}));
  EXPECT_EQ(bytes[5], bytes[39]);
  EXPECT_TRUE(automaton.forward.isfinite().all().item<bool>());
}

TEST(WindowOption, SimulateTakesIt) {
  const Tensor weights = random_normal({2, 7, 4, 10}, 8);
  const Tensor vectors = random_normal({2, 7, 3}, 9);
  NondeterministicShape shape;
  shape.window = 3;
  const Json options{{"kind", "nondeterministic"}, {"window", 3}, {"reading", "state_symbol"}};
  EXPECT_LT(deviation(simulate_stack(options, {{"log_weights", weights}})[1],
                      by_equations(shape, {weights[1], {}, {}})),
            1e-10);
  shape.vector = 3;
  shape.reexposed = true;
  EXPECT_LT(deviation(simulate_stack(Json{{"kind", "vector_nondeterministic"}, {"window", 3}},
                                     {{"log_weights", weights}, {"vectors", vectors}})[1],
                      by_equations(shape, {weights[1], vectors[1], at::zeros({3}, at::kDouble)})),
            1e-10);
  EXPECT_THROW(simulate_stack(Json{{"kind", "nondeterministic"}, {"window", -1}},
                              {{"log_weights", weights}}),
               std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::window_test
