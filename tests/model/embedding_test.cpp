#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/recognizer.h"

namespace pushdown::embedding_test {
namespace {

Json options(const char* controller, const char* stack, std::int64_t embedding,
             bool kernels = true) {
  return {{"controller", {{"kind", controller}, {"hidden", 4}}},
          {"stack", {{"kind", stack}}},
          {"embedding", embedding},
          {"kernels", kernels},
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

TEST(Embedding, FusedAndStepwiseAndPiecesAgreeInValuesAndGradients) {
  for (const char* stack : {"none", "superposition", "stratification", "parallel_superposition"}) {
    const LanguageModel kernels(alphabet(), options("lstm", stack, 3)),
        stepwise(alphabet(), options("lstm", stack, 3, false));
    const Tensor words = some_words();
    const auto gradients = [](const LanguageModel& model, const Tensor& value) {
      for (const auto& [name, tensor] : model.parameters())
        Tensor(tensor).mutable_grad() = Tensor();
      value.backward();
      std::vector<Tensor> all;
      for (const auto& [name, tensor] : model.parameters())
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
      return all;
    };
    const Tensor a = kernels.log_probabilities(words), b = stepwise.log_probabilities(words);
    EXPECT_TRUE(at::allclose(a, b, 1e-12, 1e-12)) << stack;
    const auto of_kernels = gradients(kernels, a.sum()), of_steps = gradients(stepwise, b.sum());
    for (std::size_t i = 0; i < of_kernels.size(); ++i)
      EXPECT_TRUE(at::allclose(of_kernels[i], of_steps[i], 1e-10, 1e-12))
          << stack << " " << kernels.parameters()[i].first;
    EXPECT_GT(of_kernels[0].abs().max().item<double>(), 0) << stack;  // of the embedding

    at::NoGradGuard no_grad;
    Tensor in_pieces = at::zeros({2}, at::kDouble);
    kernels.visit_log_probabilities(words, 3, nullptr,
                                    [&](const Tensor& piece) { in_pieces += piece; });
    EXPECT_TRUE(at::allclose(in_pieces, a, 1e-12, 1e-12)) << stack;
  }
}

PlannedBatch planned(const Recognizer& model, Random& noise) {
  return std::get<PlannedBatch>(
      model.network().route(model.request(model.input(some_words()), 0, &noise)));
}

// With the masks of dropout, also of the embeddings.
TEST(Embedding, IsTrainedByAPassWithoutAGraph) {
  for (const char* stack : {"none", "superposition", "parallel_superposition"}) {
    Json given = options("lstm", stack, 3);
    given["dropout"] = 0.3;
    given["controller"]["layers"] = 2;
    const Recognizer direct(alphabet(), given);
    given["kernels"] = false;
    const Recognizer stepwise(alphabet(), given);
    const Tensor words = some_words();
    Random one(5), two(5);
    const Pass pass = run_plan(planned(direct, one));
    const Tensor& got = pass.hiddens;
    const Tensor slopes = at::arange(got.numel(), got.options()).view_as(got).cos();
    pass.backward(slopes);
    const Tensor wanted = stepwise.run(words, &two).hiddens;
    (wanted * slopes).sum().backward();
    EXPECT_TRUE(at::allclose(got, wanted, 1e-12, 1e-12)) << stack;
    EXPECT_EQ(one.state(), two.state()) << stack;
    for (std::size_t i = 0; i < direct.parameters().size(); ++i) {
      const auto& [name, tensor] = stepwise.parameters()[i];
      if (!tensor.grad().defined()) continue;  // of the output layer
      const Tensor gradient = direct.parameters()[i].second.grad();
      ASSERT_TRUE(gradient.defined()) << stack << ' ' << name;
      EXPECT_TRUE(at::allclose(gradient, tensor.grad(), 1e-10, 1e-12)) << stack << ' ' << name;
    }
    EXPECT_GT(parameter(direct, "embedding.weight").grad().abs().max().item<double>(), 0) << stack;
  }
}

// From 257 outcomes on, the output layer is one operation over all hidden vectors.
TEST(Embedding, OfManySymbolsIsTrainedWithoutAGraph) {
  // With the end symbol, there are 256 and 257 outcomes.
  for (const std::int64_t size : {255, 256}) {
    std::vector<std::string> symbols;
    for (std::int64_t k = 0; k < size; ++k) symbols.push_back(std::to_string(k));
    for (const std::int64_t embedding : {0, 3}) {
      const LanguageModel model(Alphabet(symbols), options("elman", "none", embedding));
      const Tensor values = model.differentiate(some_words(), 1, nullptr);
      const Tensor wanted = model.log_probabilities(some_words());
      EXPECT_TRUE(wanted.requires_grad());
      EXPECT_TRUE(at::allclose(values, wanted, 1e-12, 1e-12));
    }
  }
}

TEST(Embedding, OfManyNumbersIsTrainedWithoutAGraph) {
  const Recognizer model(alphabet(), options("elman", "none", 20000));
  Random random(5);
  EXPECT_TRUE(run_plan(planned(model, random)).hiddens.isfinite().all().item<bool>());
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
