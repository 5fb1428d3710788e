// Training of recognizers: curricula, accuracy, frozen numbers, files, continuation.
#include "train/problems/recognition.h"

#include <gtest/gtest.h>

#include <numeric>

#include "model/rule_insertion.h"
#include "pda/notation.h"
#include "task/dataset.h"
#include "train/evaluation/accuracy.h"
#include "train/toy.h"

namespace pushdown::testing_support::recognition_test {
namespace {

// Strings over a and b of length 1 to `longest`. Valid: as many a as b, all a first.
LabelledDatasetPtr counted_strings(int count, std::uint64_t seed, int longest = 6) {
  Random random(seed, "counted strings");
  std::vector<Word> words;
  std::vector<bool> labels;
  for (int i = 0; i < count; ++i) {
    Word word;
    if (i % 2 == 0) {
      const auto half = 1 + random.below(static_cast<std::uint64_t>(longest) / 2);
      word.assign(half, 0);
      word.insert(word.end(), half, 1);
    } else {
      const auto length = 1 + random.below(static_cast<std::uint64_t>(longest));
      for (std::uint64_t k = 0; k < length; ++k) word.push_back(static_cast<int>(random.below(2)));
    }
    const auto half = word.size() / 2;
    bool valid = word.size() % 2 == 0;
    for (std::size_t k = 0; k < word.size(); ++k) valid = valid && word[k] == (k < half ? 0 : 1);
    words.push_back(word);
    labels.push_back(valid);
  }
  return std::make_shared<LabelledDataset>(Alphabet({"a", "b"}), words, labels);
}

RecognizerPtr small_recognizer(const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "elman"}, {"hidden", 6}}},
               {"stack", {{"kind", "superposition"}, {"size", 2}}},
               {"seed", 5}};
  options.update(more);
  return std::make_shared<Recognizer>(Alphabet({"a", "b"}), options);
}

const Json kFast{{"epochs", 3},        {"batch", 4},
                 {"seed", 1},          {"stop_patience", 0},
                 {"stop_accuracy", 0}, {"optimizer", {{"kind", "adam"}, {"learning_rate", 0.02}}}};

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

std::unique_ptr<Trainer> make_trainer(const Json& options,
                                      const RecognizerPtr& model = small_recognizer()) {
  return std::make_unique<Trainer>(
      recognition(model, counted_strings(60, 1), counted_strings(20, 2)), options);
}

TEST(Recognition, AccuracyCountsTheAnswersOfTheModel) {
  const auto model = small_recognizer();
  const auto data = counted_strings(50, 3);
  const auto result = evaluate(*model, *data, {.batch = 7, .bin_width = 3});
  std::int64_t missed = 0, false_positives = 0;
  std::vector<std::int64_t> wrong;
  at::NoGradGuard guard;
  for (std::int64_t i = 0; i < data->size(); ++i) {
    const bool said =
        model->decisions(word_tensor(data->words(), {i})).item<double>() > model->threshold();
    const bool label = data->labels()[i];
    missed += label && !said;
    false_positives += said && !label;
    if (said != label) wrong.push_back(i);
  }
  EXPECT_EQ(result->all.missed, missed);
  EXPECT_EQ(result->all.false_positives, false_positives);
  EXPECT_EQ(result->wrong, wrong);
  EXPECT_EQ(result->all.positives, data->positives());
  std::int64_t strings = 0;
  for (const auto& bin : result->bins) {
    EXPECT_EQ(bin.shortest % 3, 0);
    strings += bin.strings;
  }
  EXPECT_EQ(strings, 50);
}

TEST(Recognition, TheDecisionIsTheScoreAfterTheEndSymbol) {
  for (const int passes : {1, 3}) {
    const auto model = small_recognizer({{"passes", 2}, {"evaluation_passes", passes}});
    const Tensor words = at::tensor(std::vector<std::int64_t>{0, 0, 1, 1, 0, 1}).view({2, 3});
    const auto said = model->run(words);
    EXPECT_EQ(said.scores.size(1), 4 * passes + 1);
    EXPECT_TRUE(
        at::allclose(said.scores.select(1, 4 * passes).to(at::kDouble), model->decisions(words)));
    const auto plain = small_recognizer({{"end_symbol", false}});
    EXPECT_EQ(plain->run(words).scores.size(1), 4);
  }
}

