// States as lists of tensors, which learning algorithms that go forward in time replace.
#include <gtest/gtest.h>

#include "stack/stack.h"
#include "support/golden.h"

namespace pushdown::state_test {
namespace {

using namespace testing_support;

std::vector<Json> cases() {
  return {
      {{"kind", "none"}},
      {{"kind", "superposition"}, {"size", 3}},
      {{"kind", "superposition"}, {"size", 3}, {"no_op", false}, {"depth", 2}},
      {{"kind", "superposition"}, {"size", 2}, {"bias", false}, {"vector", "linear"}},
      {{"kind", "parallel_superposition"}, {"stacks", 3}},
      {{"kind", "parallel_superposition"}, {"stacks", 2}, {"read_depth", 3}, {"no_op", true}},
      {{"kind", "parallel_superposition"}, {"stacks", 1}, {"no_op", true}, {"no_op_keeps", "top"}},
      {{"kind", "list"}, {"lists", 2}},
      {{"kind", "list"}, {"lists", 2}, {"reach", 0}, {"rounding", true}},
      {{"kind", "baby_ntm"}, {"cells", 4}, {"size", 2}},
      {{"kind", "stratification"}, {"size", 3}},
      {{"kind", "stratification_queue"}, {"size", 3}, {"memories", 2}},
      {{"kind", "stratification_deque"}, {"size", 2}, {"pop_bias", -1}},
      {{"kind", "stratification"}, {"size", 3}, {"push", "expectation"}, {"read", "expectation"}},
      {{"kind", "stratification_deque"}, {"size", 2}, {"pop", "fixed"}, {"read", "expectation"}},
      {{"kind", "analog"}, {"size", 3}},
      {{"kind", "nondeterministic"}, {"fast", false}},
      {{"kind", "nondeterministic"}, {"fast", false}, {"window", 2}, {"bottom", "reexposed"}},
      {{"kind", "vector_nondeterministic"}, {"fast", false}, {"size", 2}},
  };
}

class StateTensors : public testing::TestWithParam<Json> {
 protected:
  StackPtr stack() const {
    Random random(5);
    return make_stack(GetParam(), {4, at::TensorOptions().dtype(at::kDouble), &random});
  }
  static Tensor hidden(std::uint64_t seed) {
    Random random(seed);
    Tensor result = at::empty({2, 4}, at::kDouble);
    for (std::int64_t i = 0; i < result.numel(); ++i)
      result.data_ptr<double>()[i] = random.uniform(-2, 2);
    return result;
  }
  // After `steps` updates.
  static StackStatePtr later(const Stack& stack, int steps) {
    auto state = stack.initial(2, 0);
    for (int t = 0; t < steps; ++t) state = stack.update(state, hidden(static_cast<unsigned>(t)));
    return state;
  }
};

TEST_P(StateTensors, GiveTheSameStateBack) {
  const auto stack = this->stack();
  for (int steps = 0; steps < 4; ++steps) {
    const auto state = later(*stack, steps);
    std::vector<Tensor> copies;
    for (const Tensor& tensor : state->tensors()) {
      EXPECT_EQ(tensor.size(0), 2);
      copies.push_back(tensor.detach().clone());
    }
    auto same = state->with_tensors(copies);
    auto other = state;
    for (int more = 0; more < 3; ++more) {
      EXPECT_TRUE(at::equal(stack->reading(same), stack->reading(other)));
      same = stack->update(same, hidden(9));
      other = stack->update(other, hidden(9));
    }
  }
}

// A state with other numbers behaves like a stack that computed these numbers, and gradients end at
// the given tensors.
TEST_P(StateTensors, ReplacedTensorsBecomeTheState) {
  const auto stack = this->stack();
  const auto state = later(*stack, 3);
  StackStatePtr strange = stack->initial(2, 0);
  for (int t = 0; t < 3; ++t)
    // Close numbers, so that as much is pushed, because the content of an analog stack depends on
    // it.
    strange = stack->update(strange, 0.9 * hidden(static_cast<unsigned>(t)));
  std::vector<Tensor> leaves;
  for (const Tensor& tensor : strange->tensors())
    leaves.push_back(tensor.detach().clone().requires_grad_());
  const auto replaced = state->with_tensors(leaves);
  EXPECT_TRUE(at::equal(stack->reading(replaced), stack->reading(strange)));
  const auto next = stack->update(replaced, hidden(9));
  EXPECT_TRUE(at::equal(stack->reading(next), stack->reading(stack->update(strange, hidden(9)))));
  for (std::size_t i = 0; i < leaves.size(); ++i)
    EXPECT_TRUE(replaced->tensors()[i].is_same(leaves[i]));
  if (leaves.empty()) return;
  Tensor sum = at::zeros({}, at::kDouble);
  for (const Tensor& tensor : next->tensors()) sum = sum + tensor.pow(2).sum();
  sum.backward();
  EXPECT_TRUE(leaves[0].grad().defined());
  EXPECT_GT(leaves[0].grad().abs().max().item<double>(), 0);
}

TEST_P(StateTensors, OfAnotherShapeAreRefused) {
  const auto state = later(*stack(), 2);
  auto tensors = state->tensors();
  tensors.push_back(at::zeros({2}, at::kDouble));
  EXPECT_THROW(state->with_tensors(tensors), std::invalid_argument);
  tensors.pop_back();
  if (tensors.empty()) return;
  tensors[0] = at::zeros({7}, at::kDouble);
  EXPECT_THROW(state->with_tensors(tensors), std::invalid_argument);
  tensors[0] = Tensor();
  EXPECT_THROW(state->with_tensors(tensors), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(Stacks, StateTensors, testing::ValuesIn(cases()));

TEST(StateTensorsOfTheFastAutomaton, AreRefusedByName) {
  for (const char* kind : {"nondeterministic", "vector_nondeterministic"}) {
    Random random(5);
    const auto stack =
        make_stack(Json{{"kind", kind}}, {4, at::TensorOptions().dtype(at::kDouble), &random});
    const auto state = stack->initial(2, 3);
    try {
      state->tensors();
      FAIL();
    } catch (const std::invalid_argument& error) {
      EXPECT_NE(std::string(error.what()).find("nondeterministic stack"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("fast = false"), std::string::npos);
    }
    EXPECT_THROW(state->with_tensors({}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace pushdown::state_test
