// The joint objective, the next symbol and the label, compared with loops.
#include "train/learning/objective.h"

#include <gtest/gtest.h>

#include "train/gradients.h"
#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::joint_test {
namespace {

using namespace testing_support;

Recognizer recognizer(const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "elman"}, {"hidden", 3}}},
               {"stack", {{"kind", "superposition"}, {"size", 2}}},
               {"next_symbol", true},
               {"dtype", "float64"},
               {"seed", 7}};
  options.update(more);
  return Recognizer(Alphabet({"a", "b", "c"}), options);
}

// The first string is valid, the second is not.
StringBatch strings(std::int64_t length) {
  return {random_words(2, length, 3, 3), at::tensor(std::vector<double>{1, 0}), {}};
}

Json joint(const Json& more = Json::object()) {
  Json options{{"kind", "joint"}};
  options.update(more);
  return options;
}

// Equation 1 symbol by symbol.
double loss_of(const Recognizer& model, const StringBatch& batch, std::int64_t b, double symbol,
               double validity, bool negatives, bool average) {
  at::NoGradGuard guard;
  Random training(0);
  const Recognition said = model.run(batch.words, &training);
  const Tensor next = model.next_scores(said.hiddens).softmax(2)[b];
  const Tensor words = model.input(batch.words)[b];
  const double label = batch.labels[b].item<double>();
  const auto passes = model.passes(), made = words.size(0) * passes;
  double loss = 0;
  for (std::int64_t pass = 1; pass <= made; ++pass) {
    const auto read = (pass - 1) / passes;  // the symbol of this pass
    const double y = 1 / (1 + std::exp(-said.scores[b][pass].item<double>()));
    loss += validity * (y - label) * (y - label) / 2;
    if (read + 1 < words.size(0) && (negatives || label == 1))
      loss -= symbol * std::log(next[pass][words[read + 1].item<std::int64_t>()].item<double>());
  }
  return average ? loss / static_cast<double>(made) : loss;
}

TEST(Joint, LossIsEquationOne) {
  for (const bool end : {true, false})
    for (const std::int64_t passes : {1, 2})
      for (const bool negatives : {true, false})
        for (const bool average : {true, false})
          for (const auto& [symbol, validity] : {std::pair{1.0, 1.0}, {0.5, 3.0}, {1.0, 0.0}}) {
            const auto model = recognizer({{"end_symbol", end}, {"passes", passes}});
            const auto batch = strings(5);
            const Json objective = joint({{"symbol_weight", symbol},
                                          {"validity_weight", validity},
                                          {"negatives", negatives},
                                          {"average", average}});
            const auto found = gradient(model, "bptt", batch, objective);
            for (std::int64_t b : {0, 1})
              EXPECT_NEAR(found.values.losses[b],
                          loss_of(model, batch, b, symbol, validity, negatives, average), 1e-10);
          }
}

TEST(Joint, EmptyStringsHaveTheLossOfTheirLabel) {
  const auto batch = strings(0);
  for (const bool end : {true, false}) {
    const auto model = recognizer({{"end_symbol", end}});
    const auto wanted = gradient(model, "bptt", batch, joint());
    const Tensor scores = model.run(batch.words).scores.select(1, end ? 1 : 0);
    for (std::int64_t b : {0, 1}) {
      const double y = 1 / (1 + std::exp(-scores[b].item<double>()));
      const double error = y - batch.labels[b].item<double>();
      EXPECT_NEAR(wanted.values.losses[b], error * error / 2, 1e-12);
    }
    for (const char* kind : {"rtrl", "uoro", "tbptt"})
      expect_same(model, gradient(model, kind, batch, joint()), wanted);
  }
}

TEST(Joint, InvalidOptionsAreRefused) {
  const auto refused = [](const Json& options) {
    return message<std::invalid_argument>([&] { make_objective(options); });
  };
  EXPECT_CONTAINS(refused(joint({{"symbol_weight", 0}, {"validity_weight", 0}})), "above 0");
  EXPECT_CONTAINS(refused(joint({{"symbol_weight", -1}})), "symbol_weight");
  EXPECT_CONTAINS(refused(joint({{"beta", 1}})), "beta");
  const auto plain = std::make_shared<Recognizer>(recognizer({{"next_symbol", false}}));
  const auto data = std::make_shared<LabelledDataset>(
      plain->alphabet(), std::vector<Word>{{0}, {1}}, std::vector<bool>{true, false});
  const auto trainer = [&](const Json& objective) {
    return message<std::invalid_argument>([&] {
      Trainer(recognition(plain, data, nullptr), {{"objective", objective}}).step();
    });
  };
  EXPECT_CONTAINS(trainer("joint"), "'joint' needs a recognizer with next_symbol = true");
  EXPECT_EQ(trainer(joint({{"symbol_weight", 0}})), "no error");
}

}  // namespace
}  // namespace pushdown::joint_test
