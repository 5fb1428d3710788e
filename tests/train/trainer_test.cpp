#include "train/trainer.h"

#include <gtest/gtest.h>

#include "support/golden.h"
#include "train/learning/gradient.h"
#include "train/toy.h"

namespace pushdown::trainer_test {
namespace {

using namespace testing_support;

const Json kFast{{"batch", 8}, {"epochs", 4}, {"optimizer", {{"learning_rate", 0.01}}}};

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

Trainer make_trainer(const Json& options = kFast, const Json& stack = Json{{"kind", "none"}}) {
  return Trainer(small_model(stack), reversal_strings(60, 1), reversal_strings(20, 2), options);
}

// Losses, gradient norms and weights of the published code, five updates with clipping at 0.5.
TEST(Trainer, FollowsTheGoldenLossCurve) {
  const Json golden = load_golden("model_ns_Q2_S2");
  auto model = std::make_shared<LanguageModel>(
      Alphabet({"0", "1", "#"}),
      Json{{"controller", {{"kind", "lstm"}, {"hidden", golden["hidden"]}}},
           {"stack",
            {{"kind", "nondeterministic"}, {"states", golden["Q"]}, {"symbols", golden["S"]}}},
           {"end_symbol", false},
           {"dtype", "float64"}});
  const std::vector<std::string> names{"rnn.controller.rnn.weight_ih_l0",
                                       "rnn.controller.rnn.weight_hh_l0",
                                       "rnn.controller.rnn.bias_ih_l0",
                                       "rnn.controller.rnn.bias_hh_l0",
                                       "rnn.operation_layer.weight",
                                       "rnn.operation_layer.bias",
                                       "layer.linear.weight",
                                       "layer.linear.bias"};
  ASSERT_EQ(model->parameters().size(), names.size());
  {
    at::NoGradGuard guard;
    for (std::size_t i = 0; i < names.size(); ++i)
      model->parameters()[i].second.copy_(golden_tensor(golden["parameters"][names[i]]));
  }
  std::vector<Word> words;
  for (const auto& word : golden["ids"]) words.push_back(word.get<Word>());
  const auto length = static_cast<double>(words[0].size());
  Trainer trainer(model, std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words), nullptr,
                  Json{{"clip_norm", 0.5}, {"optimizer", {{"learning_rate", 0.01}}}});
  ASSERT_EQ(trainer.updates_per_epoch(), 1);
  for (int update = 0; update < 5; ++update) {
    const auto metrics = trainer.step();
    ASSERT_TRUE(metrics);
    EXPECT_NEAR(metrics->loss * length, golden["losses"][update].get<double>(), 1e-9);
    EXPECT_NEAR(metrics->gradient_norm, golden["grad_norms_before_clip"][update].get<double>(),
                1e-9);
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_LT(deviation(model->parameters()[i].second,
                        golden_tensor(golden["parameters_after_5_updates"][names[i]])),
              1e-9)
        << names[i];
}

// One update, compared with the same update written with tensor operations.
TEST(Trainer, OneUpdateIsGradientDescentOnTheMeanOverTheBatch) {
  const auto data = reversal_strings(5, 4, 1);  // all of length 3
  for (const double clip : {0.0, 0.05}) {
    auto model = small_model({{"kind", "none"}}, "float64"),
         twin = small_model({{"kind", "none"}}, "float64");
    Trainer trainer(model, data, nullptr,
                    Json{{"clip_norm", clip},
                         {"clip_value", 0.02},
                         {"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.5}}}});
    const auto metrics = trainer.step();
    Tensor words = at::empty({5, 3}, at::kLong);
    for (int b = 0; b < 5; ++b)
      for (int t = 0; t < 3; ++t) words[b][t] = data->words()[b][t];
    const Tensor loss = -twin->log_probabilities(words).sum() / 5;
    loss.backward();
    double squares = 0;
    for (const auto& [name, p] : twin->parameters())
      if (p.grad().defined()) squares += p.grad().square().sum().item<double>();
    EXPECT_NEAR(metrics->loss, loss.item<double>() / 3, 1e-12);
    EXPECT_NEAR(metrics->gradient_norm, std::sqrt(squares), 1e-12);
    EXPECT_EQ(metrics->learning_rate, 0.5);
    const double scale = clip > 0 ? clip / (std::sqrt(squares) + 1e-6) : 1;
    at::NoGradGuard guard;
    for (std::size_t i = 0; i < twin->parameters().size(); ++i) {
      const Tensor& p = twin->parameters()[i].second;
      if (p.grad().defined()) p.sub_((p.grad() * scale).clamp(-0.02, 0.02), 0.5);
      EXPECT_LT(deviation(model->parameters()[i].second, p), 1e-14);
    }
  }
}

// One update of several batches has the gradient of one batch with all their strings.
TEST(Trainer, AccumulatedBatchesAreOneBatch) {
  std::vector<Word> words;
  for (int i = 0; i < 14; ++i) words.push_back({i % 2, (i / 2) % 2, 2, (i / 4) % 2});
  const auto data = std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words);
  const Json stack{{"kind", "superposition"}, {"size", 3}};
  const auto train = [&](int batch, int accumulate) {
    auto model = small_model(stack, "float64");
    Trainer trainer(model, data, nullptr,
                    Json{{"batch", batch},
                         {"accumulate", accumulate},
                         {"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.1}}},
                         {"epochs", 3},
                         {"seed", 1}});
    EXPECT_EQ(trainer.updates_per_epoch(),
              (14 / batch + (14 % batch > 0) + accumulate - 1) / accumulate);
    const EpochMetrics epoch = *trainer.run_epoch();
    EXPECT_EQ(epoch.updates, trainer.updates_per_epoch());
    return std::pair(weights(*model), epoch.train_cross_entropy);
  };
  const auto [whole, loss] = train(14, 1);
  // Batches of 4, 4, 4 and 2 strings.
  const auto [parts, loss_of_parts] = train(4, 4);
  EXPECT_NEAR(loss, loss_of_parts, 1e-14);
  for (std::size_t i = 0; i < whole.size(); ++i)
    EXPECT_TRUE(at::allclose(whole[i], parts[i], 1e-12, 1e-14)) << i;
  train(4, 3);
}

TEST(Trainer, EndsAfterItsSecondsAndCanBeResumed) {
  const Scratch scratch;
  const auto data = reversal_strings(200, 1);
  const auto options = [&](const Json& limit, const char* folder) {
    return Json{{"epochs", 3},
                {"seed", 2},
                {"batch", 5},
                {"run_folder", (scratch / folder).string()},
                {"max_seconds", limit}};
  };
  Trainer whole(small_model(), data, nullptr, options(Json(), "whole"));
  while (whole.finished().empty()) whole.run_epoch();
  {
    Trainer limited(small_model(), data, nullptr, options(1e-9, "limited"));
    EXPECT_TRUE(limited.finished().empty());
    EXPECT_FALSE(limited.run_epoch().has_value());
    EXPECT_EQ(limited.finished(), "the time limit of 1e-09 s is reached");
    EXPECT_EQ(limited.updates_done(), 0);
  }
  const auto resumed = resume_trainer(scratch / "limited", Json{{"max_seconds", 1e6}});
  while (resumed->finished().empty()) resumed->run_epoch();
  EXPECT_TRUE(same(weights(*whole.model()), weights(*resumed->model())));
}

TEST(Trainer, EpochReportsFollowTheDefinitions) {
  auto trainer = make_trainer();
  double loss = 0, symbols = 0;
  for (std::int64_t i = 0; i < trainer.updates_per_epoch(); ++i) {
    const auto metrics = trainer.step();
    EXPECT_EQ(metrics->epoch, 1);
    EXPECT_EQ(metrics->update, i + 1);
    EXPECT_GT(metrics->gradient_norm, 0);
  }
  ASSERT_EQ(trainer.epochs_done(), 1);  // the last update ended it
  const auto* epoch = &trainer.history()[0];
  EXPECT_EQ(epoch->updates, trainer.updates_per_epoch());
  const auto strings = reversal_strings(20, 2);
  const auto& valid = *strings;
  at::NoGradGuard guard;
  for (const auto& word : valid.words()) {
    const Tensor one =
        at::tensor(std::vector<std::int64_t>(word.begin(), word.end()), at::kLong).unsqueeze(0);
    loss -=
        dynamic_cast<const LanguageModel&>(*trainer.model()).log_probabilities(one).item<double>();
    symbols += static_cast<double>(word.size());
  }
  EXPECT_NEAR(*epoch->cross_entropy, loss / symbols, 1e-6);
  EXPECT_NEAR(*epoch->lower_bound, valid.lower_bound(), 1e-12);
  EXPECT_NEAR(*epoch->cross_entropy_difference, loss / symbols - valid.lower_bound(), 1e-6);
  EXPECT_TRUE(epoch->improved);
  EXPECT_EQ(epoch->best_epoch, 1);
  EXPECT_EQ(epoch->best_cross_entropy, *epoch->cross_entropy);
  EXPECT_EQ(epoch->learning_rate, 0.01);
  EXPECT_GT(epoch->updates_per_second, 0);
}

TEST(Trainer, LearnsMarkedReversal) {
  const auto train = reversal_strings(400, 1, 4), valid = reversal_strings(100, 2, 4);
  for (const Json& stack : {Json{{"kind", "none"}}, Json{{"kind", "superposition"}, {"size", 2}}}) {
    Trainer trainer(small_model(stack), train, valid,
                    Json{{"epochs", 12}, {"optimizer", {{"learning_rate", 0.02}}}});
    const double first = *trainer.run_epoch()->cross_entropy_difference;
    while (trainer.finished().empty()) trainer.run_epoch();
    const double last = *trainer.history().back().cross_entropy_difference;
    EXPECT_LT(last, 0.15);
    EXPECT_LT(last, first / 2);
    EXPECT_GT(last, 0);  // a model beats the source only by chance
  }
}

TEST(Trainer, AnotherSeedGivesOtherNumbers) {
  auto one = make_trainer(), other = make_trainer(with(kFast, {{"seed", 1}}));
  one.run_epoch();
  other.run_epoch();
  EXPECT_FALSE(same(weights(*other.model()), weights(*one.model())));
}

TEST(Trainer, StopsEarlyAndDecays) {
  // At learning rate 0 there is no improvement after the first epoch.
  auto trainer =
      make_trainer(with(kFast, {{"epochs", 50}, {"optimizer", {{"learning_rate", 0.0}}}}));
  while (trainer.finished().empty()) trainer.run_epoch();
  EXPECT_EQ(trainer.epochs_done(), 11);
  EXPECT_CONTAINS(trainer.finished(), "no improvement for 10 epochs");
  EXPECT_EQ(trainer.history().back().best_epoch, 1);
  auto decaying = make_trainer(with(kFast, {{"minimum_improvement", 100.0}}));
  std::vector<double> rates;
  for (int i = 0; i < 8; ++i) rates.push_back(decaying.run_epoch()->learning_rate);
  EXPECT_DOUBLE_EQ(rates[5], 0.01);
  EXPECT_DOUBLE_EQ(rates[6], 0.009);
  EXPECT_DOUBLE_EQ(decaying.learning_rate(), 0.009);
}

TEST(Trainer, WithoutValidationTheTrainingLossCounts) {
  Trainer trainer(small_model(), reversal_strings(60, 1), nullptr, kFast);
  const auto epoch = trainer.run_epoch();
  EXPECT_FALSE(epoch->cross_entropy);
  EXPECT_FALSE(epoch->lower_bound);
  EXPECT_EQ(epoch->best_cross_entropy, epoch->train_cross_entropy);
  EXPECT_FALSE(to_json(*epoch).contains("cross_entropy"));
}

TEST(Trainer, ProgressCountsEveryBatchOnce) {
  auto trainer = make_trainer();
  std::vector<Progress> reports;
  trainer.callbacks.progress = [&](const Progress& progress) { reports.push_back(progress); };
  trainer.run_epoch();
  std::int64_t training = 0, validating = 0;
  for (const auto& report : reports) {
    EXPECT_EQ(report.done, ++(report.validating ? validating : training));
    EXPECT_EQ(report.epoch, 1);
    EXPECT_EQ(report.epochs, 4);
  }
  EXPECT_EQ(training, trainer.updates_per_epoch());
  EXPECT_EQ(training, reports.front().total);
  EXPECT_EQ(validating, reports.back().total);
}

TEST(Trainer, DivergenceIsAnErrorThatHelps) {
  auto trainer = make_trainer(with(kFast, {{"optimizer", {{"learning_rate", 1e38}}}}));
  const auto told = message<std::runtime_error>([&] {
    for (int i = 0; i < 100; ++i) trainer.step();
  });
  for (const char* part : {"epoch 1", "update ", "1e+38", "smaller learning_rate"})
    EXPECT_CONTAINS(told, part);
  // The trainer stays at the failed update.
  EXPECT_EQ(message<std::runtime_error>([&] { trainer.step(); }), told);
  EXPECT_CONTAINS(message<std::runtime_error>([&] { trainer.run_epoch(); }), "diverged");
}

TEST(Trainer, EndSymbolAndEmptyStrings) {
  const Alphabet alphabet({"0", "1", "#"});
  const auto mixed = std::make_shared<Dataset>(alphabet, std::vector<Word>{{}, {0, 1}, {}, {2}});
  Trainer plain(small_model(), mixed, mixed, kFast);
  EXPECT_EQ(plain.updates_per_epoch(), 2);  // empty strings teach nothing
  EXPECT_TRUE(std::isfinite(*plain.run_epoch()->cross_entropy));
  Trainer ending(small_model({{"kind", "none"}}, "float32", true), mixed, mixed, kFast);
  EXPECT_EQ(ending.updates_per_epoch(), 3);
  const auto epoch = ending.run_epoch();
  EXPECT_TRUE(std::isfinite(*epoch->cross_entropy));
  EXPECT_TRUE(std::isfinite(epoch->train_cross_entropy));
  const auto empty = std::make_shared<Dataset>(alphabet, std::vector<Word>{{}, {}});
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { Trainer(small_model(), empty, nullptr, kFast); }),
      "empty strings");
}

TEST(Trainer, RefusesModelsAndDataThatDoNotFit) {
  const auto data = reversal_strings(10, 1);
  const auto refuse = [&](const Json& options, const char* part) {
    EXPECT_CONTAINS(
        message<std::invalid_argument>([&] { Trainer(small_model(), data, nullptr, options); }),
        part);
  };
  refuse({{"bach", 3}}, "did you mean 'batch'?");
  refuse({{"batch", 0}}, "at least 1");
  refuse({{"batch", "many"}}, "must be an integer");
  refuse({{"optimizer", 3}}, "'optimizer' must be a table");
  refuse({{"optimizer", {{"kind", "adagrat"}}}}, "unknown kind 'adagrat'");
  refuse({{"clip_norm", -1}}, "at least 0");
  refuse({{"decay_factor", 2}}, "between");
  const auto other = std::make_shared<Dataset>(Alphabet({"a", "b"}), std::vector<Word>{{0, 1}});
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { Trainer(small_model(), other, nullptr, {}); }),
      "the data and the model have different symbols: 'a' and 'b'; '0', '1' and '#'");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { Trainer(small_model(), data, other, {}); }),
                  "different symbols");
  EXPECT_CONTAINS(
      message<std::invalid_argument>([&] { Trainer(small_model(), nullptr, nullptr, {}); }),
      "no training set");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] { Trainer(nullptr, data, nullptr, {}); }),
                  "no model");
}

