// The nondeterministic stack, compared with brute force, finite differences and its own fast
// version.
// label: long
#include <gtest/gtest.h>

#include "stack/automaton_state.h"
#include "support/golden.h"
#include "support/gradient.h"
#include "support/runs.h"

namespace pushdown::nondeterministic_test {
namespace {

using namespace testing_support;

Tensor random_logits(std::int64_t batch, std::int64_t steps, const NondeterministicShape& shape,
                     double scale, std::uint64_t seed) {
  Random random(seed);
  Tensor logits = at::empty({batch, steps, shape.configurations(), shape.actions()}, at::kDouble);
  for (std::int64_t i = 0; i < logits.numel(); ++i)
    logits.data_ptr<double>()[i] = scale * random.normal();
  return logits;
}

// u_1 .. u_{n+1} by the definition.
Tensor plain_forward(const NondeterministicShape& shape, const Tensor& weights) {
  auto automaton = initial_automaton(shape, weights.size(0), weights.options());
  std::vector<Tensor> forward{automaton.forward};
  for (std::int64_t t = 0; t < weights.size(1); ++t) {
    automaton = step_automaton(shape, automaton, weights.select(1, t));
    forward.push_back(automaton.forward);
  }
  return at::stack(forward, 1);
}

using Case = std::tuple<int, int, bool, double>;
class Nondeterministic : public testing::TestWithParam<Case> {
 protected:
  NondeterministicShape shape() const {
    NondeterministicShape shape;
    shape.states = std::get<0>(GetParam());
    shape.symbols = std::get<1>(GetParam());
    shape.reexposed = std::get<2>(GetParam());
    return shape;
  }
  double scale() const { return std::get<3>(GetParam()); }
};

TEST_P(Nondeterministic, EqualsAllRuns) {
  constexpr int kSteps = 5;
  const auto shape = this->shape();
  Tensor weights = random_logits(1, kSteps, shape, scale(), 3).softmax(3);
  // Some transitions are impossible, so that some configurations cannot be reached.
  weights = weights * (random_logits(1, kSteps, shape, 1, 4) > -0.5);
  const auto runs = all_runs(weights[0], static_cast<int>(shape.states),
                             static_cast<int>(shape.symbols), shape.reexposed);
  for (const bool fast : {false, true}) {
    const Tensor forward =
        fast ? run_automaton(shape, true, weights, false) : plain_forward(shape, weights);
    for (int t = 0; t <= kSteps; ++t) {
      const auto wanted = top_distribution(runs[t], static_cast<int>(shape.states),
                                           static_cast<int>(shape.symbols));
      EXPECT_LT(deviation(forward[0][t], at::tensor(wanted, at::kDouble)), 1e-12)
          << "step " << t << " fast " << fast;
    }
  }
}

TEST_P(Nondeterministic, FastEqualsPlainWithGradients) {
  constexpr int kSteps = 23;
  const auto shape = this->shape();
  const Tensor logits = random_logits(3, kSteps, shape, scale(), 5).set_requires_grad(true);
  const Tensor coefficients =
      random_logits(3, kSteps + 1, shape, 1, 6).select(3, 0);  // B x (n+1) x C
  const Tensor plain = plain_forward(shape, logits.softmax(3));
  (coefficients * plain).sum().backward();
  const Tensor plain_gradient = logits.grad().clone();
  logits.mutable_grad() = Tensor();
  const Tensor fast = run_automaton(shape, true, logits.softmax(3), false);
  (coefficients * fast).sum().backward();
  EXPECT_LT(deviation(fast, plain), 1e-12);
  EXPECT_LT(deviation(logits.grad(), plain_gradient), 1e-10);

  // Scores, step by step, in the way that a network drives the stack.
  const auto stepwise = [&] {
    auto state = initial_state(shape, true, true, 3, kSteps, logits.options().requires_grad(false));
    const auto read = [&] { return static_cast<const AutomatonState&>(*state).read; };
    std::vector<Tensor> forward{read()};
    for (int t = 0; t < kSteps; ++t) {
      state = next_state(state, logits.select(1, t).flatten(1));
      forward.push_back(read());
    }
    return forward;
  };
  const Tensor stepped = at::stack(stepwise(), 1);
  for (int pass = 0; pass < 2; ++pass) {  // the second pass finds clean gradient memory
    logits.mutable_grad() = Tensor();
    (coefficients * stepped).sum().backward({}, pass == 0);
    EXPECT_LT(deviation(logits.grad(), plain_gradient), 1e-10) << "pass " << pass;
  }

  // A loss that ends before the last node, in memory that other passes have used.
  logits.mutable_grad() = Tensor();
  const std::vector<Tensor> forward = stepwise();
  forward.back().sum().backward({}, true);
  logits.mutable_grad() = Tensor();
  forward[9].select(1, 0).sum().backward({}, true);
  const Tensor short_gradient = logits.grad().clone();
  logits.mutable_grad() = Tensor();
  plain_forward(shape, logits.softmax(3)).select(1, 9).select(1, 0).sum().backward();
  EXPECT_LT(deviation(short_gradient, logits.grad()), 1e-10);
}

INSTANTIATE_TEST_SUITE_P(Sizes, Nondeterministic,
                         testing::Combine(testing::Values(1, 2, 3, 4), testing::Values(1, 2, 3),
                                          testing::Bool(), testing::Values(1.0, 10.0)));

TEST(NondeterministicGradient, FiniteDifferences) {
  for (const bool reexposed : {false, true}) {
    NondeterministicShape shape;
    shape.reexposed = reexposed;
    const Tensor logits = random_logits(2, 6, shape, 1, 8).set_requires_grad(true);
    const Tensor coefficients = random_logits(2, 7, shape, 1, 9).select(3, 0);
    EXPECT_LT(
        gradient_error(
            {logits},
            [&] {
              return (coefficients * run_automaton(shape, true, logits.softmax(3), false)).sum();
            }),
        1e-7);
    EXPECT_LT(gradient_error(
                  {logits},
                  [&] { return (coefficients * run_automaton(shape, true, logits, true)).sum(); }),
              1e-7);
  }
}

// Figure 2 of DuSell and Chiang (2020): the automaton of w w^R on 0110, states q1 q2, symbols
// 0 1 and the bottom, here numbered bottom = 0, '0' = 1, '1' = 2.
TEST(NondeterministicExample, Figure2) {
  NondeterministicShape shape;
  shape.states = 2;
  shape.symbols = 3;
  shape.reexposed = true;
  const std::vector<int> input{1, 2, 2, 1};
  Tensor weights = at::zeros({1, 4, 6, shape.actions()}, at::kDouble);
  for (int t = 0; t < 4; ++t) {
    const int a = input[t];
    for (int x = 0; x < 3; ++x) weights[0][t][0 * 3 + x][0 * 3 + a] = 1;  // q1, x -> q1, push a
    weights[0][t][0 * 3 + a][2 * 6 + 1] = 1;                              // q1, a -> q2, pop
    weights[0][t][1 * 3 + a][2 * 6 + 1] = 1;                              // q2, a -> q2, pop
  }
  const Tensor forward = run_automaton(shape, true, weights, false)[0];
  // After 011: pushed all three (q1, 1), or popped one 1 (q2, 0).
  const auto wanted = [](std::initializer_list<double> values) {
    return at::tensor(std::vector<double>(values), at::kDouble);
  };
  EXPECT_LT(deviation(forward[3], wanted({0, 0, 0.5, 0, 0.5, 0})), 1e-15);
  // After 0110: (q1, 0), or the bottom again in q2.
  EXPECT_LT(deviation(forward[4], wanted({0, 0.5, 0, 0.5, 0, 0})), 1e-15);
}

TEST(NondeterministicRange, ThousandStepsInSinglePrecision) {
  NondeterministicShape shape;
  const Tensor logits = random_logits(1, 1000, shape, 3, 10).to(at::kFloat).set_requires_grad(true);
  const Tensor forward = run_automaton(shape, true, logits, true);
  forward.pow(2).sum().backward();
  EXPECT_TRUE(forward.isfinite().all().item<bool>());
  EXPECT_TRUE(logits.grad().isfinite().all().item<bool>());
  EXPECT_LT((forward.sum(2) - 1).abs().max().item<double>(), 1e-4);
}

TEST(NondeterministicRange, HugeLogWeightsNeitherOverflowNorVanish) {
  NondeterministicShape shape;
  const Tensor logits = random_logits(1, 20, shape, 2, 11);
  const Tensor wanted = run_automaton(shape, true, logits, true);
  for (const double shift : {-5000.0, 5000.0}) {
    EXPECT_LT(deviation(run_automaton(shape, true, logits + shift, true), wanted), 1e-9);
    EXPECT_LT(deviation(run_automaton(shape, true, (logits + shift).to(at::kFloat), true), wanted),
              1e-2);
  }
  // State 1 can never be reached, so its weights must not matter, however large they are.
  Tensor closed = at::zeros_like(logits);
  closed.narrow(3, 2, 2).fill_(-INFINITY);
  closed.narrow(3, 6, 2).fill_(-INFINITY);
  closed.narrow(3, 9, 1).fill_(-INFINITY);
  Tensor huge = closed.clone();
  huge.narrow(2, 2, 2).fill_(1e6);
  EXPECT_LT(
      deviation(run_automaton(shape, true, huge, true), run_automaton(shape, true, closed, true)),
      1e-12);
}

// The readings, then the gradient of a loss on them, by the kernels or by the definition.
std::pair<Tensor, Tensor> outcome(const NondeterministicShape& shape, const Tensor& logits,
                                  bool fast, bool normalized = false) {
  const Tensor probe = random_logits(1, logits.size(1) + 1, shape, 1, 6).select(3, 0);
  const Tensor given = logits.detach().clone().requires_grad_();
  const Tensor read = run_automaton(shape, fast, normalized ? given.log_softmax(3) : given, true);
  (probe * read).sum().backward();
  return {read.detach(), given.grad()};
}

// Single precision cannot hold all weights of a step, so configurations have almost no weight.
TEST(NondeterministicRange, WeightsFarApartGiveFiniteGradients) {
  for (const int states : {1, 2, 3, 5})
    for (const int symbols : {2, 3})
      for (const double scale : {20.0, 40.0, 80.0, 1000.0})
        for (const int seed : {20, 24, 27}) {
          NondeterministicShape shape;
          shape.states = states;
          shape.symbols = symbols;
          const Tensor logits = random_logits(1, 20, shape, scale, seed).to(at::kFloat);
          const auto [read, gradient] = outcome(shape, logits, true);
          EXPECT_TRUE(read.isfinite().all().item<bool>()) << states << symbols << ' ' << scale;
          EXPECT_TRUE(gradient.isfinite().all().item<bool>()) << states << symbols << ' ' << scale;
          if (scale > 20) continue;
          const auto [wide_read, wide_gradient] = outcome(shape, logits.to(at::kDouble), false);
          EXPECT_LT(deviation(read, wide_read), 1e-3);
          EXPECT_LT(deviation(gradient, wide_gradient), 1e-3);
        }
}

// In the first two steps, nothing can be popped, but pops have by far the largest weights.
TEST(NondeterministicRange, AnImpossiblePopDoesNotHideTheOtherWeights) {
  for (const auto& [states, symbols] : {std::pair(2, 2), {3, 3}, {1, 3}, {4, 2}})
    for (const double lead : {20.0, 100.0, 400.0})
      for (const bool normalized : {false, true}) {
        NondeterministicShape shape;
        shape.states = states;
        shape.symbols = symbols;
        Tensor logits = random_logits(1, 20, shape, 2, 31);
        logits.narrow(1, 0, 2).narrow(3, 2 * shape.configurations(), states) += lead;
        const auto [read, gradient] = outcome(shape, logits.to(at::kFloat), true, normalized);
        const auto [wide_read, wide_gradient] = outcome(shape, logits, false, normalized);
        const auto name = fmt::format("{} x {}, {}, {}", states, symbols, lead, normalized);
        EXPECT_LT((wide_read.sum(2) - 1).abs().max().item<double>(), 1e-9) << name;
        EXPECT_LT(deviation(read, wide_read), 1e-4) << name;
        EXPECT_LT(deviation(gradient, wide_gradient), 1e-3) << name;
      }
}

TEST(NondeterministicRange, NoPossibleTransitionReadsZero) {
  NondeterministicShape shape;
  const Tensor weights = at::zeros({1, 3, 4, 10}, at::kDouble).set_requires_grad(true);
  for (const Tensor& forward :
       {run_automaton(shape, true, weights, false), plain_forward(shape, weights)}) {
    EXPECT_EQ(forward.narrow(1, 1, 3).abs().sum().item<double>(), 0);
    EXPECT_EQ(forward[0][0][0].item<double>(), 1);
  }
  run_automaton(shape, true, weights, false).sum().backward();
  EXPECT_TRUE(weights.grad().isfinite().all().item<bool>());
}

// From 1 MB of columns on, loops take turns in the direction in which they read them, and from 8 MB
// on, they ask for them in advance.
TEST(NondeterministicHistory, LongHistoriesAreExact) {
  constexpr int kSteps = 370;
  NondeterministicShape shape;
  shape.states = shape.symbols = 2;
  const Tensor logits = random_logits(1, kSteps, shape, 1, 41).set_requires_grad(true);
  const auto forward = [&](const Tensor& of) {
    return run_automaton(shape, true, of.softmax(3), false);
  };
  const Tensor coefficients = random_logits(1, kSteps + 1, shape, 1, 42).select(3, 0);
  const Tensor fast = forward(logits);
  (coefficients * fast).sum().backward();
  const at::NoGradGuard guard;
  EXPECT_LT(deviation(fast, plain_forward(shape, logits.softmax(3))), 1e-12);
  const Tensor direction = 1e-5 * random_logits(1, kSteps, shape, 1, 43);
  const double expected =
      (coefficients * (forward(logits + direction) - forward(logits - direction)))
          .sum()
          .item<double>() /
      2;
  EXPECT_NEAR((direction * logits.grad()).sum().item<double>() / expected, 1, 1e-6);
}

TEST(NondeterministicWeights, MayBeZero) {
  const NondeterministicShape shape;
  const Tensor weights = random_logits(1, 6, shape, 1, 44).softmax(3);
  weights.select(1, 2).select(1, 0).zero_();
  weights.select(1, 4).zero_();  // no transition is possible
  const Tensor fast = run_automaton(shape, true, weights, false);
  EXPECT_LT(deviation(fast, plain_forward(shape, weights)), 1e-14);
  EXPECT_EQ(fast.narrow(1, 5, 2).abs().sum().item<double>(), 0);
  std::vector<Tensor> gradients;
  for (const bool kernels : {true, false}) {
    const Tensor leaf = weights.clone().requires_grad_();
    const Tensor forward =
        kernels ? run_automaton(shape, true, leaf, false) : plain_forward(shape, leaf);
    forward.pow(2).sum().backward();
    gradients.push_back(leaf.grad());
  }
  EXPECT_LT(deviation(gradients[0], gradients[1]), 1e-14);
}

TEST(NondeterministicIsa, AllInstructionSetsAgree) {
  for (const auto& [states, symbols] : {std::pair{2, 2}, {3, 3}, {2, 5}}) {
    for (const int window : {0, 7}) {
      const NondeterministicSize size{states, symbols, 30, 0, window};
      const auto c = size.configurations();
      std::vector<std::int64_t> start{0};
      for (std::int64_t j = 0; j < size.nodes(); ++j) start.push_back(start.back() + size.row(j));
      NondeterministicShape shape;
      shape.states = states;
      shape.symbols = symbols;
      const Tensor weights =
          random_logits(1, 30, shape, 1, 12).softmax(3).to(at::kFloat).contiguous();
      std::vector<Tensor> results;
      for (const Isa isa : usable_isas()) {
        const auto buffer = [&](std::int64_t count) { return at::zeros({count}, at::kFloat); };
        const auto edges = size.edge_rows() * start.back();
        const Tensor columns = buffer(edges), popped = buffer(states * start.back()),
                     forward = buffer(size.nodes() * c), mass = buffer(size.nodes() * c),
                     numerators = buffer(edges), factors = buffer(size.popped_gradient()),
                     slopes = buffer(size.forward_gradients()), gradient = at::zeros_like(weights);
        const NondeterministicMemory<float> memory{size,
                                                   start.data(),
                                                   columns.data_ptr<float>(),
                                                   popped.data_ptr<float>(),
                                                   forward.data_ptr<float>(),
                                                   mass.data_ptr<float>(),
                                                   numerators.data_ptr<float>(),
                                                   slopes.data_ptr<float>(),
                                                   factors.data_ptr<float>()};
        memory.forward[0] = memory.forward[c] = 1;
        const auto kernel = kernel_for<NondeterministicKernel<float>>(isa, states, symbols);
        const auto row = c * size.actions();
        for (int t = 0; t < 30; ++t)
          kernel.step(memory, t + 2, weights.data_ptr<float>() + t * row, nullptr);
        const Tensor reading_gradient = at::arange(c, at::kFloat);
        for (int t = 29; t >= 0; --t)
          kernel.step_backward(memory, t + 2, 31, weights.data_ptr<float>() + t * row, nullptr,
                               reading_gradient.data_ptr<float>(),
                               gradient.data_ptr<float>() + t * row, nullptr);
        results.push_back(at::cat({forward, gradient.flatten()}));
      }
      for (const auto& result : results) EXPECT_LT(deviation(result, results[0]), 2e-5);
    }
  }
}

// The weights that a network reports for its stack drive the bare stack to the same readings.
TEST(LogTransitionWeights, AreThoseOfTheSteps) {
  constexpr int kSteps = 6;
  for (const bool normalized : {true, false}) {
    const Json shape{{"states", 2}, {"symbols", 3}, {"bottom", "reexposed"}};
    const auto make = [&](const std::string& kind) {
      Random random(5);
      Json options = shape;
      options["kind"] = kind;
      options["normalized"] = normalized;
      return make_stack(options, {4, at::TensorOptions(at::kDouble), &random});
    };
    const auto stack = make("nondeterministic"), vectors = make("vector_nondeterministic");
    at::NoGradGuard guard;
    auto state = stack->initial(2, kSteps);
    std::vector<Tensor> readings{stack->reading(state)}, weights;
    for (int t = 0; t < kSteps; ++t) {
      const Tensor hidden = 3 * at::sin(at::arange(8, at::kDouble).view({2, 4}) + 1.7 * t);
      weights.push_back(stack->log_transition_weights(hidden));
      EXPECT_EQ(weights.back().sizes(), (std::vector<std::int64_t>{2, 6, 14}));
      EXPECT_LT(deviation(vectors->log_transition_weights(hidden), weights.back()), 1e-12);
      state = stack->update(state, hidden);
      readings.push_back(stack->reading(state));
    }
    Json bare = shape;
    bare["kind"] = "nondeterministic";
    EXPECT_LT(deviation(simulate_stack(bare, {{"log_weights", at::stack(weights, 1)}}),
                        at::stack(readings, 1)),
              1e-12);
  }
  Random random(5);
  const auto other =
      make_stack(Json{{"kind", "superposition"}}, {4, at::TensorOptions(at::kDouble), &random});
  EXPECT_FALSE(other->log_transition_weights(at::zeros({1, 4}, at::kDouble)).defined());
}

TEST(NondeterministicKernels, OnDevicesOnlyForWholeSequences) {
  const NondeterministicShape shape{.states = 2, .symbols = 2};
  NondeterministicShape limited = shape;
  limited.window = 3;
  for (const auto type : {at::kFloat, at::kDouble, at::kHalf})
    for (const at::Device device : {at::Device(at::kCPU), at::Device(at::kCUDA, 0)}) {
      const auto options = at::TensorOptions(type).device(device);
      EXPECT_EQ(has_automaton_kernels(shape, options), type != at::kHalf);
      EXPECT_EQ(has_fast_automaton(shape, options), type != at::kHalf && device.is_cpu());
      EXPECT_EQ(has_automaton_kernels(limited, options), type != at::kHalf);
    }
}

}  // namespace
}  // namespace pushdown::nondeterministic_test
