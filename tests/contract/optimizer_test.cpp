// Every optimizer: its formula, the contract of every row of the registry with every value of its
// options, and the gradients that it takes.
#include "train/optimizing/optimizer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cases.h"
#include "support/message.h"
#include "train/learning/gradient.h"

namespace pushdown::optimizer_test {
namespace {

using namespace testing_support;

// Two parameters whose gradients are chosen, not computed.
struct Problem {
  explicit Problem(at::ScalarType type = at::kDouble, std::uint64_t seed = 1) : random(seed) {
    for (const auto& [name, shape] :
         std::vector<std::pair<std::string, std::vector<std::int64_t>>>{{"a", {3, 5}}, {"b", {11}}})
      parameters.emplace_back(name, draw(shape, type).set_requires_grad(true));
  }

  Tensor draw(const std::vector<std::int64_t>& shape, at::ScalarType type) {
    Tensor values = at::empty(shape, at::kDouble);
    for (std::int64_t i = 0; i < values.numel(); ++i)
      values.data_ptr<double>()[i] = random.normal();
    return values.to(type);
  }

  void draw_gradients() {
    for (auto& [name, parameter] : parameters)
      parameter.mutable_grad() = draw(parameter.sizes().vec(), parameter.scalar_type());
  }

  Random random;
  ParameterList parameters;
};

std::vector<double> numbers(const Tensor& tensor) {
  const Tensor values = tensor.detach().to(at::kDouble).contiguous();
  return {values.data_ptr<double>(), values.data_ptr<double>() + values.numel()};
}

// The formulas again, entry by entry: p, g and running sums of one number.
struct Scalar {
  double p, first = 0, second = 0;
};
using Formula = void (*)(Scalar& x, double g, double rate, int t);

void adam(Scalar& x, double g, double rate, int t) {
  x.first = 0.8 * x.first + 0.2 * g;
  x.second = 0.95 * x.second + 0.05 * g * g;
  const double m = x.first / (1 - std::pow(0.8, t)), v = x.second / (1 - std::pow(0.95, t));
  x.p -= rate * m / (std::sqrt(v) + 1e-3);
}
void adam_decay(Scalar& x, double g, double rate, int t) { adam(x, g + 0.1 * x.p, rate, t); }
void adamw(Scalar& x, double g, double rate, int t) {
  x.p -= rate * 0.1 * x.p;
  adam(x, g, rate, t);
}
void rmsprop(Scalar& x, double g, double rate, int) {
  x.first = 0.9 * x.first + 0.1 * g * g;
  x.p -= rate * g / (std::sqrt(x.first) + 1e-3);
}
void rmsprop_momentum(Scalar& x, double g, double rate, int) {
  x.first = 0.9 * x.first + 0.1 * g * g;
  x.second = 0.5 * x.second + g / (std::sqrt(x.first) + 1e-3);
  x.p -= rate * x.second;
}
void sgd(Scalar& x, double g, double rate, int) { x.p -= rate * g; }
void sgd_momentum(Scalar& x, double g, double rate, int) {
  x.first = 0.7 * x.first + g;
  x.p -= rate * x.first;
}
void sgd_nesterov(Scalar& x, double g, double rate, int) {
  x.first = 0.7 * x.first + g;
  x.p -= rate * (g + 0.7 * x.first);
}

struct Case {
  const char* name;
  Json options;
  Formula formula;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"adam", {{"kind", "adam"}, {"beta1", 0.8}, {"beta2", 0.95}, {"epsilon", 1e-3}}, adam},
      {"adam_decay",
       {{"beta1", 0.8}, {"beta2", 0.95}, {"epsilon", 1e-3}, {"weight_decay", 0.1}},
       adam_decay},
      {"adamw",
       {{"kind", "adamw"},
        {"beta1", 0.8},
        {"beta2", 0.95},
        {"epsilon", 1e-3},
        {"weight_decay", 0.1}},
       adamw},
      {"rmsprop", {{"kind", "rmsprop"}, {"decay", 0.9}, {"epsilon", 1e-3}}, rmsprop},
      {"rmsprop_momentum",
       {{"kind", "rmsprop"}, {"decay", 0.9}, {"epsilon", 1e-3}, {"momentum", 0.5}},
       rmsprop_momentum},
      {"sgd", {{"kind", "sgd"}}, sgd},
      {"sgd_momentum", {{"kind", "sgd"}, {"momentum", 0.7}}, sgd_momentum},
      {"sgd_nesterov", {{"kind", "sgd"}, {"momentum", 0.7}, {"nesterov", true}}, sgd_nesterov}};
  return all;
}

Json with_rate(Json options, double rate) {
  options["learning_rate"] = rate;
  return options;
}