TEST(Recognition, PassesAreThoseOfTrainingOrOfEvaluation) {
  const Tensor words = at::tensor(std::vector<std::int64_t>{0, 0, 1, 1, 0, 1}).view({2, 3});
  for (const Json& network : std::vector<Json>{
           {{"controller", {{"kind", "gru"}, {"hidden", 4}}},
            {"stack", {{"kind", "superposition"}, {"size", 2}}}},
           {{"architecture", "nspda"}, {"states", 3}, {"discrete", "never"}},
           {{"architecture", "nnpda"}, {"states", 3}},
           {{"architecture", "transformer"}, {"hidden", 4}, {"heads", 2}, {"feedforward", 4}}}) {
    const auto made = [&](const Json& more = Json::object()) {
      Json options = network;
      options.update({{"dtype", "float64"}, {"seed", 4}});
      options.update(more);
      return Recognizer(Alphabet({"a", "b"}), options);
    };
    const auto equal = [&](const Tensor& a, const Tensor& b) {
      return a.sizes() == b.sizes() && (a - b).abs().max().item<double>() < 1e-12;
    };
    const Recognizer one = made(), three = made({{"passes", 3}}),
                     moving = made({{"passes", 3}, {"memory_in_passes", "moves"}}),
                     evaluated = made({{"evaluation_passes", 3}});
    Random random(1);
    at::NoGradGuard guard;
    // In evaluation K is 1 by default, for any K in training.
    EXPECT_TRUE(equal(three.run(words).scores, one.run(words).scores)) << network;
    EXPECT_TRUE(equal(three.decisions(words), one.decisions(words))) << network;
    EXPECT_TRUE(equal(evaluated.run(words).scores, three.run(words, &random).scores)) << network;
    EXPECT_TRUE(equal(one.run(words, &random).scores, one.run(words).scores)) << network;
    // A memory that moves equals that of a string with every symbol three times.
    const Tensor repeated = repeated_words(one.input(words), 3);
    EXPECT_TRUE(equal(moving.run(words, &random).hiddens, one.network().run({repeated}).hiddens))
        << network;
    const auto pieces = [&](const Recognizer& model) {
      const Tensor read = model.input(words);
      auto state = model.network().initial(2, 4);
      std::vector<Tensor> all;
      for (std::int64_t t = 0; t < 4; ++t) {
        const Passes made = model.advance(read.narrow(1, t, 1), state, &random);
        all.push_back(made.hiddens);
        state = made.state;
      }
      return at::cat(all, 1);
    };
    for (const Recognizer* model : {&one, &three, &moving}) {
      const Tensor whole = model->run(words, &random).hiddens;
      EXPECT_TRUE(equal(pieces(*model), whole.narrow(1, 1, whole.size(1) - 1))) << network;
    }
    if (network.value("architecture", "") == "transformer") continue;
    // With carry = 'first' the first passes are those of a network with K = 1.
    const Recognizer first = made({{"passes", 3}, {"carry", "first"}});
    const Tensor all = first.run(words, &random).hiddens;
    EXPECT_TRUE(equal(all.slice(1, 1, {}, 3), one.run(words).hiddens.narrow(1, 1, 4))) << network;
  }
  EXPECT_THROW(small_recognizer({{"carry", "first"}, {"memory_in_passes", "moves"}}),
               std::invalid_argument);
}

