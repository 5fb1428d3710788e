// Stacks that round their actions in evaluation, and only then.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "support/gradients.h"

namespace pushdown::rounding_test {
namespace {

using namespace testing_support;

LanguageModel make(const char* kind, bool rounding, bool bias = true) {
  return LanguageModel(Alphabet({"a", "b"}),
                       Json{{"controller", {{"kind", "elman"}, {"hidden", 5}}},
                            {"stack", {{"kind", kind}, {"rounding", rounding}, {"bias", bias}}},
                            {"dtype", "float64"},
                            {"seed", 4}});
}

// Makes every softmax of the actions close to one-hot.
void sharpen(const LanguageModel& model) {
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : model.parameters())
    if (name.starts_with("stack.action")) tensor.mul_(1e6);
}

class Rounding : public testing::TestWithParam<const char*> {};

TEST_P(Rounding, HappensOnlyInEvaluation) {
  const Tensor words = random_words(3, 12, 2, 2);
  const auto soft = make(GetParam(), false), rounded = make(GetParam(), true),
             sharp = make(GetParam(), false);
  sharpen(sharp);
  Random noise(1);
  EXPECT_TRUE(rounded.logits(words, &noise).equal(soft.logits(words)));
  EXPECT_GT(deviation(rounded.logits(words), soft.logits(words)), 1e-4);
  EXPECT_LT(deviation(rounded.logits(words), sharp.logits(words)), 1e-9);
  EXPECT_LT(deviation(rounded.log_probabilities(words), sharp.log_probabilities(words)), 1e-9);
  EXPECT_TRUE(rounded.log_probabilities(words, &noise).equal(soft.log_probabilities(words)));

  // In pieces, a training pass and an evaluation of the same state.
  const Tensor first = words.narrow(1, 0, 5), second = words.narrow(1, 5, 7);
  const auto state = rounded.read(first, rounded.begin(3)).second;
  EXPECT_LT(deviation(rounded.read(second, state).first, sharp.logits(words).narrow(1, 5, 7)),
            1e-9);
  const auto trained = rounded.read(first, rounded.begin(3), &noise).second;
  EXPECT_LT(
      deviation(rounded.read(second, trained, &noise).first, soft.logits(words).narrow(1, 5, 7)),
      1e-14);
  EXPECT_GT(deviation(rounded.next(state).first, soft.next(soft.begin(3)).first), 0);
}

TEST_P(Rounding, KeepsTheParametersShared) {
  const auto model = make(GetParam(), true, false);
  const Tensor words = at::zeros({1, 6}, at::kLong);
  const Tensor before = model.logits(words).clone();
  for (const auto& [name, tensor] : model.parameters()) {
    at::NoGradGuard guard;
    if (name == "stack.value_weight") tensor.add_(1);
  }
  EXPECT_GT(deviation(model.logits(words), before), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Rounding, testing::Values("parallel_superposition", "list"));

}  // namespace
}  // namespace pushdown::rounding_test