class OptimizerFormulas : public testing::TestWithParam<Case> {};

TEST_P(OptimizerFormulas, FollowsTheFormulaInBothPaths) {
  for (const auto path : {Optimizer::Path::fastest, Optimizer::Path::composite}) {
    Problem problem;
    auto optimizer = make_optimizer(problem.parameters, with_rate(GetParam().options, 0.03));
    std::vector<std::vector<Scalar>> expected;
    for (const auto& [name, parameter] : problem.parameters) {
      expected.emplace_back();
      for (const double value : numbers(parameter)) expected.back().push_back({value});
    }
    double rate = 0.03;
    for (int t = 1; t <= 6; ++t) {
      if (t == 4) optimizer->set_learning_rate(rate *= 0.5);
      problem.draw_gradients();
      optimizer->step(path);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        const auto& parameter = problem.parameters[k].second;
        const auto gradient = numbers(parameter.grad()), value = numbers(parameter);
        for (std::size_t i = 0; i < value.size(); ++i) {
          GetParam().formula(expected[k][i], gradient[i], rate, t);
          EXPECT_NEAR(value[i], expected[k][i].p, 1e-13) << "step " << t;
        }
      }
    }
    EXPECT_EQ(optimizer->steps(), 6);
  }
}

INSTANTIATE_TEST_SUITE_P(All, OptimizerFormulas, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

class OptimizerKinds : public testing::TestWithParam<Json> {};

TEST_P(OptimizerKinds, PathsAgreeInFloat32) {
  Problem a(at::kFloat), b(at::kFloat);
  auto fast = make_optimizer(a.parameters, GetParam());
  auto plain = make_optimizer(b.parameters, GetParam());
  for (int t = 0; t < 10; ++t) {
    a.draw_gradients();
    b.draw_gradients();
    fast->step();
    plain->step(Optimizer::Path::composite);
  }
  for (std::size_t k = 0; k < 2; ++k)
    EXPECT_LT((a.parameters[k].second - b.parameters[k].second).abs().max().item<float>(), 2e-6f);
}

TEST_P(OptimizerKinds, RestoredStateContinuesBitForBit) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    Problem whole(type), split(type);
    auto one = make_optimizer(whole.parameters, GetParam());
    auto two = make_optimizer(split.parameters, GetParam());
    for (int t = 0; t < 8; ++t) {
      if (t == 5) {
        ParameterList state;
        for (const auto& [name, tensor] : two->state()) state.emplace_back(name, tensor.clone());
        two = make_optimizer(split.parameters, GetParam());
        two->set_state(state);
      }
      whole.draw_gradients();
      split.draw_gradients();
      one->step();
      two->step();
    }
    for (std::size_t k = 0; k < 2; ++k)
      EXPECT_TRUE(at::equal(whole.parameters[k].second, split.parameters[k].second));
  }
}

TEST_P(OptimizerKinds, LeaveParametersWithoutGradientAlone) {
  Problem problem;
  auto optimizer = make_optimizer(problem.parameters, GetParam());
  const Tensor before = problem.parameters[1].second.detach().clone();
  problem.draw_gradients();
  problem.parameters[1].second.mutable_grad() = Tensor();
  optimizer->step();
  EXPECT_TRUE(at::equal(problem.parameters[1].second, before));
}

// Rows of a table, stored by rows or by columns, that make up for steps with a rate that falls and
// rises.
TEST_P(OptimizerKinds, UsedRowsMakeUpForMissedStepsBitForBit) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const bool by_columns : {false, true}) {
      Problem random(type);
      const Tensor first = random.draw({50, 7}, type);
      // As a matrix with a column for each symbol, whose columns are contiguous.
      const auto shaped = [&](const Tensor& rows) { return by_columns ? rows.t() : rows; };
      const auto make = [&] {
        return ParameterList{{"table", shaped(first.clone()).set_requires_grad(true)},
                             {"other", at::ones({3}, type).set_requires_grad(true)}};
      };
      const ParameterList some = make(), all = make();
      auto lazy = make_optimizer(some, GetParam()), plain = make_optimizer(all, GetParam());
      const Json resolved = resolve_optimizer(GetParam());
      const bool decays = resolved["weight_decay"] > 0;
      EXPECT_NE(lazy->lazy(), decays);
      bool behind = false;
      for (int t = 0; t < 400; ++t) {
        UsedRows used;
        std::vector<std::int64_t> rows;
        for (std::int64_t row = 0; row < 50; ++row)
          if (random.random.uniform() < 1.0 / static_cast<double>(1 + row * row))
            rows.push_back(row);
        Tensor gradient = at::zeros({50, 7}, type);
        for (const auto row : rows) gradient[row].copy_(random.draw({7}, type));
        for (const auto& parameters : {some, all}) {
          parameters[0].second.mutable_grad() = shaped(gradient.clone());
          parameters[1].second.mutable_grad() = at::ones({3}, type);
        }
        const double rate = t < 200 ? 0.01 * std::pow(0.99, t) : 0.02;
        lazy->set_learning_rate(rate);
        plain->set_learning_rate(rate);
        if (t % 90 != 89) used.add(some[0].second, rows);
        lazy->catch_up(used);
        lazy->step(used);
        plain->step();
        behind = behind || !at::equal(some[0].second, all[0].second);
        for (const auto row : rows)
          ASSERT_TRUE(at::equal(stored(some[0].second)[row], stored(all[0].second)[row])) << t;
        if (t % 70 == 0) lazy->catch_up();
      }
      lazy->catch_up();
      const auto one = lazy->state(), other = plain->state();
      EXPECT_TRUE(at::equal(some[0].second, all[0].second));
      for (std::size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(at::equal(one[i].second, other[i].second)) << one[i].first;
      // Without momentum, only RMSProp's average of squares is behind.
      const bool moves =
          one.size() > 1 && (resolved["kind"] != "rmsprop" || resolved["momentum"] > 0);
      EXPECT_EQ(behind, !decays && moves);
    }
}

