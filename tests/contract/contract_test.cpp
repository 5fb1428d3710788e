// The contract of every row of the stack and controller registries, and of what is between the two:
// shapes, finite numbers, correct gradients, independence of the sequences in a batch, rejection of
// unknown options.
// label: long
#include <gtest/gtest.h>

#include <set>

#include "cases.h"
#include "model/language_model.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown::contract_test {
namespace {

using namespace testing_support;

// Every check of the contract on every case.
class Contract : public testing::TestWithParam<Json> {
 protected:
  void expect(const char* name) const {
    for (const auto& check : language_model_contract())
      if (check.name == name) {
        for (const auto& complaint : check.run(GetParam(), TrainingKinds()))
          ADD_FAILURE() << complaint;
        return;
      }
    FAIL() << "there is no check " << name;
  }
};

TEST_P(Contract, ASecondPassIsTheSame) { expect("repeats"); }
TEST_P(Contract, ShapesAndFiniteness) { expect("shapes"); }
TEST_P(Contract, ProbabilitiesSumToOne) { expect("probabilities"); }
TEST_P(Contract, GradientsMatchFiniteDifferences) { expect("gradients"); }
TEST_P(Contract, EveryParameterIsUsed) { expect("parameters"); }
TEST_P(Contract, BatchEqualsSequencesAlone) { expect("batches"); }
TEST_P(Contract, FutureSymbolsDoNotMatter) { expect("causality"); }
TEST_P(Contract, PiecesEqualTheWhole) { expect("pieces"); }
TEST_P(Contract, NothingFlowsThroughADetachedState) { expect("detached"); }
TEST_P(Contract, OneSymbolAfterTheOtherAndBranches) { expect("branches"); }
TEST_P(Contract, SameSeedSameParameters) { expect("seeds"); }
TEST_P(Contract, UnknownOptionsFail) { expect("options"); }
TEST_P(Contract, StatesOfOtherModelsAndWrongBatchesAreRefused) { expect("states"); }
TEST_P(Contract, CudaEqualsCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device, or a LibTorch without CUDA";
  expect("devices");
}

TEST(ContractItself, HasATestForEveryCheck) { EXPECT_EQ(language_model_contract().size(), 14u); }

INSTANTIATE_TEST_SUITE_P(Registry, Contract, testing::ValuesIn(all_cases()));

TEST(LanguageModelEnd, EndSymbolMakesProbabilitiesOfAllLengthsSumBelowOne) {
  LanguageModel model(Alphabet({"a", "b"}), Json{{"end_symbol", true}, {"dtype", "float64"}});
  at::NoGradGuard guard;
  double total = 0;
  for (std::int64_t length = 0; length <= 8; ++length)
    for (int code = 0; code < 1 << length; ++code) {
      Tensor word = at::empty({1, length}, at::kLong);
      for (std::int64_t i = 0; i < length; ++i) word.data_ptr<std::int64_t>()[i] = code >> i & 1;
      total += model.log_probabilities(word).exp().item<double>();
    }
  EXPECT_LT(total, 1);
  EXPECT_GT(total, 0.9);
}

TEST(LanguageModelEnd, PiecesCloseTheString) {
  const LanguageModel model(Alphabet({"a", "b"}), Json{{"end_symbol", true}, {"dtype", "float64"}});
  const Tensor words = at::zeros({2, 5}, at::kLong);
  const Tensor wanted = model.log_probabilities(words);
  for (const std::int64_t chunk : {0, 1, 2, 5, 9}) {
    Tensor sum = at::zeros({2}, at::kDouble);
    int pieces = 0;
    model.visit_log_probabilities(words, chunk, nullptr, [&](const Tensor& piece) {
      sum = sum + piece.detach();
      ++pieces;
    });
    EXPECT_LT(deviation(sum, wanted), 1e-12) << chunk;
    EXPECT_EQ(pieces, chunk == 1 ? 5 : chunk == 2 ? 3 : 1);
  }
}

TEST(LanguageModelMemory, AWindowBoundsIt) {
  for (const std::string kind : {"nondeterministic", "vector_nondeterministic"}) {
    const LanguageModel model(Alphabet({"a", "b"}),
                              Json{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
                                   {"stack", {{"kind", kind}, {"window", 5}}}});
    const Tensor words = at::zeros({2, 10}, at::kLong);
    auto state = model.begin(2);
    std::vector<std::size_t> bytes;
    for (int chunk = 0; chunk < 20; ++chunk) {
      auto [logits, next] = model.read(words, state);
      logits.sum().backward();
      state = next.detached();
      bytes.push_back(state.state->bytes());
    }
    EXPECT_EQ(bytes.front(), bytes.back()) << kind;
    EXPECT_EQ(std::set<std::size_t>(bytes.begin(), bytes.end()).size(), 1u) << kind;
  }
}

TEST(LanguageModelErrors, NameWhatWasExpected) {
  const LanguageModel model(Alphabet({"a", "b"}), Json::object());
  EXPECT_THROW(model.logits(at::zeros({2, 3})), std::invalid_argument);
  EXPECT_THROW(model.logits(at::full({2, 3}, 2, at::kLong)), std::invalid_argument);
  try {
    LanguageModel(Alphabet({"a"}), Json{{"stack", {{"kind", "superpositon"}}}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'superposition'?"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace pushdown::contract_test
