// Language models with a vocabulary that is large enough for its own kernel, compared with the same
// models by tensor operations: sentences, pieces of a text, missing targets.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "support/golden.h"

namespace pushdown::vocabulary_test {
namespace {

using namespace testing_support;

constexpr int kWords = 1500;

LanguageModel model(bool kernels, bool end_symbol) {
  std::vector<std::string> words;
  for (int k = 0; k < kWords; ++k) words.push_back(std::to_string(k));
  return {Alphabet(words), Json{{"controller", {{"kind", "lstm"}, {"hidden", 50}}},
                                {"stack",
                                 {{"kind", "stratification"},
                                  {"size", 5},
                                  {"push", "expectation"},
                                  {"pop", "fixed"},
                                  {"read", "expectation"}}},
                                {"embedding", 7},
                                {"end_symbol", end_symbol},
                                {"dtype", "float64"},
                                {"kernels", kernels},
                                {"seed", 3}}};
}
Tensor words(std::int64_t batch, std::int64_t length) {
  return at::arange(batch * length).mul(7919).remainder(kWords).view({batch, length});
}
std::vector<Tensor> gradients(const LanguageModel& of) {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : of.parameters()) {
    all.push_back(tensor.grad().clone());
    tensor.mutable_grad() = Tensor();
  }
  return all;
}

TEST(Vocabulary, PiecesAreScoredAsTheyAreRead) {
  const auto kernels = model(true, false);
  const Tensor input = words(2, 8);
  Tensor targets = input.clone();
  targets[0][5].fill_(-100);
  auto read = kernels.begin(2), scored = kernels.begin(2);
  for (const auto& [first, count] : {std::pair{0, 3}, {3, 5}}) {
    const Tensor piece = input.narrow(1, first, count), wanted = targets.narrow(1, first, count);
    auto [logits, after_read] = kernels.read(piece, read);
    auto [values, after_score] = kernels.score(piece, wanted, scored);
    const Tensor own =
        logits.log_softmax(2).gather(2, piece.unsqueeze(2)).squeeze(2).masked_fill(wanted < 0, 0);
    EXPECT_LT(deviation(values, own), 1e-11);
    own.sum().backward();
    const auto expected = gradients(kernels);
    values.sum().backward();
    const auto got = gradients(kernels);
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_LT(deviation(got[i], expected[i]), 1e-11) << kernels.parameters()[i].first;
    read = after_read.detached();
    scored = after_score.detached();
    EXPECT_EQ(scored.symbols, first + count);
  }
  EXPECT_THROW(kernels.score(input, targets.narrow(1, 0, 7), kernels.begin(2)),
               std::invalid_argument);
  EXPECT_THROW(kernels.score(input, targets, kernels.begin(3)), std::invalid_argument);
  EXPECT_THROW(kernels.score(input, targets.to(at::kInt), kernels.begin(2)), std::invalid_argument);
  EXPECT_THROW(kernels.score(input, targets + kWords, kernels.begin(2)), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::vocabulary_test