INSTANTIATE_TEST_SUITE_P(Registry, OptimizerKinds,
                         testing::ValuesIn(registry_variants(optimizer_kinds())));

TEST(Optimizer, RefusesForeignState) {
  Problem problem;
  auto adam = make_optimizer(problem.parameters, Json{{"kind", "adam"}});
  auto sgd = make_optimizer(problem.parameters, Json{{"kind", "sgd"}});
  EXPECT_THROW(adam->set_state(sgd->state()), std::invalid_argument);
  auto state = adam->state();
  state[2].second = at::zeros({2, 2}, at::kDouble);
  EXPECT_THROW(adam->set_state(state), std::invalid_argument);
  state = adam->state();
  state[1].first = "first_moment.c";
  EXPECT_THROW(adam->set_state(state), std::invalid_argument);
}

TEST(Optimizer, NesterovNeedsMomentum) {
  Problem problem;
  EXPECT_CONTAINS(message([&] {
                    make_optimizer(problem.parameters, {{"kind", "sgd"}, {"nesterov", true}});
                  }),
                  "nesterov needs a momentum above 0");
}

TEST(Gradient, NormIsThatOfAllEntriesTogether) {
  Problem problem;
  problem.draw_gradients();
  double sum = 0;
  for (const auto& [name, parameter] : problem.parameters)
    for (const double g : numbers(parameter.grad())) sum += g * g;
  EXPECT_NEAR(gradient_norm(problem.parameters), std::sqrt(sum), 1e-13);
  problem.parameters[0].second.mutable_grad() = Tensor();
  EXPECT_LT(gradient_norm(problem.parameters), std::sqrt(sum));
  clear_gradients(problem.parameters);
  EXPECT_EQ(gradient_norm(problem.parameters), 0);
}

TEST(Gradient, NormOfBadEntriesIsNotFinite) {
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    Problem problem;
    problem.draw_gradients();
    problem.parameters[1].second.mutable_grad()[7] = bad;
    EXPECT_FALSE(std::isfinite(gradient_norm(problem.parameters)));
  }
}

TEST(Gradient, ClippingByNormScalesOnlyLongerGradients) {
  Problem problem;
  problem.draw_gradients();
  const double norm = gradient_norm(problem.parameters);
  const Tensor before = problem.parameters[0].second.grad().clone();
  clip_gradient_norm(problem.parameters, norm, norm * 2);
  EXPECT_TRUE(at::equal(problem.parameters[0].second.grad(), before));
  clip_gradient_norm(problem.parameters, norm, 0.5);
  EXPECT_NEAR(gradient_norm(problem.parameters), 0.5 * norm / (norm + 1e-6), 1e-12);
  EXPECT_LT((problem.parameters[0].second.grad() - before * (0.5 / (norm + 1e-6)))
                .abs()
                .max()
                .item<double>(),
            1e-15);
}

TEST(Gradient, ClippingByValueBoundsEveryEntry) {
  Problem problem;
  problem.draw_gradients();
  const auto before = numbers(problem.parameters[0].second.grad());
  clip_gradient_values(problem.parameters, 0.3);
  const auto after = numbers(problem.parameters[0].second.grad());
  int clipped = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    EXPECT_EQ(after[i], std::min(0.3, std::max(-0.3, before[i])));
    clipped += after[i] != before[i];
  }
  EXPECT_GT(clipped, 0);
}

}  // namespace
}  // namespace pushdown::optimizer_test
