// The option average: what counts equally in an epoch. With the learning rate 0 the parameters stay
// as they are, so the mean of the gradients of an epoch's updates is known: batches of one string
// that all count the same give the gradient of the mean over the strings.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/atomic_file.h"
#include "base/json.h"
#include "train/problems/recognition.h"
#include "train/problems/sentence_modelling.h"
#include "train/problems/stages.h"
#include "train/problems/text_modelling.h"
#include "train/problems/transduction.h"
#include "train/toy.h"

namespace pushdown::average_test {
namespace {

using namespace testing_support;

const Json kStill{{"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.0}}},
                  {"clip_norm", 0},
                  {"stop_patience", 0},
                  {"epochs", 30},
                  {"seed", 4}};

Json still(const Json& more) {
  Json options = kStill;
  options.update(more);
  return options;
}

// Returns the mean of the gradients of the updates of one epoch, all entries in one vector.
Tensor epoch_gradient(Trainer& trainer) {
  Tensor sum;
  const auto updates = trainer.updates_per_epoch();
  for (std::int64_t k = 0; k < updates; ++k) {
    trainer.step();
    std::vector<Tensor> parts;
    for (const auto& [name, parameter] : trainer.model()->parameters())
      parts.push_back(parameter.grad().defined() ? parameter.grad().detach().flatten().clone()
                                                 : at::zeros({parameter.numel()}, at::kDouble));
    const Tensor all = at::cat(parts).to(at::kDouble);
    sum = sum.defined() ? sum + all : all;
  }
  return sum / static_cast<double>(updates);
}

double distance(const Tensor& a, const Tensor& b) { return (a - b).abs().max().item<double>(); }

void expect_equal(const Tensor& got, const Tensor& wanted) {
  EXPECT_LT(distance(got, wanted), 1e-11 * std::max(1.0, wanted.abs().max().item<double>()));
  EXPECT_GT(wanted.abs().max().item<double>(), 1e-4);
}

// `make(options)` returns a trainer on strings that average to `symbols` symbols. Batches of one
// string are the reference.
template <class Make>
void expect_means(const Make& make, double symbols) {
  const auto of = [&](const Json& options) {
    auto trainer = make(still(options));
    return epoch_gradient(*trainer);
  };
  const Tensor mean = of({{"batch", 1}, {"average", "batches"}});
  for (const auto accumulate : {1, 3}) {
    const Json batches{{"batch", 8}, {"accumulate", accumulate}};
    Json strings = batches, by_symbol = batches, equal = batches;
    strings["average"] = "strings";
    by_symbol["average"] = "symbols";
    equal["average"] = "batches";
    expect_equal(of(batches), mean);
    expect_equal(of(strings), mean);
    expect_equal(of(by_symbol), mean / symbols);
    // The strings are such that it makes a difference.
    if (accumulate == 1) {
      EXPECT_GT(distance(of(equal), mean), 1e-3);
    }
  }
}

// 29 strings over a, b and c: many of length 3, and few of other lengths, which are 0 to 6.
std::vector<Word> uneven_words() {
  std::vector<Word> words;
  Random random(3, "uneven");
  for (int i = 0; i < 29; ++i) {
    Word word(i < 20 ? 3 : random.below(7));
    for (auto& id : word) id = i < 20 ? static_cast<int>(random.below(2)) : 2;
    words.push_back(word);
  }
  words.push_back({});
  return words;
}

double symbol_count(const std::vector<Word>& words) {
  double count = 0;
  for (const auto& word : words) count += static_cast<double>(word.size());
  return count;
}

TEST(Average, LanguageModels) {
  const auto data = std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), uneven_words());
  const double symbols = symbol_count(data->words());
  for (const bool end_symbol : {true, false})
    for (const int chunk : {0, 2}) {
      double strings = 0;
      for (const auto& word : data->words()) strings += end_symbol || !word.empty();
      expect_means(
          [&](Json options) {
            options["chunk"] = chunk;
            return std::make_unique<Trainer>(
                small_model({{"kind", "superposition"}, {"size", 2}}, "float64", end_symbol), data,
                nullptr, options);
          },
          symbols / strings);
    }
}

TEST(Average, Sentences) {
  const Scratch scratch;
  TokenFileWriter writer(scratch / "a.tokens", Alphabet({"<unk>", "a", "b", "c"}));
  const auto words = uneven_words();
  for (Word word : words) {
    for (auto& id : word) ++id;
    writer.add(word);
  }
  writer.commit(Json::object());
  const auto file = std::make_shared<TokenFile>(scratch / "a.tokens");
  expect_means(
      [&](const Json& options) {
        const auto model = std::make_shared<LanguageModel>(
            file->alphabet(),
            Json{{"controller", {{"kind", "gru"}, {"hidden", 4}}}, {"dtype", "float64"}});
        return std::make_unique<Trainer>(sentence_modelling(model, file, nullptr), options);
      },
      symbol_count(words) / static_cast<double>(words.size()) + 1);
}

LabelledDatasetPtr uneven_labels() {
  std::vector<bool> labels;
  const auto words = uneven_words();
  for (const Word& word : words) labels.push_back(std::accumulate(word.begin(), word.end(), 0) % 2);
  return std::make_shared<LabelledDataset>(Alphabet({"a", "b", "c"}), words, labels);
}

TEST(Average, Recognizers) {
  const auto data = uneven_labels();
  const double symbols = symbol_count(data->words()) / static_cast<double>(data->size()) + 1;
  for (const char* learning : {"bptt", "tbptt", "rtrl"})
    expect_means(
        [&](Json options) {
          const auto model = std::make_shared<Recognizer>(
              data->alphabet(),
              Json{{"controller", {{"kind", "elman"}, {"hidden", 3}}}, {"dtype", "float64"}});
          options["stop_accuracy"] = 0;
          options["learning"] = {{"kind", learning}};
          if (options["learning"]["kind"] == "tbptt") options["learning"]["window"] = 3;
          return std::make_unique<Trainer>(recognition(model, data, nullptr), options);
        },
        symbols);
}

// An objective that is a mean over the symbols of a string: its mean over all symbols is that of
// the sums.
TEST(Average, SymbolsOfAnObjectiveThatIsAMean) {
  const auto data = uneven_labels();
  const auto gradient = [&](Json options, bool average) {
    const auto model = std::make_shared<Recognizer>(
        data->alphabet(),
        Json{{"controller", {{"kind", "elman"}, {"hidden", 3}}}, {"dtype", "float64"}});
    options["stop_accuracy"] = 0;
    options["objective"] = {{"kind", "stepwise"}, {"average", average}};
    Trainer trainer(recognition(model, data, nullptr), still(options));
    return epoch_gradient(trainer);
  };
  const double symbols = symbol_count(data->words()) / static_cast<double>(data->size()) + 1;
  const Tensor sums = gradient({{"batch", 1}, {"average", "batches"}}, false);
  const Tensor means = gradient({{"batch", 1}, {"average", "batches"}}, true);
  for (const int accumulate : {1, 3}) {
    const Json of{{"batch", 8}, {"accumulate", accumulate}, {"average", "symbols"}};
    expect_equal(gradient(of, true), sums / symbols);
    expect_equal(gradient({{"batch", 8}, {"accumulate", accumulate}}, true), means);
  }
}

// The strings of each phase of a curriculum.
TEST(Average, EveryPhaseOfACurriculum) {
  const auto data = uneven_labels();
  const auto trainer = [&](Json options) {
    const auto model = std::make_shared<Recognizer>(
        data->alphabet(),
        Json{{"controller", {{"kind", "elman"}, {"hidden", 3}}}, {"dtype", "float64"}});
    options["stop_accuracy"] = 0;
    options["curriculum"] = {{"kind", "incremental"}, {"epochs", {2}}};
    return std::make_unique<Trainer>(recognition(model, data, nullptr), still(options));
  };
  const auto one = trainer({{"batch", 1}, {"average", "batches"}}), many = trainer({{"batch", 8}});
  std::int64_t last = 0;
  for (int epoch = 0; epoch < 6; ++epoch) {
    last = many->phase();
    ASSERT_EQ(one->phase(), last);
    expect_equal(epoch_gradient(*many), epoch_gradient(*one));
  }
  EXPECT_GT(last, 3);
}

// Stages have strings of their own.
TEST(Average, EveryStage) {
  const auto all = uneven_words();
  const Alphabet alphabet({"0", "1", "#"});
  const auto first =
      std::make_shared<Dataset>(alphabet, std::vector<Word>(all.begin(), all.begin() + 23));
  const auto second =
      std::make_shared<Dataset>(alphabet, std::vector<Word>(all.begin() + 15, all.end()));
  const auto trainer = [&](Json options) {
    const auto model = small_model({{"kind", "none"}}, "float64", true);
    options["stages"] = Json::array({Json{{"epochs", 2}}, Json{{"epochs", 2}}});
    return std::make_unique<Trainer>(staged({language_modelling(model, first, nullptr),
                                             language_modelling(model, second, nullptr)}),
                                     still(options));
  };
  const auto one = trainer({{"batch", 1}, {"average", "batches"}}), many = trainer({{"batch", 8}});
  for (int epoch = 0; epoch < 4; ++epoch) {
    EXPECT_EQ(many->stage(), 1 + epoch / 2);
    expect_equal(epoch_gradient(*many), epoch_gradient(*one));
  }
}

// All streams read all words once, so only the scale depends on the option.
TEST(Average, RunningTexts) {
  Word words;
  Random random(2, "text");
  for (int i = 0; i < 53; ++i) words.push_back(static_cast<int>(random.below(3)));
  const Alphabet alphabet({"<unk>", "a", "b"});
  const auto text = std::make_shared<RunningText>(alphabet, words);
  const auto gradient = [&](const char* average) {
    const auto model = std::make_shared<LanguageModel>(
        alphabet, Json{{"controller", {{"kind", "lstm"}, {"hidden", 3}}},
                       {"dtype", "float64"},
                       {"end_symbol", false}});
    Trainer trainer(text_modelling(model, text, nullptr),
                    still({{"batch", 4}, {"chunk", 5}, {"average", average}}));
    EXPECT_EQ(trainer.updates_per_epoch(), 3);
    return epoch_gradient(trainer);
  };
  const Tensor strings = gradient("strings");
  EXPECT_TRUE(at::equal(gradient("batches"), strings));
  // 53 words in 3 updates of 4 streams.
  expect_equal(gradient("symbols"), strings * (4 * 3 / 53.0));
}

TEST(Average, Transducers) {
  const auto pairs =
      make_pairs({{"kind", "reversal"}, {"symbols", 3}, {"lengths", Json::array({1, 5})}});
  const auto gradient = [&](const char* average) {
    const auto model = std::make_shared<Transducer>(
        pairs->source_alphabet(), pairs->target_alphabet(),
        Json{{"controller", {{"kind", "lstm"}, {"hidden", 4}}}, {"dtype", "float64"}});
    Trainer trainer(transduction(model, pairs, nullptr),
                    still({{"batch", 7}, {"epoch_batches", 9}, {"average", average}}));
    return epoch_gradient(trainer);
  };
  // A multiple of the gradient of the mean over pairs: one over the mean of targets and ends, which
  // is 4, up to the error of 1,000 draws. The mean of each update's own mean is no multiple of it.
  const Tensor mean = gradient("strings"), by_symbol = gradient("symbols");
  const double scale = (by_symbol.dot(mean) / mean.dot(mean)).item<double>();
  EXPECT_NEAR(scale, 1 / 4.0, 0.01);
  expect_equal(by_symbol, mean * scale);
  EXPECT_GT(distance(gradient("batches"), mean * scale), 1e-3);
}

// Where all batches have the same number of strings, nothing changes, to the last bit.
TEST(Average, EqualBatchesGiveTheSameBits) {
  std::vector<Word> words;
  Random random(3, "equal");
  for (int i = 0; i < 24; ++i) {
    Word word(1 + i / 8);
    for (auto& id : word) id = static_cast<int>(random.below(3));
    words.push_back(word);
  }
  const auto data = std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words);
  const auto trained = [&](const char* average, int accumulate) {
    const auto model = small_model();
    Trainer trainer(
        model, data, nullptr,
        Json{{"batch", 4}, {"accumulate", accumulate}, {"average", average}, {"epochs", 3}});
    while (trainer.finished().empty()) trainer.run_epoch();
    return weights(*model);
  };
  for (const int accumulate : {1, 3})
    EXPECT_TRUE(same(trained("strings", accumulate), trained("batches", accumulate)));
}

