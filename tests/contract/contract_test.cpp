// The contract of every row of the registries, and of what is between them, as language models and
// as recognizers: shapes, finite numbers, correct gradients, independence of the sequences in a
// batch, reading in pieces, rejection of unknown options.
// label: long
#include <gtest/gtest.h>

#include <set>

#include "cases.h"
#include "model/language_model.h"
#include "support/golden.h"

namespace pushdown::contract_test {
namespace {

using namespace testing_support;

void expect_contract(const std::vector<ContractCheck>& checks, const Json& options) {
  for (const auto& result : run_contract(checks, options, TrainingKinds()))
    for (const auto& complaint : result.complaints)
      ADD_FAILURE() << result.name << ": " << complaint;
}

class LanguageModels : public testing::TestWithParam<Json> {};
TEST_P(LanguageModels, KeepTheContract) { expect_contract(language_model_contract(), GetParam()); }
TEST_P(LanguageModels, CudaEqualsCpu) {
  if (!at::hasCUDA()) GTEST_SKIP() << "no CUDA device, or a LibTorch without CUDA";
  expect_contract({language_model_contract().back()}, GetParam());
}
INSTANTIATE_TEST_SUITE_P(Registry, LanguageModels, testing::ValuesIn(all_cases()));

class Recognizers : public testing::TestWithParam<Json> {};
TEST_P(Recognizers, KeepTheContract) { expect_contract(recognizer_contract(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(Registry, Recognizers, testing::ValuesIn(recognizer_cases()));

class Objectives : public testing::TestWithParam<Json> {};
TEST_P(Objectives, KeepTheContract) { expect_contract(objective_contract(), GetParam()); }
INSTANTIATE_TEST_SUITE_P(Registry, Objectives,
                         testing::ValuesIn(registry_variants(objective_kinds())));

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
}

}  // namespace
}  // namespace pushdown::contract_test
