// The joint objective, the next symbol and the label, compared with loops, finite differences and
// the learning algorithms.
#include "train/learning/objective.h"

#include <gtest/gtest.h>

#include "support/golden.h"
#include "train/gradients.h"
#include "train/learning/learning_pieces.h"
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
  Random random(3);
  StringBatch batch{at::empty({2, length}, at::kLong), at::tensor(std::vector<double>{1, 0}), {}};
  for (std::int64_t i = 0; i < batch.words.numel(); ++i)
    batch.words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
  return batch;
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

TEST(Joint, GradientsAreThoseOfTheLoss) {
  for (const std::int64_t passes : {1, 2}) {
    const auto model = recognizer({{"passes", passes}});
    const auto batch = strings(4);
    const Json objective = joint({{"symbol_weight", 0.7}, {"validity_weight", 1.9}});
    const auto mean = [&] {
      return (loss_of(model, batch, 0, 0.7, 1.9, true, false) +
              loss_of(model, batch, 1, 0.7, 1.9, true, false)) /
             2;
    };
    const auto found = gradient(model, "bptt", batch, objective);
    at::NoGradGuard guard;
    double largest = 0;
    for (std::size_t i = 0; i < found.gradients.size(); ++i) {
      auto* values = model.parameters()[i].second.data_ptr<double>();
      for (std::int64_t k = 0; k < found.gradients[i].numel(); ++k) {
        const double value = values[k], step = 1e-6;
        values[k] = value + step;
        const double above = mean();
        values[k] = value - step;
        const double below = mean();
        values[k] = value;
        const double got = found.gradients[i].contiguous().data_ptr<double>()[k];
        EXPECT_NEAR(got, (above - below) / (2 * step), 1e-7) << model.parameters()[i].first;
        largest = std::max(largest, std::abs(got));
      }
    }
    EXPECT_GT(largest, 0.1);
  }
}

TEST(Joint, AllAlgorithmsAgreeWhereTheyMust) {
  for (const bool end : {true, false})
    for (const std::int64_t passes : {1, 2})
      for (const char* decision : {"last", "mean"})
        for (const bool average : {true, false}) {
          const auto model = recognizer({{"end_symbol", end},
                                         {"passes", passes},
                                         {"evaluation_passes", passes},
                                         {"decision", decision}});
          const auto batch = strings(4);
          const Json objective = joint({{"average", average}});
          const auto wanted = gradient(model, "bptt", batch, objective);
          for (const Json& exact : std::vector<Json>{"rtrl",
                                                     {{"kind", "tbptt"}, {"window", 5}},
                                                     {{"kind", "uoro"}, {"truncation", 5}}})
            expect_same(model, gradient(model, exact, batch, objective), wanted);
          // For all pieces, no symbol at their borders is missed or counted twice.
          for (const std::int64_t window : {1, 2, 3}) {
            const auto got =
                gradient(model, Json{{"kind", "tbptt"}, {"window", window}}, batch, objective);
            for (std::size_t b : {0, 1}) {
              EXPECT_NEAR(got.values.losses[b], wanted.values.losses[b], 1e-11) << window;
              EXPECT_NEAR(got.values.scores[b], wanted.values.scores[b], 1e-11) << window;
            }
          }
          // The model decides by the value that is compared with the threshold.
          at::NoGradGuard guard;
          const Tensor decided = model.decisions(batch.words);
          for (std::int64_t b : {0, 1})
            EXPECT_NEAR(wanted.values.scores[b], decided[b].item<double>(), 1e-12);
        }
}