// 36 of 60 strings begin with a and are in 5 of the 6 batches, because they have 5 lengths.
TEST(Average, TheProbabilityOfAFirstSymbolIsTheShareOfItsStrings) {
  std::vector<Word> words;
  for (int i = 0; i < 60; ++i) {
    Word word(i < 24 ? 2 : 3 + i % 5, 2);
    word.front() = i < 24 ? 1 : 0;
    words.push_back(word);
  }
  const auto data = std::make_shared<Dataset>(Alphabet({"a", "b", "c"}), words);
  const auto probability = [&](const Json& more) {
    const auto model = std::make_shared<LanguageModel>(
        data->alphabet(),
        Json{
            {"controller", {{"kind", "lstm"}, {"hidden", 8}}}, {"end_symbol", false}, {"seed", 1}});
    Json options{{"batch", 32},        {"epochs", 400},
                 {"stop_patience", 0}, {"decay_patience", 0},
                 {"clip_norm", 0},     {"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.1}}}};
    options.update(more);
    Trainer trainer(model, data, nullptr, options);
    EXPECT_EQ(trainer.updates_per_epoch() * options.value("accumulate", 1), 6);
    while (trainer.finished().empty()) trainer.run_epoch();
    return model->output_bias().softmax(0)[0].item<double>();
  };
  EXPECT_NEAR(probability(Json::object()), 0.6, 0.02);
  EXPECT_NEAR(probability({{"average", "symbols"}}), 0.6, 0.02);
  EXPECT_NEAR(probability({{"accumulate", 2}}), 0.6, 0.02);
  EXPECT_NEAR(probability({{"average", "batches"}}), 5 / 6.0, 0.02);
}

// The end of an empty string counts for the probability, but the string has no symbols.
TEST(Average, EmptyStringsCountTheSameInTrainingAndValidation) {
  const std::vector<Word> words{{}, {}, {}, {0}, {1, 2}, {}, {}};
  const auto data = std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), words);
  for (const char* average : {"strings", "symbols", "batches"}) {
    Trainer trainer(small_model({{"kind", "none"}}, "float64", true), data, data,
                    still({{"average", average}, {"batch", 3}}));
    std::vector<double> losses;
    for (auto left = trainer.updates_per_epoch(); left > 0; --left)
      losses.push_back(trainer.step()->loss);
    for (const double loss : losses) EXPECT_TRUE(std::isfinite(loss));
    const auto& epoch = trainer.history().front();
    EXPECT_NEAR(epoch.train_cross_entropy, *epoch.cross_entropy, 1e-12);
  }
}

TEST(Average, ARunFromBeforeTheOptionGoesOnAsItBegan) {
  const Scratch scratch;
  const auto data = std::make_shared<Dataset>(Alphabet({"0", "1", "#"}), uneven_words());
  const auto options = [&](const char* folder) {
    return Json{{"batch", 8},
                {"epochs", 4},
                {"average", "batches"},
                {"run_folder", (scratch / folder).string()}};
  };
  const auto whole_model = small_model();
  Trainer whole(whole_model, data, nullptr, options("whole"));
  while (whole.finished().empty()) whole.run_epoch();
  Trainer(small_model(), data, nullptr, options("old")).run_epoch();
  const Path file = scratch / "old" / "config.json";
  Json config = parse_json(read_file(file));
  config["trainer"].erase("average");
  write_file(file, config.dump());
  const auto resumed = resume_trainer(scratch / "old");
  EXPECT_EQ(resumed->options()["average"], "batches");
  while (resumed->finished().empty()) resumed->run_epoch();
  EXPECT_TRUE(same(weights(*resumed->model()), weights(*whole_model)));
}

}  // namespace
}  // namespace pushdown::average_test
