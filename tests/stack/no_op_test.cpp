// The action no_op of stacks, and the temperature of their actions.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::no_op_test {
namespace {

using namespace testing_support;

constexpr std::int64_t kHidden = 4, kBatch = 5;

StackPtr make(const Json& options) {
  Random random(5);
  const auto stack = make_stack(options, {kHidden, at::TensorOptions(at::kDouble), &random});
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : stack->parameters()) tensor.mul_(3);
  return stack;
}

Tensor hidden() { return random_tensor({kBatch, kHidden}, 8, -2, 2); }

Tensor parameter(const Stack& stack, const std::string& name) {
  for (const auto& [key, tensor] : stack.parameters())
    if (key == name) return tensor;
  return {};
}

struct Case {
  Json options;
  std::int64_t memories, actions, no_op;
};
void PrintTo(const Case& given, std::ostream* out) { *out << given.options; }

class NoOps : public testing::TestWithParam<Case> {
 protected:
  // b of memory k, action by action.
  static std::vector<double> shares(const Stack& stack, std::int64_t b, std::int64_t k) {
    const auto [options, memories, count, column] = GetParam();
    const Tensor weight = parameter(stack, "action_weight"), bias = parameter(stack, "action_bias");
    const Tensor given = hidden();
    std::vector<double> result;
    double total = 0;
    for (std::int64_t a = 0; a < count; ++a) {
      const auto row = k * count + a;
      double score = bias.defined() ? bias[row].item<double>() : 0;
      for (std::int64_t j = 0; j < kHidden; ++j)
        score += weight[row][j].item<double>() * given[b][j].item<double>();
      result.push_back(std::exp(score / options.value("temperature", 1.0)));
      total += result.back();
    }
    for (double& share : result) share /= total;
    return result;
  }
};

TEST_P(NoOps, AreTheSharesOfTheActionLayer) {
  const auto [options, memories, count, column] = GetParam();
  const auto stack = make(options);
  const auto said = stack->no_op(hidden());
  ASSERT_TRUE(said.has_value());
  EXPECT_EQ(said->weight.sizes(), (std::vector<std::int64_t>{kBatch, 1}));
  EXPECT_EQ(said->greatest.sizes(), (std::vector<std::int64_t>{kBatch, 1}));
  std::set<bool> seen;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    double product = 1;
    bool all = true;
    for (std::int64_t k = 0; k < memories; ++k) {
      const auto share = shares(*stack, b, k);
      product *= share[column];
      all = all && std::max_element(share.begin(), share.end()) - share.begin() == column;
    }
    EXPECT_NEAR(said->weight[b][0].item<double>(), product, 1e-14);
    EXPECT_EQ(said->greatest[b][0].item<bool>(), all);
    seen.insert(all);
  }
  // One memory has both cases.
  EXPECT_TRUE(memories > 1 || seen.size() == 2);
}

TEST_P(NoOps, DoNotCountIfAnotherActionIsAsGreat) {
  const auto stack = make(GetParam().options);
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : stack->parameters()) tensor.zero_();
  const auto said = stack->no_op(hidden());
  EXPECT_FALSE(said->greatest.any().item<bool>());
  const double share = 1.0 / static_cast<double>(GetParam().actions);
  EXPECT_NEAR(said->weight[0][0].item<double>(),
              std::pow(share, static_cast<double>(GetParam().memories)), 1e-15);
}

INSTANTIATE_TEST_SUITE_P(
    Stacks, NoOps,
    testing::Values(
        Case{{{"kind", "superposition"}}, 1, 3, 2},
        Case{{{"kind", "superposition"}, {"temperature", 0.5}, {"bias", false}}, 1, 3, 2},
        Case{{{"kind", "parallel_superposition"}, {"stacks", 1}, {"no_op", true}}, 1, 3, 2},
        Case{{{"kind", "parallel_superposition"}, {"stacks", 3}, {"no_op", true}, {"bias", true}},
             3,
             3,
             2},
        Case{{{"kind", "list"}, {"lists", 2}, {"no_op", true}}, 2, 4, 3},
        Case{{{"kind", "baby_ntm"}, {"temperature", 2.0}}, 1, 5, 2}));

TEST(NoOpsOfOtherStacks, DoNotExist) {
  const std::vector<Json> without{{{"kind", "none"}},
                                  {{"kind", "superposition"}, {"no_op", false}},
                                  {{"kind", "parallel_superposition"}},
                                  {{"kind", "list"}},
                                  {{"kind", "stratification"}},
                                  {{"kind", "analog"}},
                                  {{"kind", "nondeterministic"}},
                                  {{"kind", "vector_nondeterministic"}}};
  for (const auto& options : without)
    EXPECT_FALSE(make(options)->no_op(hidden()).has_value()) << options;
}

TEST(NoOpsOfRoundedActions, AreWholeInEvaluation) {
  const auto stack = make(
      {{"kind", "parallel_superposition"}, {"stacks", 1}, {"no_op", true}, {"rounding", true}});
  const auto soft = *stack->no_op(hidden()), whole = *stack->evaluated()->no_op(hidden());
  EXPECT_TRUE(whole.greatest.equal(soft.greatest));
  EXPECT_TRUE(whole.weight.equal(soft.greatest.to(at::kDouble)));
  EXPECT_FALSE(soft.weight.equal(whole.weight));
}

// A low temperature makes the actions almost one-hot, a high one makes them almost equal.
TEST(Temperature, DividesTheScores) {
  for (const char* kind : {"superposition", "baby_ntm"}) {
    const auto readings = [&](double temperature, double scale) {
      const auto stack = make({{"kind", kind}, {"size", 3}, {"temperature", temperature}});
      at::NoGradGuard guard;
      for (const auto& [name, tensor] : stack->parameters())
        if (name.starts_with("action")) tensor.mul_(scale);
      return stack->readings(hidden().unsqueeze(1).expand({kBatch, 4, kHidden}));
    };
    EXPECT_LT(deviation(readings(0.25, 1), readings(1, 4)), 1e-14) << kind;
    EXPECT_GT(deviation(readings(0.25, 1), readings(1, 1)), 1e-3) << kind;
    EXPECT_THROW(make({{"kind", kind}, {"temperature", 0}}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace pushdown::no_op_test