TEST(Recognition, OldRunFoldersHaveThePassesOfTheirTime) {
  const auto loaded = [](Json options, bool old) {
    Json description = describe_model(*std::make_shared<Recognizer>(Alphabet({"a", "b"}), options));
    if (old) {
      description["options"].erase("evaluation_passes");
      description["options"].erase("memory_in_passes");
    }
    return model_from_description(description, "", registered_kinds());
  };
  const Json recurrent{{"passes", 4}};
  const auto old = loaded(recurrent, true);
  EXPECT_EQ(old->options()["evaluation_passes"], 4);
  EXPECT_EQ(old->options()["memory_in_passes"], "moves");
  const auto nspda = loaded({{"architecture", "nspda"}, {"passes", 4}, {"carry", "first"}}, true);
  EXPECT_EQ(nspda->options()["evaluation_passes"], 4);
  EXPECT_EQ(nspda->options()["memory_in_passes"], "rests");
  EXPECT_EQ(nspda->options()["carry"], "first");
  EXPECT_EQ(loaded(recurrent, false)->options()["evaluation_passes"], 1);
}

TEST(Recognition, OldRunFoldersCallKernelsFused) {
  Json description = describe_model(*std::make_shared<Recognizer>(Alphabet({"a"}), Json::object()));
  description["options"].erase("kernels");
  description["options"]["fused"] = false;
  EXPECT_EQ(model_from_description(description, "", registered_kinds())->options()["kernels"],
            false);
}

TEST(Recognition, ALaterStageCanKeepTheAnnealedRate) {
  for (const bool reached : {false, true}) {
    const Json annealing{{"kind", "exponential"},
                         {"decay", 0.5},
                         {"last_stage", 1},
                         {"afterwards", reached ? "reached" : "full"}};
    Json options = with(kFast, {{"epochs", 20}, {"stop_accuracy", 0}, {"annealing", annealing}});
    options["curriculum"] = {{"kind", "two_stage"}, {"threshold", 4}, {"epochs", {2, 4}}};
    options["optimizer"] = {{"kind", "sgd"}, {"learning_rate", 0.25}};
    options["clip_norm"] = 0;
    const auto model = small_recognizer({{"dtype", "float64"}});
    auto trainer = Trainer(recognition(model, counted_strings(20, 1), nullptr), options);
    const auto parameters = [&] {
      std::vector<Tensor> all;
      for (const auto& [name, tensor] : model->parameters())
        all.push_back(tensor.detach().reshape({-1}));
      return at::cat(all);
    };
    std::int64_t annealed = 0, fixed = 0;
    while (trainer.finished().empty()) {
      // Plain gradient descent moves by the rate times the gradient.
      const Tensor before = parameters();
      const auto update = trainer.step();
      const double moved = (parameters() - before).norm().item<double>();
      const double rate = moved / update->gradient_norm;
      if (trainer.epochs_done() == annealed + fixed) {
        ASSERT_TRUE(trainer.run_epoch());
      }
      const bool first = trainer.history().back().stage == 1;
      const auto wanted = static_cast<double>(first ? annealed : annealed - 1);
      EXPECT_NEAR(rate, first || reached ? 0.25 * std::max(0.01, std::pow(0.5, wanted)) : 0.25,
                  1e-9);
      ++(first ? annealed : fixed);
    }
    EXPECT_GT(annealed, 2);
    EXPECT_GT(fixed, 2);
  }
}

TEST(Recognition, AnOpenLastStageEndsWithTheTrainersEpochs) {
  for (const std::string end : {"epochs", "last_open", "converged"}) {
    Json options = with(kFast, {{"epochs", 30}, {"stop_accuracy", 0}});
    options["curriculum"] = {
        {"kind", "two_stage"}, {"threshold", 4}, {"epochs", {2, 4}}, {"stage_end", end}};
    auto trainer =
        Trainer(recognition(small_recognizer(), counted_strings(20, 1), nullptr), options);
    while (trainer.finished().empty()) ASSERT_TRUE(trainer.run_epoch());
    EXPECT_EQ(trainer.history().back().stage, end == "converged" ? 1 : 2);
    EXPECT_EQ(trainer.epochs_done() == 30, end != "epochs") << trainer.epochs_done();
  }
}

TEST(Recognition, LossIsEquationSeven) {
  const auto model = small_recognizer({{"dtype", "float64"}});
  const auto data = counted_strings(1, 1);
  auto trainer = Trainer(recognition(model, data, nullptr), with(kFast, {{"epochs", 1}}));
  const Tensor scores = model->run(word_tensor(data->words(), {0})).scores[0];
  double loss = 0;
  for (std::int64_t t = 1; t < scores.size(0); ++t)
    loss -= std::log(1 / (1 + std::exp(-scores[t].item<double>())));  // a valid string
  EXPECT_NEAR(trainer.step()->loss, loss, 1e-9);
}