TEST(Evaluation, BinsAddUpToTheWhole) {
  const auto data = reversal_strings(200, 7, 12);
  const auto model = small_model();
  const auto result = evaluate(*model, *data, {16, 5});
  ASSERT_TRUE(result);
  double nats = 0, bound = 0;
  std::int64_t strings = 0, symbols = 0, last = -1;
  for (const auto& bin : result->bins) {
    EXPECT_GT(bin.shortest, last);
    EXPECT_EQ(bin.longest, bin.shortest + 4);
    EXPECT_EQ(bin.shortest % 5, 0);
    last = bin.longest;
    strings += bin.strings;
    symbols += bin.symbols;
    nats += bin.cross_entropy * static_cast<double>(bin.symbols);
    bound += *bin.lower_bound * static_cast<double>(bin.symbols);
    EXPECT_NEAR(*bin.difference, bin.cross_entropy - *bin.lower_bound, 1e-12);
  }
  EXPECT_EQ(strings, 200);
  EXPECT_EQ(symbols, data->symbol_count());
  EXPECT_NEAR(nats / static_cast<double>(symbols), result->all.cross_entropy, 1e-12);
  EXPECT_NEAR(bound / static_cast<double>(symbols), *result->all.lower_bound, 1e-12);
  EXPECT_EQ(result->all.shortest, 3);
  EXPECT_EQ(result->all.longest, 25);
  // The batch size only changes the last digits.
  EXPECT_NEAR(evaluate(*model, *data, {1, 5})->all.cross_entropy, result->all.cross_entropy, 1e-7);
}

