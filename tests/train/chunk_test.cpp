// Training and evaluation in pieces with the state carried over.
#include <gtest/gtest.h>

#include "support/golden.h"
#include "toy.h"

namespace pushdown::chunk_test {
namespace {

using namespace testing_support;

const Json kStacks =
    Json::array({Json{{"kind", "none"}}, Json{{"kind", "superposition"}, {"size", 3}},
                 Json{{"kind", "stratification"}, {"size", 3}}, Json{{"kind", "nondeterministic"}},
                 Json{{"kind", "nondeterministic"}, {"window", 4}},
                 Json{{"kind", "vector_nondeterministic"}, {"window", 4}}});

std::unique_ptr<Trainer> trainer(const LanguageModelPtr& model, std::int64_t chunk,
                                 std::int64_t epochs = 2) {
  return std::make_unique<Trainer>(
      model, reversal_strings(30, 1), reversal_strings(10, 2),
      Json{{"chunk", chunk}, {"epochs", epochs}, {"batch", 5}, {"seed", 4}});
}

TEST(Chunks, AsLongAsTheStringsIsTheWhole) {
  for (const Json& stack : kStacks) {
    const auto whole = small_model(stack), chunked = small_model(stack);
    const auto a = trainer(whole, 0), b = trainer(chunked, 13);
    while (a->finished().empty()) a->run_epoch();
    while (b->finished().empty()) b->run_epoch();
    EXPECT_TRUE(same(weights(*whole), weights(*chunked)));
    EXPECT_EQ(timeless(a->history()), timeless(b->history()));
  }
}

TEST(Chunks, GradientsEndAtTheBordersAndAreSummed) {
  for (const Json& stack : kStacks) {
    const auto model = small_model(stack, "float64"), reference = small_model(stack, "float64");
    const auto data = std::make_shared<Dataset>(
        Alphabet({"0", "1", "#"}), std::vector<Word>{{0, 1, 1, 2, 1, 1, 0}, {1, 1, 0, 2, 0, 1, 1}});
    Trainer trainer(model, data, nullptr,
                    Json{{"chunk", 3},
                         {"clip_norm", 0},
                         {"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.5}}}});
    const double loss = trainer.step()->loss;
    // Computed by hand: three pieces, the last of one symbol.
    const Tensor words = word_tensor(data->words(), {0, 1});
    auto state = reference->begin(2, 7);
    double sum = 0;
    for (const auto& [start, size] : {std::pair{0, 3}, {3, 3}, {6, 1}}) {
      const Tensor piece = words.narrow(1, start, size);
      auto [logits, next] = reference->read(piece, state);
      const Tensor values = logits.log_softmax(2).gather(2, piece.unsqueeze(2)).sum().neg();
      (values / 2).backward();
      sum += values.item<double>();
      state = next.detached();
    }
    EXPECT_NEAR(loss, sum / 14, 1e-12);
    EXPECT_NEAR(loss, -reference->log_probabilities(words).sum().item<double>() / 14, 1e-12);
    for (std::size_t i = 0; i < model->parameters().size(); ++i) {
      const auto& [name, tensor] = reference->parameters()[i];
      EXPECT_LT(deviation(model->parameters()[i].second,
                          tensor.grad().defined() ? tensor - 0.5 * tensor.grad() : tensor),
                1e-12)
          << stack << ' ' << name;
    }
  }
}

TEST(Chunks, EvaluationGivesTheSameCrossEntropy) {
  for (const bool end_symbol : {false, true})
    for (const Json& stack : kStacks) {
      const auto model = small_model(stack, "float64", end_symbol);
      const auto data = reversal_strings(20, 3);
      EvaluationOptions options;
      const auto whole = evaluate(*model, *data, options);
      options.chunk = 4;
      const auto pieces = evaluate(*model, *data, options);
      EXPECT_NEAR(whole->all.cross_entropy, pieces->all.cross_entropy, 1e-12);
      options.chunk = -1;
      EXPECT_THROW(evaluate(*model, *data, options), std::invalid_argument);
    }
}

}  // namespace
}  // namespace pushdown::chunk_test
