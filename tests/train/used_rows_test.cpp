// Updates of the used rows of large tables against updates of all rows.
#include "train/optimizing/used_rows.h"

#include <gtest/gtest.h>

#include "tensor/backward.h"
#include "tensor/embedding.h"
#include "train/learning/gradient.h"
#include "train/problems/recognition.h"
#include "train/problems/text_modelling.h"
#include "train/toy.h"

namespace pushdown::used_rows_test {
namespace {

using namespace testing_support;

constexpr int kSymbols = 1500;

Alphabet large_alphabet() {
  std::vector<std::string> names;
  for (int i = 0; i < kSymbols; ++i) names.push_back("w" + std::to_string(i));
  return Alphabet(names);
}

// Few symbols are frequent, and many are rare.
Word draw_word(Random& random, std::size_t length) {
  Word word;
  for (std::size_t k = 0; k < length; ++k)
    word.push_back(static_cast<int>(kSymbols * std::pow(random.uniform(), 4.0)));
  return word;
}

std::vector<Word> draw_words(int count, std::uint64_t seed) {
  Random random(seed, "words of a large alphabet");
  std::vector<Word> words;
  for (int i = 0; i < count; ++i) words.push_back(draw_word(random, 1 + random.below(5)));
  return words;
}

DatasetPtr strings(int count, std::uint64_t seed) {
  return std::make_shared<Dataset>(large_alphabet(), draw_words(count, seed));
}

// Makes a trainer of a new model with these options.
using Make = std::unique_ptr<Trainer> (*)(Json model, const Json& trainer, bool all_rows);

// Training with frozen parameters updates all rows. This mask freezes no number.
void update_all_rows(SequenceModel& model) {
  const auto& [name, parameter] = model.parameters().back();
  model.freeze(name, at::zeros(parameter.sizes(), at::kBool));
}

std::unique_ptr<Trainer> language_trainer(Json model, const Json& trainer, bool all_rows) {
  model.update(Json{{"seed", 3}});
  const auto made = std::make_shared<LanguageModel>(large_alphabet(), model);
  if (all_rows) update_all_rows(*made);
  return std::make_unique<Trainer>(made, strings(40, 1), strings(5, 2), trainer);
}

std::unique_ptr<Trainer> recognizer_trainer(Json model, const Json& trainer, bool all_rows) {
  model.update(Json{{"seed", 3}});
  const auto made = std::make_shared<Recognizer>(large_alphabet(), model);
  if (all_rows) update_all_rows(*made);
  const auto words = draw_words(40, 1);
  std::vector<bool> labels;
  for (const Word& word : words) labels.push_back(word.front() % 2 == 0);
  const auto data = std::make_shared<LabelledDataset>(large_alphabet(), words, labels);
  Json options = trainer;
  options.update(Json{{"stop_accuracy", 0}});
  return std::make_unique<Trainer>(recognition(made, data, data), options);
}

std::unique_ptr<Trainer> text_trainer(Json model, const Json& trainer, bool all_rows) {
  model.update(Json{{"seed", 3}, {"end_symbol", false}});
  const auto made = std::make_shared<LanguageModel>(large_alphabet(), model);
  if (all_rows) update_all_rows(*made);
  Random random(5, "a text");
  const auto text = std::make_shared<RunningText>(large_alphabet(), draw_word(random, 80));
  Json options = trainer;
  options.update(Json{{"chunk", 5}});
  return std::make_unique<Trainer>(text_modelling(made, text, nullptr), options);
}

struct Case {
  const char* name;
  Make make;
  Json model;
};

const std::vector<Case>& cases() {
  static const Json lstm{{"kind", "lstm"}, {"hidden", 16}},
      stack{{"kind", "superposition"}, {"size", 2}};
  static const std::vector<Case> all{
      {"embedding", language_trainer, {{"controller", lstm}, {"embedding", 45}, {"dropout", 0.2}}},
      {"one_hot", language_trainer, {{"controller", lstm}, {"stack", stack}}},
      {"transformer",
       language_trainer,
       {{"architecture", "transformer"}, {"hidden", 48}, {"feedforward", 8}, {"dropout", 0.1}}},
      {"recognizer", recognizer_trainer, {{"controller", lstm}, {"stack", stack}}},
      {"recognizer_embedding",
       recognizer_trainer,
       {{"controller", lstm}, {"embedding", 45}, {"end_symbol", false}}},
      {"text", text_trainer, {{"controller", lstm}, {"embedding", 45}}},
      {"one_hot_text", text_trainer, {{"controller", lstm}}}};
  return all;
}

const Json kTraining{{"batch", 4}, {"epochs", 3}, {"seed", 1}, {"clip_norm", 0.3}};

Json with(Json options, const Json& more) {
  options.update(more);
  return options;
}

void expect_same(const Trainer& one, const Trainer& other) {
  EXPECT_EQ(timeless(one.history()), timeless(other.history()));
  EXPECT_TRUE(same(weights(*one.model()), weights(*other.model())));
  const auto a = one.optimizer().state(), b = other.optimizer().state();
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_TRUE(at::equal(a[i].second, b[i].second)) << a[i].first;
}

class UsedRowsOf : public testing::TestWithParam<Case> {};

TEST_P(UsedRowsOf, GiveTheNumbersOfUpdatesOfAllRows) {
  const Json adam{{"kind", "adam"}, {"learning_rate", 0.02}};
  const std::vector<std::pair<const char*, Json>> kinds{
      {"float32", adam},
      {"float64", adam},
      {"float32", {{"kind", "rmsprop"}, {"momentum", 0.5}}},
      {"float64", {{"kind", "sgd"}, {"momentum", 0.9}, {"nesterov", true}}},
      {"float32", {{"kind", "sgd"}}},
      {"float32", {{"kind", "adamw"}, {"learning_rate", 0.01}}}};
  for (const auto& [dtype, optimizer] : kinds) {
    const Json options =
        with(kTraining,
             {{"optimizer", optimizer}, {"annealing", {{"kind", "exponential"}, {"decay", 0.5}}}});
    const Json model = with(GetParam().model, {{"dtype", dtype}});
    const auto some = GetParam().make(model, options, false),
               all = GetParam().make(model, options, true);
    // The parameters after each update of an epoch, in which some rows wait.
    std::vector<std::vector<Tensor>> of_some, of_all;
    some->callbacks.progress = [&](const Progress& at) {
      if (!at.validating) of_some.push_back(weights(*some->model()));
    };
    all->callbacks.progress = [&](const Progress& at) {
      if (!at.validating) of_all.push_back(weights(*all->model()));
    };
    while (some->finished().empty()) some->run_epoch();
    while (all->finished().empty()) all->run_epoch();
    expect_same(*some, *all);
    ASSERT_EQ(of_some.size(), of_all.size());
    bool waiting = false;
    for (std::size_t k = 0; k < of_some.size(); ++k)
      waiting = waiting || !same(of_some[k], of_all[k]);
    const bool decays = optimizer["kind"] == "adamw", remembers = optimizer.size() > 1;
    EXPECT_EQ(waiting, remembers && !decays) << optimizer;
  }
}

// Whoever reads the model between two calls finds all rows up to date, and may stop there.
TEST_P(UsedRowsOf, AreNotBehindBetweenCalls) {
  const auto stepped = GetParam().make(GetParam().model, kTraining, false),
             all = GetParam().make(GetParam().model, kTraining, true);
  for (int k = 0; k < 12; ++k) {
    stepped->step();
    all->step();
    ASSERT_TRUE(same(weights(*stepped->model()), weights(*all->model()))) << k;
    for (std::size_t i = 0; i < all->model()->parameters().size(); ++i) {
      const Tensor one = stepped->model()->parameters()[i].second.grad(),
                   other = all->model()->parameters()[i].second.grad();
      ASSERT_TRUE(at::equal(one, other)) << k;
    }
  }
  const Scratch scratch;
  stepped->save(scratch / "run");
  const auto resumed = resume_trainer(scratch / "run");
  while (resumed->finished().empty()) resumed->run_epoch();
  while (all->finished().empty()) all->run_epoch();
  expect_same(*resumed, *all);
}

// A checkpoint within an epoch is written in the middle of an update.
TEST_P(UsedRowsOf, AreNotBehindInCheckpoints) {
  const Scratch scratch;
  const auto all = GetParam().make(GetParam().model, kTraining, true);
  while (all->finished().empty()) all->run_epoch();
  {
    const auto stopped = GetParam().make(
        GetParam().model,
        with(kTraining, {{"checkpoint_every", 3}, {"run_folder", (scratch / "run").string()}}),
        false);
    stopped->callbacks.progress = [&](const Progress&) {
      if (stopped->updates_done() == 8) throw std::runtime_error("killed");
    };
    EXPECT_THROW(while (stopped->finished().empty()) stopped->run_epoch(), std::runtime_error);
  }
  const auto resumed = resume_trainer(scratch / "run");
  EXPECT_EQ(resumed->updates_done() % 3, 0);
  EXPECT_LT(resumed->updates_done(), 10);
  while (resumed->finished().empty()) resumed->run_epoch();
  expect_same(*resumed, *all);
}

INSTANTIATE_TEST_SUITE_P(All, UsedRowsOf, testing::ValuesIn(cases()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(UsedRows, OfSeveralBatchesAreThoseOfAll) {
  const Json options = with(kTraining, {{"accumulate", 3}, {"clip_value", 0.01}});
  const Case& one_hot = cases()[3];
  const auto some = one_hot.make(one_hot.model, options, false),
             all = one_hot.make(one_hot.model, options, true);
  while (some->finished().empty()) some->run_epoch();
  while (all->finished().empty()) all->run_epoch();
  expect_same(*some, *all);
}

// The gradients of a caller are dropped, as ever.
TEST(UsedRows, DropGradientsOfOthers) {
  const Case& of = cases()[0];
  const auto disturbed = of.make(of.model, kTraining, false),
             plain = of.make(of.model, kTraining, false);
  for (int k = 0; k < 6; ++k) {
    for (const auto& [name, parameter] : disturbed->model()->parameters())
      run_backward(parameter.sum());
    disturbed->step();
    plain->step();
  }
  EXPECT_TRUE(same(weights(*disturbed->model()), weights(*plain->model())));
}

TEST(UsedRows, NormAndScaleAreThoseOfAllRows) {
  Random random(1);
  for (const std::int64_t columns : {3, 8, 17}) {
    for (const bool by_columns : {false, true}) {
      const Tensor values = at::zeros({40, columns}, at::kFloat);
      const std::vector<std::int64_t> rows{0, 3, 4, 17, 39};
      for (const auto row : rows)
        for (std::int64_t i = 0; i < columns; ++i)
          values.data_ptr<float>()[row * columns + i] = static_cast<float>(random.normal());
      Tensor table = at::zeros({40, columns}, at::kFloat);
      if (by_columns) table = table.t();
      table.set_requires_grad(true);
      const ParameterList parameters{{"table", table}};
      UsedRows used;
      used.add(table, rows);
      const auto give = [&] { gradient_of(table).copy_(by_columns ? values.t() : values); };
      give();
      EXPECT_EQ(gradient_norm(parameters, used), gradient_norm(parameters));
      scale_gradients(parameters, 0.3, used);
      const Tensor some = table.grad().clone();
      give();
      scale_gradients(parameters, 0.3);
      EXPECT_TRUE(at::equal(table.grad(), some));
    }
  }
}

TEST(RowGradients, AreThoseOfTheWholeTable) {
  Random random(1);
  const Tensor ids = at::tensor(std::vector<std::int64_t>{4, 0, 4, 2}, at::kLong).view({2, 2});
  Tensor table = at::zeros({6, 9}, at::kDouble);
  for (std::int64_t i = 0; i < 54; ++i) table.data_ptr<double>()[i] = random.normal();
  table.set_requires_grad(true);
  // The whole parameter, and its columns 2 to 7 as a table of columns.
  for (const bool part : {false, true}) {
    const auto looked_up = [&] {
      return embedded(part ? table.narrow(1, 2, 6).t() : table, ids).sin().sum();
    };
    table.mutable_grad() = Tensor();
    run_backward(looked_up());
    const Tensor whole = table.grad().clone();
    table.mutable_grad() = Tensor();
    {
      const RowGradients scope;
      run_backward(looked_up());
      run_backward(looked_up());
    }
    EXPECT_TRUE(at::allclose(table.grad(), 2 * whole, 1e-13, 1e-13));
    EXPECT_GT(whole.abs().sum().item<double>(), 1.0);
  }
}

}  // namespace
}  // namespace pushdown::used_rows_test
