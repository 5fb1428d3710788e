// The kernels of the memories with strengths, compared with their definition at all sizes and at
// kinks, and the strengths that a network reports.
#include <gtest/gtest.h>

#include "model/network.h"
#include "model/stack_rnn.h"
#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::stratification_test {
namespace {

using namespace testing_support;

class StrengthKernels : public testing::TestWithParam<const char*> {
 protected:
  static StackRnn network(Json stack, std::int64_t hidden = 6) {
    Random random(3);
    stack["kind"] = GetParam();
    return {
        {{"kind", "lstm"}, {"hidden", hidden}}, stack, 4, at::TensorOptions(at::kDouble), random};
  }
  // Hidden vectors, then the gradients of the inputs and of the parameters.
  static std::vector<Tensor> numbers(const StackRnn& network, const Tensor& inputs, bool recorded) {
    const Tensor x = inputs.clone().requires_grad_();
    const Tensor hiddens = recorded ? network.run_recorded(x, {}) : network.run_stepwise(x);
    (hiddens * at::arange(hiddens.numel(), at::kDouble).view_as(hiddens).cos()).sum().backward();
    std::vector<Tensor> all{hiddens.detach(), x.grad()};
    for (const Tensor& gradient : taken_gradients(network.parameters())) all.push_back(gradient);
    return all;
  }
  static void expect_same(const StackRnn& network, const Tensor& inputs, const std::string& where) {
    const auto wanted = numbers(network, inputs, false), got = numbers(network, inputs, true);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), i == 0 ? 1e-11 : 1e-9) << where << ", " << i;
  }
  static Tensor inputs(std::int64_t batch, std::int64_t steps) {
    return random_tensor({batch, steps, 4}, 8, -2, 2);
  }
};

// Every way to compute the three strengths.
TEST_P(StrengthKernels, EqualTheDefinitionForAllStrengths) {
  for (const char* push : {"sigmoid", "expectation", "fixed"})
    for (const char* pop : {"sigmoid", "expectation", "fixed"})
      for (const char* read : {"expectation", "fixed"})
        for (const auto& [memories, greatest] : {std::pair{1, 4}, {2, 1}, {3, 9}}) {
          const auto rnn = network({{"size", 3},
                                    {"memories", memories},
                                    {"push", push},
                                    {"pop", pop},
                                    {"read", read},
                                    {"max_strength", greatest}});
          {
            const at::NoGradGuard guard;
            for (const auto& [name, tensor] : rnn.parameters()) tensor.mul_(3);
          }
          expect_same(rnn, inputs(3, 12),
                      fmt::format("{} {} {} {} {}", push, pop, read, memories, greatest));
        }
}

// Expectations that are the same at all steps: 1.5, from four equally likely values, or a single
// value. Sums of strengths then meet pops and readings exactly.
TEST_P(StrengthKernels, EqualTheDefinitionAtKinksOfExpectations) {
  for (const int push : {-1, 1, 2})
    for (const int pop : {-1, 0, 1, 2})
      for (const int read : {-1, 0, 1, 3}) {
        const auto rnn = network({{"size", 3},
                                  {"memories", 2},
                                  {"push", "expectation"},
                                  {"pop", "expectation"},
                                  {"read", "expectation"},
                                  {"max_strength", 3}});
        {
          const at::NoGradGuard guard;
          for (const auto& [name, tensor] : rnn.parameters()) {
            if (!name.starts_with("stack.")) tensor.mul_(3);
            const int value = name.starts_with("stack.push")   ? push
                              : name.starts_with("stack.pop")  ? pop
                              : name.starts_with("stack.read") ? read
                                                               : -2;
            if (value == -2) continue;
            tensor.zero_();
            if (value >= 0 && name.ends_with("bias"))
              tensor.view({2, 4}).select(1, value).fill_(2000);
          }
        }
        expect_same(rnn, inputs(3, 9), fmt::format("push {} pop {} read {}", push, pop, read));
      }
}

// Actions that are the same at all steps, so that sums of strengths meet pops and windows exactly:
// sigmoid(0) is 1/2, and saturated ones are 1 or almost 0.
TEST_P(StrengthKernels, EqualTheDefinitionAtKinks) {
  for (const double push : {0.0, 50.0})
    for (const double pop : {0.0, 50.0, -1000.0})
      for (const double bottom_pop : {0.0, -1000.0}) {
        const auto rnn = network({{"size", 3}, {"memories", 2}});
        {
          const at::NoGradGuard guard;
          for (const auto& [name, tensor] : rnn.parameters()) {
            if (name.starts_with("stack.vector") || name.starts_with("controller")) tensor.mul_(3);
            const bool pops = name.starts_with("stack.pop");
            if (!pops && !name.starts_with("stack.push")) continue;
            const bool bottom = name.find("bottom") != std::string::npos;
            tensor.fill_(name.ends_with("weight") ? 0 : !pops ? push : bottom ? bottom_pop : pop);
          }
        }
        expect_same(rnn, inputs(3, 9), fmt::format("push {} pop {} {}", push, pop, bottom_pop));
      }
}

TEST_P(StrengthKernels, ANetworkReportsTheStrengthsOfItsMemory) {
  const at::NoGradGuard guard;
  const auto rnn =
      network({{"size", 3}, {"memories", 2}, {"push", "expectation"}, {"read", "expectation"}});
  const Tensor x = inputs(2, 5), hiddens = rnn.run_stepwise(x);
  const auto run = rnn.strengths(x);
  const auto wanted = rnn.stack().strengths(hiddens.narrow(1, 1, 5));
  ASSERT_EQ(run.size(), wanted.size());
  for (const auto& [name, tensor] : wanted) EXPECT_LT(deviation(run.at(name), tensor), 1e-12);
  // The shares of a step sum to at most the strength of the reading.
  for (const auto& [name, tensor] : run) {
    if (!name.starts_with("read_strength")) continue;
    const Tensor shares = run.at("read" + name.substr(13)).sum(3);
    EXPECT_LE((shares - tensor).max().item<double>(), 1e-12) << name;
    EXPECT_GT(shares.min().item<double>(), 0) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, StrengthKernels,
                         testing::Values("stratification", "stratification_queue",
                                         "stratification_deque"));

TEST(Strengths, AreAbsentWithoutSuchAMemory) {
  Random random(1);
  const StackRnn rnn({{"kind", "elman"}, {"hidden", 3}}, {{"kind", "superposition"}}, 2,
                     at::TensorOptions(at::kDouble), random);
  EXPECT_TRUE(rnn.strengths(at::ones({1, 3, 2}, at::kDouble)).empty());
}

}  // namespace
}  // namespace pushdown::stratification_test