// Without LibTorch's graph, and with it.
TEST(Joint, GradientsNeedNoGraph) {
  const auto taken = [](const Recognizer& model) {
    std::vector<Tensor> gradients;
    for (const auto& [name, parameter] : model.parameters()) {
      gradients.push_back(parameter.grad().defined() ? parameter.grad().clone()
                                                     : at::zeros_like(parameter.detach()));
      parameter.mutable_grad() = Tensor();
    }
    return gradients;
  };
  for (const char* decision : {"last", "mean", "every"})
    for (const std::int64_t passes : {1, 3})
      for (const std::int64_t window : {0, 3})
        for (const Json& options : {joint(), joint({{"negatives", false}, {"average", true}}),
                                    Json("stepwise"), Json("final")}) {
          const auto model = recognizer({{"passes", passes}, {"decision", decision}});
          const auto batch = strings(6);
          const auto objective = make_objective(options);
          Random one(1), same(1);
          ASSERT_TRUE(std::holds_alternative<PlannedBatch>(
              route_of(model, *objective, batch, one, "bptt", window)));
          const auto got = backpropagate(model, *objective, batch, one, window);
          const Found direct{taken(model), got};
          const Pass pass = model.network().pass(
              model.request(model.input(batch.words), window, &same), ByTensors());
          Found wanted;
          wanted.values = backpropagate(model, *objective, batch, pass);
          wanted.gradients = taken(model);
          expect_same(model, direct, wanted);
        }
  // The definition needs the graph.
  Random random(1);
  EXPECT_TRUE(std::holds_alternative<ByTensors>(route_of(
      recognizer({{"kernels", false}}), *make_objective("stepwise"), strings(3), random, "bptt")));
}

TEST(Joint, TruncatedGradientsAreThoseOfThePieces) {
  const auto model = recognizer();
  const auto batch = strings(6);
  const Tensor words = model.input(batch.words);  // seven symbols: pieces of 3, 3 and 1
  const auto got = gradient(model, Json{{"kind", "tbptt"}, {"window", 3}}, batch, joint());
  for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad() = Tensor();
  for (const std::int64_t first : {0, 3, 6}) {
    NetworkStatePtr state = model.network().initial(2, 7);
    if (first > 0) {
      at::NoGradGuard guard;
      state = model.network().advance(words.narrow(1, 0, first), 1, state, nullptr).state;
    }
    const auto count = std::min<std::int64_t>(3, 7 - first);
    const auto made = model.network().advance(words.narrow(1, first, count), 1, state, nullptr);
    Tensor loss = (model.scores(made.hiddens).sigmoid() - batch.labels.unsqueeze(1)).square().sum();
    loss = loss / 2;
    for (std::int64_t t = first; t < first + count && t + 1 < 7; ++t) {
      const Tensor log = model.next_scores(made.hiddens).select(1, t - first).log_softmax(1);
      loss = loss - log.gather(1, words.narrow(1, t + 1, 1)).sum();
    }
    (loss / 2).backward();
  }
  for (std::size_t i = 0; i < got.gradients.size(); ++i)
    EXPECT_LT(deviation(got.gradients[i], model.parameters()[i].second.grad()), 1e-12);
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
    return complaint<std::invalid_argument>([&] { make_objective(options); });
  };
  EXPECT_CONTAINS(refused(joint({{"symbol_weight", 0}, {"validity_weight", 0}})), "above 0");
  EXPECT_CONTAINS(refused(joint({{"symbol_weight", -1}})), "symbol_weight");
  EXPECT_CONTAINS(refused(joint({{"beta", 1}})), "beta");
  const auto plain = std::make_shared<Recognizer>(recognizer({{"next_symbol", false}}));
  const auto data = std::make_shared<LabelledDataset>(
      plain->alphabet(), std::vector<Word>{{0}, {1}}, std::vector<bool>{true, false});
  const auto trainer = [&](const Json& objective) {
    return complaint<std::invalid_argument>([&] {
      Trainer(recognition(plain, data, nullptr), {{"objective", objective}}).step();
    });
  };
  EXPECT_CONTAINS(trainer("joint"), "'joint' needs a recognizer with next_symbol = true");
  EXPECT_EQ(trainer(joint({{"symbol_weight", 0}})), "no error");
}

}  // namespace
}  // namespace pushdown::joint_test