TEST(Evaluation, BoundIsAbsentIfTheSourceIsUnknownOrImpossible) {
  const auto model = small_model();
  const Alphabet alphabet({"0", "1", "#"});
  EXPECT_FALSE(evaluate(*model, Dataset(alphabet, {{0, 1}}), {})->all.lower_bound);
  const Dataset impossible(alphabet, std::vector<Word>{{0, 1}}, std::vector<double>{-INFINITY});
  EXPECT_FALSE(evaluate(*model, impossible, {})->all.lower_bound);
  EXPECT_THROW(evaluate(*model, impossible, {0, 5}), std::invalid_argument);
  EXPECT_THROW(evaluate(*model, impossible, {5, 0}), std::invalid_argument);
}

TEST(BatchOrder, EveryEpochHoldsAllAndResumesExactly) {
  BatchOrder whole(20, Random(1)), split(20, Random(1));
  std::vector<std::int64_t> first, second;
  for (int epoch = 0; epoch < 2; ++epoch, whole.next_epoch()) {
    for (; !whole.at_end(); whole.advance())
      (epoch == 0 ? first : second).push_back(whole.ahead(0));
  }
  EXPECT_NE(first, second);
  std::sort(second.begin(), second.end());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(second[i], i);
  for (int i = 0; i < 7; ++i) split.advance();
  BatchOrder restored(20, Random(99));
  restored.restore(split.generator(), split.position());
  for (std::size_t i = 7; i < 20; ++i, restored.advance()) EXPECT_EQ(restored.ahead(0), first[i]);
  EXPECT_TRUE(restored.at_end());
  EXPECT_THROW(restored.restore(split.generator(), 21), std::invalid_argument);
  EXPECT_THROW(restored.restore("xyz", 1), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::trainer_test