TEST(Recognition, CheckpointsFitWithoutNewerOptionsAndOnlyWithTheirBestEpoch) {
  const Scratch scratch;
  auto first = make_trainer(with(kFast, {{"curriculum", {{"kind", "incremental"}, {"epochs", {2}}}},
                                         {"run_folder", (scratch / "run").string()}}));
  first->run_epoch();
  first.reset();
  const Path path = scratch / "run" / "checkpoints" / "last.safetensors";
  const auto store = [&](const auto& change) {
    TensorFile file = read_safetensors(path);
    Json state = parse_json(file.metadata.at("state"));
    change(state);
    file.metadata["state"] = state.dump();
    write_safetensors(path, file);
  };
  store([](Json& state) {
    state.at("options").at("curriculum").erase("step");
    state.at("options").erase("best_by");
  });
  EXPECT_EQ(resume_trainer(scratch / "run")->epochs_done(), 1);
  const auto told = [&] {
    return message<std::runtime_error>([&] { resume_trainer(scratch / "run"); });
  };
  store([](Json& state) { state.at("options").at("curriculum")["step"] = 2; });
  EXPECT_CONTAINS(told(), "option 'curriculum' is");
  // Their best epoch must be one of the history.
  store([](Json& state) {
    state.at("options").at("curriculum")["step"] = 1;
    state.at("schedule")["since_best"] = 1;
  });
  EXPECT_CONTAINS(told(), "it has 1 epochs, but the best one is 1 epochs before the last");
  store([](Json& state) { state.at("schedule")["since_best"] = -1; });
  EXPECT_CONTAINS(told(), "the best one is -1 epochs before the last");
  store([](Json& state) { state.at("schedule")["since_best"] = 0; });
  EXPECT_EQ(resume_trainer(scratch / "run")->epochs_done(), 1);
}

