// The decision about a string: by the answer after its last symbol, or by the mean of all answers.
#include <gtest/gtest.h>

#include "train/evaluation/accuracy.h"
#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::testing_support::decision_test {
namespace {

RecognizerPtr recognizer(const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "elman"}, {"hidden", 4}}},
               {"stack", {{"kind", "superposition"}, {"size", 2}}},
               {"dtype", "float64"},
               {"seed", 5}};
  options.update(more);
  return std::make_shared<Recognizer>(Alphabet({"a", "b"}), options);
}

LabelledDatasetPtr some_strings(int count, std::uint64_t seed) {
  Random random(seed);
  std::map<Word, bool> rows;
  while (static_cast<int>(rows.size()) < count) {
    Word word(1 + random.below(6));
    for (int& symbol : word) symbol = static_cast<int>(random.below(2));
    rows.emplace(word, word.front() == word.back());
  }
  std::vector<Word> words;
  std::vector<bool> labels;
  for (const auto& [word, label] : rows) {
    words.push_back(word);
    labels.push_back(label);
  }
  return std::make_shared<LabelledDataset>(Alphabet({"a", "b"}), words, labels);
}

double mean_of(const Recognizer& model, const Tensor& scores) {
  double sum = 0;
  for (std::int64_t t = 1; t < scores.size(0); ++t) {
    const double score = scores[t].item<double>();
    sum += model.affine() ? 1 / (1 + std::exp(-score)) : score;
  }
  return sum / static_cast<double>(scores.size(0) - 1);
}

TEST(Decision, TheMeanIsThatOfAllAnswers) {
  at::NoGradGuard guard;
  for (const Json& more : std::vector<Json>{
           Json::object(),
           {{"end_symbol", false}},
           {{"evaluation_passes", 3}},
           {{"architecture", "nspda"}, {"states", 3}, {"evaluation_passes", 2}},
           {{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}},
           {{"architecture", "transformer"}, {"hidden", 4}, {"heads", 2}, {"feedforward", 4}}}) {
    Json options = more;
    if (options.contains("architecture")) {
      options["dtype"] = "float64";
      options["seed"] = 5;
    } else {
      options = recognizer(more)->options();
    }
    options["decision"] = "mean";
    const Recognizer model(Alphabet({"a", "b"}), options);
    EXPECT_EQ(model.threshold(), 0.5);
    EXPECT_EQ(model.threshold(Decision::last), model.affine() ? 0.0 : 0.5);
    const Tensor words = at::tensor(std::vector<std::int64_t>{0, 1, 1, 0, 1, 0}).view({2, 3});
    const Tensor scores = model.run(words).scores, decisions = model.decisions(words);
    const Tensor last = model.decisions(words, Decision::last);
    for (std::int64_t b : {0, 1}) {
      EXPECT_NEAR(decisions[b].item<double>(), mean_of(model, scores[b]), 1e-12) << more;
      EXPECT_NEAR(last[b].item<double>(), scores[b][scores.size(1) - 1].item<double>(), 1e-12);
    }
  }
}

TEST(Decision, PassesThatWereLeftOutDoNotCount) {
  const auto model = recognizer({{"decision", "mean"}});
  const auto logit = [](double p) { return std::log(p / (1 - p)); };
  const Tensor scores =
      at::tensor(std::vector<double>{logit(.2), logit(.9), logit(.6), logit(.4)}).view({1, 4});
  const Tensor weights = at::tensor(std::vector<double>{1, 0, 1, 0}).view({1, 4});
  Verdict whole(*model), pieces(*model);
  whole.add(scores, weights);
  EXPECT_NEAR(whole.values()[0], 0.4, 1e-12);
  for (std::int64_t t : {0, 1, 2, 3}) pieces.add(scores.narrow(1, t, 1), weights.narrow(1, t, 1));
  EXPECT_NEAR(pieces.values()[0], 0.4, 1e-12);
  Verdict all(*model);
  all.add(scores.narrow(1, 0, 3), {});
  all.add(scores.narrow(1, 3, 1), {});
  EXPECT_NEAR(all.values()[0], 0.525, 1e-12);
}

TEST(Decision, EveryAnswerMustAgree) {
  const auto model = recognizer({{"decision", "every"}});
  EXPECT_EQ(model->threshold(), 0.5);
  const auto logit = [](double p) { return std::log(p / (1 - p)); };
  const Tensor scores = at::tensor(std::vector<double>{logit(.6), logit(.9), logit(.7),  //
                                                       logit(.1), logit(.4), logit(.2),  //
                                                       logit(.6), logit(.4), logit(.7)})
                            .view({3, 3});
  const Tensor none_left_out = at::ones({3, 3}, at::kDouble);
  Tensor last_left_out = none_left_out.clone();
  last_left_out.select(1, 1).zero_();
  Verdict whole(*model), pieces(*model), without(*model);
  whole.add(scores, {});
  for (std::int64_t t : {0, 1, 2})
    pieces.add(scores.narrow(1, t, 1), none_left_out.narrow(1, t, 1));
  without.add(scores, last_left_out);
  for (const Verdict* verdict : {&whole, &pieces}) {
    const auto value = verdict->values();
    EXPECT_NEAR(value[0], 0.6, 1e-12);
    EXPECT_NEAR(value[1], 0.4, 1e-12);
    for (const bool label : {false, true}) {
      EXPECT_EQ(model->agrees(value[0], label), label);
      EXPECT_EQ(model->agrees(value[1], label), !label);
      // Neither label is correct for answers on both sides of the threshold.
      EXPECT_FALSE(model->agrees(value[2], label));
    }
  }
  EXPECT_TRUE(model->agrees(without.values()[2], true));
}

