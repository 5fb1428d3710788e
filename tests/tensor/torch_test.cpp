#include "tensor/torch.h"

#include <gtest/gtest.h>

#include "tensor/autograd.h"

namespace pushdown::torch_test {
namespace {

Tensor leaf(const std::vector<double>& values) {
  return at::tensor(values, at::kDouble).set_requires_grad(true);
}

TEST(Limited, PassesTheGradientInsideAndAtTheBounds) {
  const Tensor x = leaf({-2, -1, 0.5, 1, 3});
  const Tensor y = limited(x, -1, 1);
  EXPECT_TRUE(y.equal(at::tensor({-1.0, -1.0, 0.5, 1.0, 1.0}, at::kDouble)));
  EXPECT_TRUE(
      gradients({y.sum()}, {x})[0].equal(at::tensor({0.0, 1.0, 1.0, 1.0, 0.0}, at::kDouble)));
}

TEST(PositivePart, HasDerivativeOneAtZero) {
  const Tensor x = leaf({-1, 0, 2});
  const Tensor y = positive_part(x);
  EXPECT_TRUE(y.equal(at::tensor({0.0, 0.0, 2.0}, at::kDouble)));
  EXPECT_TRUE(gradients({y.sum()}, {x})[0].equal(at::tensor({0.0, 1.0, 1.0}, at::kDouble)));
}

TEST(Gradients, AreUndefinedForInputsThatAreNotUsed) {
  const Tensor x = leaf({1, 2}), unused = leaf({3});
  const auto found = gradients({(x * x).sum()}, {x, unused});
  EXPECT_TRUE(found[0].equal(at::tensor({2.0, 4.0}, at::kDouble)));
  EXPECT_FALSE(found[1].defined());
}

TEST(Gradients, KeepTheGraphOrRecordTheDerivativesOnRequest) {
  const Tensor x = leaf({1, 2});
  const Tensor y = (x * x * x).sum();
  const Tensor first = gradients({y}, {x}, {}, {.keep_graph = true})[0];
  EXPECT_FALSE(first.requires_grad());
  const Tensor again = gradients({y}, {x}, {}, {.record = true})[0];
  EXPECT_TRUE(first.equal(again));
  EXPECT_TRUE(gradients({again.sum()}, {x})[0].equal(at::tensor({6.0, 12.0}, at::kDouble)));
}

struct Tripled final : AutogradNode {
  explicit Tripled(int* alive) : alive(alive) { ++*alive; }
  ~Tripled() override { --*alive; }
  std::string name() const override { return "Tripled"; }
  variable_list apply(variable_list&& slopes) override { return {3 * slopes[0]}; }
  int* alive;
};

TEST(Node, IsAFunctionInTheGraphAndDiesWithIt) {
  int alive = 0;
  const Tensor x = leaf({1, 2});
  {
    Tensor y = 3 * x.detach();
    ASSERT_TRUE(gradients_wanted({x}));
    connect(make_node<Tripled>(&alive), y, {x});
    EXPECT_EQ(alive, 1);
    EXPECT_EQ(y.grad_fn()->name(), "Tripled");
    EXPECT_TRUE(gradients({(y * y).sum()}, {x})[0].equal(at::tensor({18.0, 36.0}, at::kDouble)));
  }
  EXPECT_EQ(alive, 0);
  const at::NoGradGuard guard;
  EXPECT_FALSE(gradients_wanted({x}));
}

}  // namespace
}  // namespace pushdown::torch_test
