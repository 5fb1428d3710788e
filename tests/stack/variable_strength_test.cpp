// Push, pop and read strengths of a stack, compared with the equations of section 2 of Merrill et
// al. (2019) in loops, from the bare structure to the layers that compute the strengths.
#include <gtest/gtest.h>

#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::variable_strength_test {
namespace {

using namespace testing_support;
using Numbers = std::vector<double>;

double relu(double x) { return std::max(0.0, x); }

// Section 2.1, with indices from 1 as printed: entry 0 of every list is unused.
struct Equations {
  std::vector<Numbers> V{{}};
  Numbers s{0};
  Numbers reading, shares;

  void step(const Numbers& v, double u, double d, double r) {
    const std::size_t t = s.size();
    Numbers popped(t + 1, 0.0), rho(t + 1, 0.0);
    for (std::size_t i = t - 1; i >= 1; --i)
      popped[i] = i == t - 1 ? u : relu(popped[i + 1] - s[i + 1]);
    for (std::size_t i = 1; i < t; ++i) s[i] = relu(s[i] - popped[i]);
    s.push_back(d);
    V.push_back(v);
    for (std::size_t i = t; i >= 1; --i) rho[i] = i == t ? r : relu(rho[i + 1] - s[i + 1]);
    reading.assign(v.size(), 0.0);
    shares.clear();
    for (std::size_t i = 1; i <= t; ++i) {
      shares.push_back(std::min(s[i], rho[i]));
      for (std::size_t k = 0; k < v.size(); ++k) reading[k] += shares.back() * V[i][k];
    }
  }
};

Numbers numbers(const Tensor& tensor) {
  const Tensor flat = tensor.contiguous();
  return {flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel()};
}

NamedTensors inputs(std::int64_t batch, std::int64_t length, double most, double grain,
                    std::uint64_t seed) {
  Random random(seed);
  NamedTensors all{{"vectors", random_tensor({batch, length, 3}, random, -1, 1)}};
  for (const char* what : {"push", "pop", "read"}) {
    all[what] = random_tensor({batch, length}, random, 0, most);
    if (grain > 0) all[what].div_(grain).round_().mul_(grain);
  }
  return all;
}

const Json kStack{{"kind", "stratification"}};

TEST(VariableStrengths, FollowTheEquations) {
  constexpr std::int64_t kBatch = 3, kLength = 15;
  for (const double grain : {0.0, 0.25, 1.0})
    for (const double most : {0.7, 1.5, 4.0}) {
      const auto given = inputs(kBatch, kLength, most, grain, 17);
      const Tensor readings = simulate_stack(kStack, given);
      const auto run = simulate_strengths(kStack, given);
      EXPECT_TRUE(run.at("read_strength").squeeze(2).equal(given.at("read")));
      for (std::int64_t b = 0; b < kBatch; ++b) {
        EXPECT_EQ(readings[b][0].abs().max().item<double>(), 0);
        Equations plain;
        for (std::int64_t t = 0; t < kLength; ++t) {
          const auto number = [&](const char* name) { return given.at(name)[b][t].item<double>(); };
          plain.step(numbers(given.at("vectors")[b][t]), number("pop"), number("push"),
                     number("read"));
          EXPECT_LT(deviation(readings[b][t + 1], at::tensor(plain.reading, at::kDouble)), 1e-14);
          const auto same = [&](const char* name, Numbers wanted) {
            wanted.resize(kLength, 0.0);
            EXPECT_LT(deviation(run.at(name)[b][t][0], at::tensor(wanted, at::kDouble)), 1e-14)
                << name;
          };
          same("strengths", {plain.s.begin() + 1, plain.s.end()});
          same("read", plain.shares);
        }
      }
    }
}

TEST(VariableStrengths, AReadingHasStrengthOneByDefault) {
  for (const char* kind : {"stratification", "stratification_queue"}) {
    auto given = inputs(2, 9, 1.3, 0.25, 3);
    given["read"] = at::ones_like(given["push"]);
    auto without = given;
    without.erase("read");
    const Json options{{"kind", kind}};
    EXPECT_TRUE(simulate_stack(options, given).equal(simulate_stack(options, without)));
    EXPECT_TRUE(
        simulate_strengths(options, without).at("read_strength").squeeze(2).equal(given["read"]));
  }
}

// The slope of the strength of a reading is the vector at which the reading ends. If a section ends
// exactly there, it is the vector of the next section, or 0 after the last one.
TEST(VariableStrengths, TheSlopeOfAReadingIsTheVectorAtItsEnd) {
  const Tensor vectors = at::tensor({1.0, 10.0, 100.0}, at::kDouble).view({1, 3, 1}),
               zero = at::zeros({1, 3}, at::kDouble), half = zero + 0.5;
  for (const auto& [strength, slope] :
       {std::pair{0.25, 100.0}, {0.5, 10.0}, {0.75, 10.0}, {1.0, 1.0}, {1.25, 1.0}, {2.0, 0.0}}) {
    const Tensor read = at::full({1, 3}, strength, at::kDouble).requires_grad_();
    const Tensor readings = simulate_stack(
        kStack, {{"vectors", vectors}, {"push", half}, {"pop", zero}, {"read", read}});
    readings[0][3][0].backward();
    EXPECT_EQ(numbers(read.grad()), (Numbers{0, 0, slope})) << strength;
  }
}

// ---- Section 2.2: the computation of the strengths. ----

StackPtr make(Json options, std::int64_t hidden = 5) {
  Random random(5);
  if (!options.contains("kind")) options["kind"] = "stratification";
  options["size"] = 3;
  return make_stack(options, {hidden, at::TensorOptions(at::kDouble), &random});
}

const Tensor& parameter(const Stack& stack, const std::string& wanted) {
  for (const auto& [name, tensor] : stack.parameters())
    if (name == wanted) return tensor;
  throw std::out_of_range(wanted);
}

TEST(VariableStrengths, LayersFollowTheEquations) {
  constexpr std::int64_t kGreatest = 4, kLength = 8, kHidden = 5;
  const auto stack = make({{"push", "expectation"},
                           {"pop", "expectation"},
                           {"read", "expectation"},
                           {"max_strength", kGreatest}});
  const at::NoGradGuard guard;
  for (const auto& [name, tensor] : stack->parameters()) tensor.mul_(3);
  Random random(6);
  const Tensor hiddens = random_tensor({2, kLength, kHidden}, random, -2, 2);
  const Tensor readings = stack->readings(hiddens);
  const auto run = stack->strengths(hiddens);
  for (std::int64_t b = 0; b < 2; ++b) {
    Equations plain;
    for (std::int64_t t = 0; t < kLength; ++t) {
      const auto h = numbers(hiddens[b][t]);
      const auto affine = [&](const std::string& name) {
        const Tensor weight = parameter(*stack, name + "_weight"),
                     bias = parameter(*stack, name + "_bias");
        Numbers result;
        for (std::int64_t row = 0; row < weight.size(0); ++row) {
          double sum = bias[row].item<double>();
          for (std::int64_t k = 0; k < kHidden; ++k) sum += weight[row][k].item<double>() * h[k];
          result.push_back(sum);
        }
        return result;
      };
      const auto expectation = [&](const std::string& name) {
        Numbers p = affine(name);
        EXPECT_EQ(p.size(), kGreatest + 1);
        double total = 0, mean = 0;
        for (double& one : p) total += one = std::exp(one);
        for (std::size_t i = 0; i < p.size(); ++i) mean += static_cast<double>(i) * p[i] / total;
        for (std::size_t i = 0; i < p.size(); ++i)
          EXPECT_NEAR(
              run.at(name + "_distribution")[b][t][0][static_cast<std::int64_t>(i)].item<double>(),
              p[i] / total, 1e-14);
        EXPECT_NEAR(run.at(name == "read" ? "read_strength" : name)[b][t][0].item<double>(), mean,
                    1e-14);
        return mean;
      };
      Numbers v = affine("vector");
      for (double& one : v) one = std::tanh(one);
      plain.step(v, expectation("pop"), expectation("push"), expectation("read"));
      EXPECT_LT(deviation(readings[b][t], at::tensor(plain.reading, at::kDouble)), 1e-13);
    }
  }
}

TEST(VariableStrengths, GradientsThroughAllThreeMatchFiniteDifferences) {
  for (const char* kind : {"stratification", "stratification_queue", "stratification_deque"})
    for (const int greatest : {1, 4}) {
      const auto stack = make({{"kind", kind},
                               {"push", "expectation"},
                               {"pop", "expectation"},
                               {"read", "expectation"},
                               {"max_strength", greatest}});
      Random random(6);
      const Tensor hiddens = random_tensor({2, 7, 5}, random, -2, 2).requires_grad_();
      std::vector<Tensor> leaves{hiddens};
      for (const auto& [name, tensor] : stack->parameters()) leaves.push_back(tensor);
      const auto loss = [&] {
        const Tensor readings = stack->readings(hiddens);
        return (readings * at::arange(readings.numel(), at::kDouble).view_as(readings).cos()).sum();
      };
      EXPECT_LT(gradient_error(leaves, loss), 1e-6) << kind << ' ' << greatest;
    }
}

TEST(VariableStrengths, FixedOnesAreOneAndHaveNoParameters) {
  Random random(6);
  const Tensor hiddens = random_tensor({2, 4, 5}, random, -2, 2);
  const std::map<std::string, std::int64_t> rows{{"sigmoid", 2}, {"expectation", 8}, {"fixed", 0}};
  for (const char* push : {"sigmoid", "expectation", "fixed"})
    for (const char* pop : {"sigmoid", "expectation", "fixed"})
      for (const char* read : {"expectation", "fixed"}) {
        const auto stack = make(
            {{"push", push}, {"pop", pop}, {"read", read}, {"memories", 2}, {"max_strength", 3}});
        const auto run = stack->strengths(hiddens);
        for (const auto& [name, how, values] : {std::tuple{"push", push, "push"},
                                                {"pop", pop, "pop"},
                                                {"read", read, "read_strength"}}) {
          const std::string layer = name;
          std::int64_t found = 0;
          for (const auto& [parameter, tensor] : stack->parameters())
            if (parameter == layer + "_weight" || parameter == layer + "_bias") {
              EXPECT_EQ(tensor.size(0), rows.at(how));
              ++found;
            }
          EXPECT_EQ(found, rows.at(how) == 0 ? 0 : 2);
          const Tensor strength = run.at(values);
          EXPECT_EQ(strength.sizes(), (std::vector<std::int64_t>{2, 4, 2}));
          EXPECT_EQ(strength.eq(1).all().item<bool>(), rows.at(how) == 0);
          EXPECT_EQ(run.contains(layer + "_distribution"), rows.at(how) == 8);
          if (rows.at(how) != 8) continue;
          const Tensor distribution = run.at(layer + "_distribution");
          EXPECT_EQ(distribution.sizes(), (std::vector<std::int64_t>{2, 4, 2, 4}));
          EXPECT_LT((distribution.sum(3) - 1).abs().max().item<double>(), 1e-14);
        }
      }
}

// With two values, 0 and 1, an expectation is the sigmoid of the difference of their scores.
TEST(VariableStrengths, AnExpectationOverTwoValuesIsASigmoid) {
  const auto two = make({{"push", "expectation"}, {"pop", "expectation"}, {"max_strength", 1}}),
             one = make({});
  const at::NoGradGuard guard;
  for (const std::string name : {"push", "pop"}) {
    for (const std::string part : {"_weight", "_bias"}) {
      const Tensor own = parameter(*two, name + part);
      parameter(*one, name + part).copy_(own.narrow(0, 1, 1) - own.narrow(0, 0, 1));
    }
  }
  for (const std::string part : {"_weight", "_bias"})
    parameter(*one, "vector" + part).copy_(parameter(*two, "vector" + part));
  Random random(6);
  const Tensor hiddens = random_tensor({2, 7, 5}, random, -2, 2);
  EXPECT_LT(deviation(two->readings(hiddens), one->readings(hiddens)), 1e-14);
}

TEST(VariableStrengths, WrongOptionsAreRefused) {
  const auto fails = [](const Json& options, const char* part) {
    EXPECT_CONTAINS(message<std::invalid_argument>([&] { make(options); }), part);
  };
  fails({{"pop", "expectation"}, {"pop_bias", -1}}, "pop_bias needs pop = 'sigmoid', got -1");
  fails({{"pop", "fixed"}, {"pop_bias", 0.5}}, "pop_bias needs pop = 'sigmoid'");
  fails({{"read", "sigmoid"}}, "read");
  fails({{"push", "softmax"}}, "push");
  fails({{"max_strength", 0}}, "max_strength");
  auto given = inputs(2, 4, 1, 0, 1);
  given["read"] = given["read"].narrow(1, 0, 3);
  EXPECT_THROW(simulate_stack(kStack, given), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::variable_strength_test
