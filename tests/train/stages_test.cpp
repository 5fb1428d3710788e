// Training in stages: what carries over, what ends a stage, resuming, and refused input.
#include "train/problems/stages.h"

#include <gtest/gtest.h>

#include "support/message.h"
#include "task/pair_list.h"
#include "train/problems/language_modelling.h"
#include "train/problems/recognition.h"
#include "train/problems/text_modelling.h"
#include "train/problems/transduction.h"
#include "train/toy.h"

namespace pushdown::stages_test {
namespace {

using namespace testing_support;

const Json kSuperposition{{"kind", "superposition"}, {"size", 2}};

// w # reverse(w) for every w of `half` letters, so all strings fit into one batch.
DatasetPtr all_reversals(int half) {
  std::vector<Word> words;
  for (int code = 0; code < 1 << half; ++code) {
    Word word;
    for (int k = 0; k < half; ++k) word.push_back(code >> k & 1);
    word.push_back(2);
    for (int k = half; k-- > 0;) word.push_back(word[k]);
    words.push_back(word);
  }
  const std::vector<double> logs(words.size(), -half * std::log(2.0));
  return std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words, logs);
}

const Json kOptions{
    {"batch", 64}, {"epochs", 30}, {"seed", 4}, {"optimizer", {{"learning_rate", 0.02}}}};

Json with_stages(const Json& stages, const Json& more = Json::object()) {
  Json options = kOptions;
  options["stages"] = stages;
  options.update(more);
  return options;
}

// A language model on reversals of these half lengths, a stage for each.
std::unique_ptr<Trainer> strings_in_stages(const std::vector<int>& halves, const Json& stages,
                                           const Json& more = Json::object()) {
  const auto model = small_model(kSuperposition);
  std::vector<ProblemPtr> problems;
  for (const int half : halves)
    problems.push_back(language_modelling(model, all_reversals(half), all_reversals(half)));
  return std::make_unique<Trainer>(staged(std::move(problems)), with_stages(stages, more));
}

std::vector<std::int64_t> stages_of(const Trainer& trainer) {
  std::vector<std::int64_t> stages;
  for (const auto& epoch : trainer.history()) stages.push_back(epoch.stage.value());
  return stages;
}

// One batch an epoch leaves nothing to the order, so each stage can be repeated by a plain trainer
// that is given the weights and the optimizer's state.
TEST(Stages, EachStageIsAPlainTrainingThatTakesOverWeightsAndOptimizer) {
  auto trainer =
      strings_in_stages({2, 3}, {{{"epochs", 4}}, {{"epochs", 3}, {"learning_rate", 0.005}}});
  const auto model = small_model(kSuperposition);
  Trainer first(model, all_reversals(2), all_reversals(2), kOptions);
  for (int k = 0; k < 4; ++k) first.run_epoch();
  Trainer second(model, all_reversals(3), all_reversals(3), kOptions);
  second.optimizer().set_state(first.optimizer().state());
  second.optimizer().set_learning_rate(0.005);
  for (int k = 0; k < 3; ++k) second.run_epoch();
  run_to_end(*trainer);
  EXPECT_EQ(trainer->finished(), "the curriculum is done");
  EXPECT_EQ(stages_of(*trainer), (std::vector<std::int64_t>{1, 1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(trainer->optimizer().steps(), 7);
  EXPECT_TRUE(same(weights(*trainer->model()), weights(*model)));
  for (std::size_t k = 0; k < 7; ++k) {
    const auto& plain = k < 4 ? first.history()[k] : second.history()[k - 4];
    const auto& own = trainer->history()[k];
    EXPECT_EQ(own.train_cross_entropy, plain.train_cross_entropy) << k;
    EXPECT_EQ(own.cross_entropy_difference, plain.cross_entropy_difference) << k;
    EXPECT_EQ(own.learning_rate, plain.learning_rate) << k;
    EXPECT_EQ(own.improved, plain.improved) << k;
    EXPECT_EQ(own.epochs_since_improvement, plain.epochs_since_improvement) << k;
  }
}

TEST(Stages, AStageEndsWhenItsValidationStringsReachTheDifference) {
  auto plain = strings_in_stages({1}, Json::array({Json::object()}), {{"stop_patience", 0}});
  for (int k = 0; k < 8; ++k) plain->run_epoch();
  // The differences fall, so the fifth is the first that is small enough.
  const double aim = *plain->history()[4].cross_entropy_difference;
  ASSERT_GT(*plain->history()[3].cross_entropy_difference, aim);
  auto trainer = strings_in_stages({1, 2}, {{{"difference", aim}}, {{"epochs", 2}}});
  run_to_end(*trainer);
  EXPECT_EQ(stages_of(*trainer), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 2, 2}));
  auto only = strings_in_stages({1}, {{{"difference", aim}}});
  run_to_end(*only);
  EXPECT_EQ(only->epochs_done(), 5);
  EXPECT_EQ(only->finished(), "the last stage has reached its end");
}

TEST(Stages, EarlyStoppingEndsOneStage) {
  // With a rate of 0 nothing improves after the first epoch.
  auto trainer = strings_in_stages({1, 2}, {{{"learning_rate", 0}}, {{"learning_rate", 0.02}}},
                                   {{"stop_patience", 3}, {"epochs", 8}});
  run_to_end(*trainer);
  EXPECT_EQ(stages_of(*trainer), (std::vector<std::int64_t>{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(trainer->history()[3].best_epoch, 1);
  EXPECT_EQ(trainer->history()[4].best_epoch, 5) << "other validation strings";
}

TEST(Stages, ARateThatHasFallenStaysUnlessTheNextStageSetsIt) {
  auto trainer = strings_in_stages(
      {1, 2, 2}, {{{"epochs", 3}}, {{"epochs", 1}}, {{"epochs", 1}, {"learning_rate", 0.5}}},
      {{"decay_patience", 1}, {"decay_factor", 0.5}, {"minimum_improvement", 1e9}});
  run_to_end(*trainer);
  std::vector<double> rates;
  for (const auto& epoch : trainer->history()) rates.push_back(epoch.learning_rate);
  EXPECT_EQ(rates, (std::vector<double>{0.02, 0.02, 0.01, 0.005, 0.5}));
}

TEST(Stages, TheUpdatesOfAnAnnealingAreThoseOfAllStages) {
  // Eight strings of one length in batches of 4; four strings.
  auto trainer = strings_in_stages({3, 2}, {{{"epochs", 5}}, {{"epochs", 7}}},
                                   {{"batch", 4}, {"annealing", {{"kind", "cosine"}}}});
  EXPECT_EQ(trainer->options()["annealing"]["updates"], 5 * 2 + 7 * 1);
}

RecognizerPtr small_recognizer() {
  return std::make_shared<Recognizer>(Alphabet({"a", "b"}),
                                      Json{{"controller", {{"kind", "elman"}, {"hidden", 6}}},
                                           {"stack", kSuperposition},
                                           {"seed", 5}});
}

std::unique_ptr<Trainer> recognizer_in_stages(const Json& stages) {
  const auto model = small_recognizer();
  const auto data = counted_strings();
  return std::make_unique<Trainer>(
      staged({recognition(model, data, data), recognition(model, data, data)}),
      with_stages(stages, {{"batch", 4}, {"stop_accuracy", 0}, {"stop_patience", 0}}));
}

TEST(Stages, ARecognizersStageEndsAtAnAccuracy) {
  auto plain = recognizer_in_stages({{{"epochs", 6}}, {{"epochs", 1}}});
  run_to_end(*plain);
  const double reached = *plain->history()[0].accuracy;
  auto trainer = recognizer_in_stages({{{"accuracy", reached}}, {{"epochs", 2}}});
  run_to_end(*trainer);
  EXPECT_EQ(stages_of(*trainer), (std::vector<std::int64_t>{1, 2, 2}));
}

TEST(Stages, ARunFolderHoldsTheDataOfEveryStageAndIsReplacedAsAWhole) {
  const Scratch scratch;
  const Path folder = scratch / "run";
  const auto exists = [&](const char* name) { return std::filesystem::exists(folder / name); };
  strings_in_stages({1, 2, 3}, {{{"epochs", 1}}, {{"epochs", 1}}, {{"epochs", 1}}})->save(folder);
  for (const char* name : {"data/train-1.txt", "data/valid-1.txt", "data/train-2.txt",
                           "data/valid-2.txt", "data/train.txt", "data/valid.txt"})
    EXPECT_TRUE(exists(name)) << name;
  const Json data = parse_json(read_file(folder / "config.json")).at("data");
  EXPECT_EQ(data["earlier_stages"].size(), 2u);
  EXPECT_EQ(data["earlier_stages"][0]["train"]["longest"], 3);
  EXPECT_EQ(data["train"]["longest"], 7);
  // One stage is a training in stages, too.
  strings_in_stages({2}, {{{"epochs", 2}}})->save(folder, true);
  EXPECT_FALSE(exists("data/train-1.txt"));
  EXPECT_FALSE(exists("data/valid-2.txt"));
  auto again = resume_trainer(folder);
  run_to_end(*again);
  EXPECT_EQ(again->epochs_done(), 2);
}

TEST(Stages, ADamagedCheckpointLeavesTheCurrentStage) {
  auto early = strings_in_stages({2, 3}, {{{"epochs", 2}}, {{"epochs", 2}}});
  auto late = strings_in_stages({2, 3}, {{{"epochs", 2}}, {{"epochs", 2}}});
  for (int k = 0; k < 3; ++k) late->run_epoch();
  TensorFile damaged = late->state();
  damaged.tensors.front().second = at::zeros({7});
  EXPECT_THROW(early->restore(damaged, "damaged"), std::runtime_error);
  EXPECT_EQ(early->stage(), 1);
  run_to_end(*early);
  run_to_end(*late);
  EXPECT_EQ(timeless(early->history()), timeless(late->history()));
}

TEST(Stages, WrongStagesAreRefused) {
  const auto why = [](const Json& stages) {
    return message<std::invalid_argument>([&] { strings_in_stages({1, 2}, stages); });
  };
  EXPECT_EQ(why(Json::array({Json::object()})),
            "[train.trainer] stages must have the options of 2 stages, got 1");
  EXPECT_CONTAINS(why({{{"epoch", 1}}, Json::object()}), "[train.trainer stages[1]]");
  EXPECT_EQ(why({{{"accuracy", 1}}, Json::object()}),
            "[train.trainer stages[1]] accuracy needs a recognizer with validation strings, or a "
            "transducer with test pairs");
  const auto model = small_model();
  EXPECT_EQ(message<std::invalid_argument>([&] {
              Trainer(staged({language_modelling(model, all_reversals(1), nullptr)}),
                      with_stages({{{"difference", 0.1}}}));
            }),
            "[train.trainer stages[1]] difference needs validation strings whose lower bound is "
            "known");
  EXPECT_EQ(message<std::invalid_argument>([&] {
              Trainer(staged({recognition(small_recognizer(), counted_strings(), nullptr)}),
                      with_stages(Json::array({Json::object()}),
                                  {{"curriculum", {{"kind", "two_stage"}, {"threshold", 2}}}}));
            }),
            "[train.trainer] stages and a curriculum cannot be combined: leave out one of them");
  EXPECT_EQ(message<std::invalid_argument>([] { staged({}); }),
            "[train.trainer] stages must be a list of stages, got an empty list");
}

}  // namespace
}  // namespace pushdown::stages_test
