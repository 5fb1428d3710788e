// The contract of every network as the body of a recognizer: shapes, finite numbers, gradients of
// its losses, independence of the strings in a batch, passes and end symbols, rejected options.
#include <gtest/gtest.h>

#include "cases.h"
#include "model/recognizer.h"
#include "model/state_pushdown.h"
#include "support/golden.h"
#include "support/gradient.h"
#include "train/learning/learning.h"

namespace pushdown::recognizer_test {
namespace {

using namespace testing_support;

std::vector<Json> recognizer_cases() {
  auto cases = all_cases();
  for (auto& options : variants("nspda", state_pushdown_network().options)) {
    options["architecture"] = options["kind"];
    options.erase("kind");
    cases.push_back(options);
  }
  // The network's own measure.
  cases.push_back({{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}});
  return cases;
}

// Every check of the contract on every case.
class RecognizerContract : public testing::TestWithParam<Json> {
 protected:
  void expect(const char* name) const {
    for (const auto& check : recognizer_contract())
      if (check.name == name) {
        for (const auto& complaint : check.run(GetParam(), TrainingKinds()))
          ADD_FAILURE() << complaint;
        return;
      }
    FAIL() << "there is no check " << name;
  }
};

TEST_P(RecognizerContract, ShapesFiniteNumbersAndTheDecision) { expect("recognizer_shapes"); }
TEST_P(RecognizerContract, TheMeanDecidesAndTheNextSymbolIsPredicted) {
  expect("recognizer_means");
}
TEST_P(RecognizerContract, BatchEqualsStringsAlone) { expect("recognizer_batches"); }
TEST_P(RecognizerContract, SymbolsReadOneByOneAreTheString) { expect("recognizer_symbols"); }
TEST_P(RecognizerContract, GradientsAreThoseOfTheLoss) { expect("recognizer_gradients"); }
TEST_P(RecognizerContract, SameSeedSameNumbersAndUnknownOptionsFail) {
  expect("recognizer_options");
}

TEST(RecognizerContractItself, HasATestForEveryCheck) {
  EXPECT_EQ(recognizer_contract().size(), 6u);
}

INSTANTIATE_TEST_SUITE_P(Registry, RecognizerContract, testing::ValuesIn(recognizer_cases()));

}  // namespace
}  // namespace pushdown::recognizer_test
