#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/recognizer.h"

namespace pushdown::embedding_test {
namespace {

Json options(const char* controller, const char* stack, std::int64_t embedding) {
  return {{"controller", {{"kind", controller}, {"hidden", 4}}},
          {"stack", {{"kind", stack}}},
          {"embedding", embedding},
          {"dtype", "float64"},
          {"seed", 7}};
}

const Alphabet& alphabet() {
  static const Alphabet symbols({"a", "b", "c", "d"});
  return symbols;
}

Tensor some_words() { return at::tensor({0, 3, 1, 1, 2, 2, 0, 3}, at::kLong).view({2, 4}); }

const Tensor& parameter(const SequenceModel& model, const std::string& name) {
  for (const auto& [own, tensor] : model.parameters())
    if (own == name) return tensor;
  throw std::out_of_range(name);
}

// A lookup is the product of a one-hot vector with the embedding. A weight W on the embedding E of
// a symbol is a weight W E^T on one-hot vectors.
TEST(Embedding, IsALinearMapOfOneHotVectors) {
  const LanguageModel embedded(alphabet(), options("elman", "superposition", 3));
  LanguageModel plain(alphabet(), options("elman", "superposition", 0));
  EXPECT_EQ(parameter(embedded, "embedding.weight").sizes(), (at::IntArrayRef{4, 3}));
  at::NoGradGuard no_grad;
  for (const auto& [name, tensor] : plain.parameters()) {
    Tensor own = tensor;
    if (name != "controller.weight_ih_l0") {
      own.copy_(parameter(embedded, name));
      continue;
    }
    const Tensor& weight = parameter(embedded, name);  // H x (3 + R)
    own.narrow(1, 0, 4).copy_(
        at::linear(weight.narrow(1, 0, 3), parameter(embedded, "embedding.weight")));
    own.narrow(1, 4, own.size(1) - 4).copy_(weight.narrow(1, 3, weight.size(1) - 3));
  }
  const Tensor words = some_words();
  EXPECT_TRUE(at::allclose(embedded.logits(words), plain.logits(words), 1e-12, 1e-12));
  EXPECT_TRUE(at::allclose(embedded.log_probabilities(words), plain.log_probabilities(words), 1e-12,
                           1e-12));
}

TEST(Embedding, OfManyNumbersIsTrainedWithoutAGraph) {
  const Recognizer model(alphabet(), options("elman", "none", 20000));
  Random random(5);
  const Route route = model.network().route(model.request(model.input(some_words()), 0, &random));
  EXPECT_TRUE(run_plan(std::get<PlannedBatch>(route)).hiddens.isfinite().all().item<bool>());
}

TEST(Embedding, OfARecognizerHasTheEndSymbolToo) {
  Json given = options("gru", "superposition", 5);
  given["end_symbol"] = true;
  const Recognizer model(alphabet(), given);
  EXPECT_EQ(parameter(model, "embedding.weight").sizes(), (at::IntArrayRef{5, 5}));
  EXPECT_TRUE(at::isfinite(model.run(some_words()).scores).all().item<bool>());
}

TEST(Embedding, WithoutOneNothingChanges) {
  Json bare = options("lstm", "none", 0);
  bare.erase("embedding");
  const LanguageModel without(alphabet(), bare), zero(alphabet(), options("lstm", "none", 0));
  ASSERT_EQ(without.parameters().size(), zero.parameters().size());
  for (std::size_t i = 0; i < zero.parameters().size(); ++i) {
    EXPECT_EQ(without.parameters()[i].first, zero.parameters()[i].first);
    EXPECT_TRUE(at::equal(without.parameters()[i].second, zero.parameters()[i].second));
  }
  EXPECT_THROW(LanguageModel(alphabet(), options("lstm", "none", -1)), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::embedding_test