TEST(Recognition, ACurriculumGoesThroughItsStages) {
  auto trainer = make_trainer(
      with(kFast, {{"epochs", 100},
                   {"curriculum", {{"kind", "two_stage"}, {"threshold", 2}, {"epochs", {2, 3}}}}}));
  while (trainer->finished().empty()) trainer->run_epoch();
  EXPECT_EQ(trainer->finished(), "the curriculum is done");
  // Stage 1: N = 1, 2, then 2 epochs; stage 2: N = 1 .. 6, then 1.
  std::vector<std::int64_t> stages;
  for (const auto& epoch : trainer->history()) stages.push_back(epoch.stage.value());
  EXPECT_EQ(stages, (std::vector<std::int64_t>{1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_LT(trainer->history()[0].updates,
            trainer->history()[10].updates - trainer->history()[9].updates);
}

TEST(Recognition, WithoutValidationTheBestEpochIsOneOfTheLastPhase) {
  auto trainer = Trainer(
      recognition(small_recognizer(), counted_strings(60, 1), nullptr),
      with(kFast, {{"epochs", 100}, {"curriculum", {{"kind", "incremental"}, {"epochs", {3}}}}}));
  while (trainer.finished().empty()) trainer.run_epoch();
  const auto& history = trainer.history();
  ASSERT_EQ(history.size(), 9u);  // N = 1 .. 6, then 3
  const auto best = std::max_element(
      history.begin() + 6, history.end(),
      [](const auto& a, const auto& b) { return *a.train_accuracy < *b.train_accuracy; });
  EXPECT_EQ(history.back().best_epoch, best->epoch);
  EXPECT_EQ(history.back().best_accuracy, *best->train_accuracy);
}

TEST(Recognition, TheBestEpochCanBeThatOfTheLabelsCrossEntropy) {
  const Json options =
      with(kFast,
           {{"epochs", 25}, {"decay_patience", 0}, {"batch_symbols", 12}, {"objective", "final"}});
  auto trainer = make_trainer(with(options, {{"best_by", "label_cross_entropy"}}));
  auto other = make_trainer(options);
  const auto valid = counted_strings(20, 2);
  const auto& recognizer = dynamic_cast<const Recognizer&>(*trainer->model());
  std::size_t best = 0;
  while (trainer->finished().empty()) {
    const auto epoch = trainer->run_epoch();
    other->run_epoch();
    double sum = 0;
    for (std::int64_t i = 0; i < valid->size(); ++i) {
      const double score =
          recognizer.decisions(word_tensor(valid->words(), {i}), Decision::last).item<double>();
      const double p = 1 / (1 + std::exp(-score));
      sum -= std::log(valid->labels()[i] ? p : 1 - p);
    }
    EXPECT_NEAR(*epoch->label_cross_entropy, sum / 20, 1e-6);
    const auto& history = trainer->history();
    if (*history.back().label_cross_entropy < *history[best].label_cross_entropy)
      best = history.size() - 1;
    EXPECT_EQ(history.back().best_epoch, static_cast<std::int64_t>(best) + 1);
    EXPECT_EQ(history.back().best_accuracy, *history[best].accuracy);
    // What is best does not change the training, as long as no learning rate depends on it.
    EXPECT_EQ(*history.back().label_cross_entropy, *other->history().back().label_cross_entropy);
  }
  EXPECT_NE(trainer->history().back().best_epoch, other->history().back().best_epoch);
  std::vector<std::int64_t> all(60);
  std::iota(all.begin(), all.end(), std::int64_t{0});
  EXPECT_EQ(trainer->updates_per_epoch(),
            std::ssize(batches_of_symbols(counted_strings(60, 1)->words(), all, 12)));
  const auto bins = evaluate(recognizer, *valid, {10, 2})->bins;
  double sum = 0;
  for (const auto& bin : bins) sum += bin.label_loss;
  EXPECT_NEAR(sum / 20, *trainer->history().back().label_cross_entropy, 1e-9);
}

TEST(Recognition, EndsWhenAllStringsAreCorrectlyClassified) {
  auto trainer = make_trainer(
      with(kFast, {{"epochs", 300}, {"stop_accuracy", 1.0}, {"objective", "final"}}),
      small_recognizer({{"controller", {{"kind", "lstm"}, {"hidden", 8}}}, {"seed", 2}}));
  while (trainer->finished().empty()) trainer->run_epoch();
  EXPECT_EQ(trainer->finished(), "all training strings are correctly classified");
  const auto& last = trainer->history().back();
  EXPECT_EQ(*last.train_accuracy, 1.0);
  const auto& recognizer = dynamic_cast<const Recognizer&>(*trainer->model());
  EXPECT_EQ(evaluate(recognizer, *counted_strings(60, 1), {})->all.correct(), 60);
  EXPECT_EQ(evaluate(recognizer, *counted_strings(20, 2), {})->all.accuracy(), *last.accuracy);
}

TEST(Recognition, FrozenNumbersStay) {
  const auto model = small_recognizer();
  const auto before = weights(*model);
  const auto& [name, tensor] = model->parameters()[0];
  model->freeze(name, tensor > 0);
  auto trainer = make_trainer(
      with(kFast, {{"optimizer", {{"kind", "sgd"}, {"momentum", 0.9}, {"weight_decay", 0.1}}}}),
      model);
  trainer->run_epoch();
  const auto after = weights(*model);
  EXPECT_TRUE(
      at::equal(after[0].masked_select(before[0] > 0), before[0].masked_select(before[0] > 0)));
  EXPECT_FALSE(at::equal(after[0], before[0]));
  EXPECT_FALSE(at::equal(after[1], before[1]));
  // The mask is saved with the model.
  const Scratch scratch;
  trainer->save(scratch / "run");
  const auto loaded = load_model(scratch / "run", "last");
  EXPECT_TRUE(at::equal(loaded->frozen().at(name), before[0] > 0));
  EXPECT_THROW(model->freeze("controller.wieght", tensor > 0), std::invalid_argument);
  EXPECT_THROW(model->freeze(name, at::ones({1}, at::kBool)), std::invalid_argument);
}

TEST(Recognition, InsertedRulesAreSavedWithTheModel) {
  auto model = std::make_shared<Recognizer>(
      Alphabet({"a", "b"}),
      Json{{"architecture", "nspda"}, {"states", 5}, {"passes", 2}, {"seed", 3}});
  const Pda pda(
      parse_pda("%bottom _\n%accepting r\n%at_bottom\n"
                "q, _ --a--> q, push a\nq, a --a--> q, push a\n"
                "q, a --b--> r, pop\nr, a --b--> r, pop\n"));
  RuleOptions rules;
  rules.strength = 2.5;
  rules.frozen = true;
  insert_rules(*model, pda, rules);
  const auto data = counted_strings(60, 1);
  EXPECT_EQ(evaluate(*model, *data, {})->all.correct(), 60);
  const Scratch scratch;
  auto trainer = Trainer(recognition(model, data, nullptr),
                         with(kFast, {{"run_folder", (scratch / "run").string()}}));
  const auto loaded = load_model(scratch / "run", "last");
  ASSERT_EQ(loaded->buffers().size(), model->buffers().size());
  for (std::size_t i = 0; i < model->buffers().size(); ++i) {
    EXPECT_EQ(loaded->buffers()[i].first, model->buffers()[i].first);
    EXPECT_TRUE(at::equal(loaded->buffers()[i].second, model->buffers()[i].second))
        << model->buffers()[i].first;
  }
  EXPECT_EQ(evaluate(dynamic_cast<const Recognizer&>(*loaded), *data, {})->all.correct(), 60);
  // Frozen and correct: training changes nothing that matters.
  trainer.run_epoch();
  EXPECT_EQ(evaluate(*model, *data, {})->all.correct(), 60);
  // Only one trainer can write to a folder.
  std::filesystem::copy(scratch / "run", scratch / "copy",
                        std::filesystem::copy_options::recursive);
  auto resumed = resume_trainer(scratch / "copy");
  trainer.run_epoch();
  resumed->run_epoch();
  EXPECT_TRUE(same(weights(*resumed->model()), weights(*model)));
}

TEST(Recognition, InvalidOptionsAreReported) {
  const auto data = counted_strings(4, 1);
  const auto told = [&](const Json& options) {
    return message<std::invalid_argument>(
        [&] { Trainer(recognition(small_recognizer(), data, nullptr), options); });
  };
  EXPECT_CONTAINS(told({{"objective", "stepwize"}}), "did you mean 'stepwise'");
  EXPECT_CONTAINS(told({{"learning", "backprop"}}), "'bptt'");
  EXPECT_CONTAINS(told({{"curriculum", "random"}}), "two_stage");
  EXPECT_CONTAINS(told({{"curriculum", {{"kind", "two_stage"}, {"epochs", {3, "x"}}}}}),
                  "integers");
  EXPECT_CONTAINS(told({{"chunk", 5}}), "chunk");
  EXPECT_CONTAINS(told({{"stop_accuracy", 90}}), "stop_accuracy");
  EXPECT_CONTAINS(told({{"best_by", "loss"}}), "'label_cross_entropy'");
  EXPECT_CONTAINS(told({{"best_by", "label_cross_entropy"}}), "needs validation strings");
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    recognition(small_recognizer(),
                                std::make_shared<LabelledDataset>(
                                    Alphabet({"x"}), std::vector<Word>{{0}}, std::vector{true}),
                                nullptr);
                  }),
                  "different symbols");
  EXPECT_CONTAINS(message<std::invalid_argument>([] {
                    small_recognizer({{"output", "own"}});
                  }),
                  "no measure of validity");
  const auto own = std::make_shared<Recognizer>(Alphabet({"a", "b"}),
                                                Json{{"architecture", "nnpda"}, {"output", "own"}});
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    Trainer(recognition(own, data, data), {{"best_by", "label_cross_entropy"}});
                  }),
                  "answers are probabilities");
}

}  // namespace
}  // namespace pushdown::testing_support::recognition_test
