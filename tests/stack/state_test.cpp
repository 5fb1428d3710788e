// States as lists of tensors, which learning algorithms that go forward in time replace.
#include <gtest/gtest.h>

#include "stack/stack.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::state_test {
namespace {

using namespace testing_support;

// Learning forward in time (tests/contract) compares what replaced tensors do.
TEST(StateTensors, OfAnotherShapeAreRefused) {
  for (const auto& kind : stack_kinds()) {
    Json options{{"kind", kind.name}};
    if (kind.name.ends_with("nondeterministic")) options["fast"] = false;
    Random random(5);
    const auto stack = make_stack(options, {4, at::TensorOptions().dtype(at::kDouble), &random});
    const Tensor hidden = random_tensor({2, 4}, 1, -2, 2);
    const auto state = stack->update(stack->update(stack->initial(2, 0), hidden), hidden);
    auto tensors = state->tensors();
    tensors.push_back(at::zeros({2}, at::kDouble));
    EXPECT_THROW(state->with_tensors(tensors), std::invalid_argument) << kind.name;
    tensors.pop_back();
    if (tensors.empty()) continue;
    for (const Tensor& wrong : {at::zeros({7}, at::kDouble), Tensor()}) {
      tensors[0] = wrong;
      EXPECT_THROW(state->with_tensors(tensors), std::invalid_argument) << kind.name;
    }
  }
}

TEST(StateTensorsOfTheFastAutomaton, AreRefusedByName) {
  for (const char* kind : {"nondeterministic", "vector_nondeterministic"}) {
    Random random(5);
    const auto stack =
        make_stack(Json{{"kind", kind}}, {4, at::TensorOptions().dtype(at::kDouble), &random});
    const auto state = stack->initial(2, 3);
    const auto text = message<std::invalid_argument>([&] { state->tensors(); });
    EXPECT_CONTAINS(text, "nondeterministic stack");
    EXPECT_CONTAINS(text, "fast = false");
    EXPECT_THROW(state->with_tensors({}), std::invalid_argument);
  }
}

}  // namespace
}  // namespace pushdown::state_test