TEST(Decision, AnEmptyStringHasTheAnswerBeforeIt) {
  at::NoGradGuard guard;
  const auto model = recognizer({{"decision", "mean"}, {"end_symbol", false}});
  const Tensor words = at::empty({2, 0}, at::kLong);
  const double p = 1 / (1 + std::exp(-model->output_bias().item<double>()));
  EXPECT_NEAR(model->decisions(words)[1].item<double>(), p, 1e-12);
}

// Parameters that are large enough for strings to differ.
RecognizerPtr loud_recognizer(const std::string& decision) {
  auto model = recognizer({{"decision", decision}});
  at::NoGradGuard guard;
  for (const auto& [name, parameter] : model->parameters()) parameter.mul_(15);
  return model;
}

TEST(Decision, TrainingAndEvaluationHaveOneAccuracy) {
  const auto train = some_strings(60, 1), valid = some_strings(30, 2);
  std::map<std::string, std::vector<std::int64_t>> wrong;
  for (const std::string decision : {"last", "mean", "every"})
    for (const Json& learning :
         std::vector<Json>{"bptt", {{"kind", "tbptt"}, {"window", 2}}, "uoro", "rtrl"})
      for (const double stop : {0.0, 1.0}) {
        const auto model = loud_recognizer(decision);
        // The rate is too small to change anything, so measurements before and after the updates
        // are equal.
        Trainer trainer(recognition(model, train, valid),
                        {{"optimizer", {{"kind", "sgd"}, {"learning_rate", 1e-30}}},
                         {"learning", learning},
                         {"objective", "final"},
                         {"stop_accuracy", stop},
                         {"seed", 1},
                         {"epochs", 1}});
        const auto epoch = *trainer.run_epoch();
        const auto told = *evaluate(*model, *train, {});
        EXPECT_EQ(*epoch.train_accuracy, told.all.accuracy()) << decision << learning << stop;
        EXPECT_EQ(*epoch.accuracy, evaluate(*model, *valid, {})->all.accuracy());
        wrong[decision] = told.wrong;
      }
  EXPECT_NE(wrong["last"], wrong["mean"]);
  EXPECT_GE(wrong["every"].size(), wrong["last"].size());
  for (const auto string : wrong["last"])
    EXPECT_TRUE(std::count(wrong["every"].begin(), wrong["every"].end(), string));
  // An evaluation may use another decision rule than the model.
  for (const std::string decision : {"last", "mean"}) {
    EvaluationOptions options;
    options.decision = parse_decision("test", decision);
    const auto model = loud_recognizer(decision == "last" ? "mean" : "last");
    EXPECT_EQ(evaluate(*model, *train, options)->wrong, wrong[decision]);
  }
}

TEST(Decision, OlderModelsAreUnchanged) {
  const auto model = recognizer();
  Json options = model->options();
  options.erase("decision");
  options.erase("next_symbol");
  const Recognizer old(Alphabet({"a", "b"}), options);
  EXPECT_EQ(old.decision(), Decision::last);
  EXPECT_FALSE(old.predicts_next_symbol());
  EXPECT_EQ(old.parameters().size(), model->parameters().size());
  // The second output layer does not change the other parameters.
  const auto more = recognizer({{"next_symbol", true}});
  ASSERT_EQ(more->parameters().size(), old.parameters().size() + 2);
  for (std::size_t i = 0; i < old.parameters().size(); ++i)
    EXPECT_TRUE(at::equal(more->parameters()[i].second, old.parameters()[i].second));
  EXPECT_EQ(more->next_weight().sizes(), (std::vector<std::int64_t>{3, 4}));
  EXPECT_EQ(recognizer({{"next_symbol", true}, {"end_symbol", false}})->next_bias().numel(), 2);
  EXPECT_CONTAINS(message<std::invalid_argument>([] {
                    recognizer({{"decision", "average"}});
                  }),
                  "decision");
  EXPECT_CONTAINS(
      message<std::invalid_argument>([] {
        Recognizer(
            Alphabet({"a"}),
            {{"architecture", "nnpda"}, {"states", 3}, {"output", "own"}, {"next_symbol", true}});
      }),
      "next_symbol needs output = 'affine'");
}

}  // namespace
}  // namespace pushdown::testing_support::decision_test
