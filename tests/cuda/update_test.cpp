// Updates of trainers in common launches, with the replacement for the CUDA runtime: their numbers,
// in every order of the threads, and what an update costs on the host's side.
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <map>

#include "support/golden.h"
#include "support/stand_in_device.h"
#include "train/shared_updates.h"
#include "train/toy.h"

namespace pushdown::update_test {
namespace {

using namespace testing_support;

struct Choices {
  Json stack{{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 2}};
  Json optimizer{{"kind", "adam"}};
  Json more = Json::object();  // options of the model
};

struct Group {
  std::vector<std::unique_ptr<Trainer>> owned;
  std::vector<Trainer*> trainers;

  Group(int models, const Choices& choices) {
    for (int k = 0; k < models; ++k) {
      Json of_model{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
                    {"stack", choices.stack},
                    {"dtype", "float64"},
                    {"seed", k}};
      of_model.update(choices.more);
      Json options{{"batch", 4},
                   {"seed", 10 + k},
                   {"clip_norm", k == 1 ? 0.0 : 0.3},
                   {"optimizer", choices.optimizer}};
      options["optimizer"]["learning_rate"] = 0.002 * (k + 1);
      owned.push_back(std::make_unique<Trainer>(
          std::make_shared<LanguageModel>(Alphabet({"0", "1", "#"}), of_model),
          reversal_strings(12, 1 + k, 3), nullptr, options));
      trainers.push_back(owned.back().get());
    }
  }
};

void run_epoch(Group& group) {
  for (const auto& result : run_epoch_together(group.trainers, stand_in_engine()))
    EXPECT_EQ(result.error, "");
}

// Reads a counter after each round of updates, from the second on. `alone`: one trainer, by itself.
std::vector<std::int64_t> by_round(Group& group, const std::function<std::int64_t()>& counter,
                                   bool alone = false) {
  std::vector<std::int64_t> counts;
  Trainer& longest =
      **std::max_element(group.trainers.begin(), group.trainers.end(),
                         [](auto* a, auto* b) { return a->updates_left() < b->updates_left(); });
  std::int64_t last = counter();
  longest.callbacks.progress = [&](const Progress& progress) {
    if (progress.validating) return;
    const std::int64_t now = counter();
    counts.push_back(now - std::exchange(last, now));
  };
  if (alone)
    EXPECT_TRUE(longest.run_epoch());
  else
    run_epoch(group);
  counts.erase(counts.begin());
  return counts;
}

std::vector<Choices> several_choices() {
  return {Choices{},
          Choices{.stack = {{"kind", "superposition"}, {"size", 3}},
                  .optimizer = {{"kind", "rmsprop"}, {"momentum", 0.5}},
                  .more = {{"initial_state", "learned"}, {"end_symbol", false}}},
          Choices{.stack = {{"kind", "vector_nondeterministic"}, {"size", 2}},
                  .optimizer = {{"kind", "adamw"}, {"weight_decay", 0.1}}}};
}

TEST(Update, EqualsTheProcessorInEveryOrderOfTheThreads) {
  for (const Choices& choices : several_choices()) {
    Group alone(3, choices);
    for (Trainer* trainer : alone.trainers) trainer->run_epoch();
    std::vector<Tensor> first;
    for (const bool descending : {false, true}) {
      cuda_stand_in::set_descending(descending);
      Group together(3, choices);
      run_epoch(together);
      std::vector<Tensor> all;
      for (int k = 0; k < 3; ++k) {
        const auto got = weights(*together.trainers[k]->model()),
                   wanted = weights(*alone.trainers[k]->model());
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_LT(deviation(got[i], wanted[i]), 1e-9) << choices.stack << ' ' << k << ' ' << i;
        all.insert(all.end(), got.begin(), got.end());
        EXPECT_NEAR(together.trainers[k]->history()[0].train_cross_entropy,
                    alone.trainers[k]->history()[0].train_cross_entropy, 1e-10);
        EXPECT_NEAR(together.trainers[k]->history()[0].gradient_norm,
                    alone.trainers[k]->history()[0].gradient_norm, 1e-9);
      }
      if (descending) {
        EXPECT_TRUE(same(all, first)) << choices.stack;
      }
      first = all;
    }
  }
}

// A trainer by itself, and whether a device takes part.
struct OneTrainer : Group {
  Trainer& trainer = *trainers[0];
  OneTrainer(const Choices& choices, bool by_kernels) : Group(1, choices) {
    if (by_kernels) trainer.engine = stand_in_engine();
  }
};

TEST(Update, OneTrainerEqualsTheProcessor) {
  for (const Choices& choices : several_choices()) {
    OneTrainer plain(choices, false), by_kernels(choices, true);
    const auto before = cuda_stand_in::launches();
    EXPECT_TRUE(plain.trainer.run_epoch() && by_kernels.trainer.step() &&
                by_kernels.trainer.run_epoch());
    EXPECT_GT(cuda_stand_in::launches(), before);
    const auto got = weights(*by_kernels.trainer.model()), wanted = weights(*plain.trainer.model());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), 1e-9) << choices.stack << ' ' << i;
    const EpochMetrics &now = by_kernels.trainer.history()[0], &then = plain.trainer.history()[0];
    EXPECT_NEAR(now.train_cross_entropy, then.train_cross_entropy, 1e-10);
    EXPECT_NEAR(now.gradient_norm, then.gradient_norm, 1e-9);
  }
}

// At most 12, whatever the number of models.
TEST(Update, LaunchesDoNotDependOnTheNumberOfModels) {
  std::optional<std::int64_t> wanted;
  for (const int models : {1, 2, 5}) {
    Group group(models, {});
    const auto counts = by_round(group, cuda_stand_in::launches);
    EXPECT_GT(counts.size(), 1u);
    for (const std::int64_t count : counts) {
      if (!wanted) wanted = count;
      EXPECT_EQ(count, *wanted) << models;
    }
  }
  OneTrainer one({}, true);
  for (const std::int64_t count : by_round(one, cuda_stand_in::launches, true))
    EXPECT_EQ(count, *wanted);
  EXPECT_LE(*wanted, 12);
}

std::int64_t operators = 0;
std::unique_ptr<at::ObserverContext> count_operator(const at::RecordFunction&) {
  ++operators;
  return nullptr;
}

// LibTorch's operators, including those that others call.
TEST(Update, OperatorsOfAModelAreFewAndFixed) {
  const auto handle = at::addThreadLocalCallback(
      at::RecordFunctionCallback(&count_operator).scopes({at::RecordScope::FUNCTION}));
  std::map<int, std::int64_t> found;
  for (const int models : {2, 5}) {
    // All have equally many updates.
    Group group(models, {});
    const auto counts = by_round(group, [] { return operators; });
    found[models] = *std::min_element(counts.begin(), counts.end());
  }
  OneTrainer one({}, true);
  const auto of_one = by_round(
      one, [] { return operators; }, true);
  at::removeCallback(handle);
  EXPECT_LE(*std::max_element(of_one.begin(), of_one.end()), 20);
  EXPECT_LE(found[2], 20);
  EXPECT_LE(found[5] - found[2], 3 * 4);
}

}  // namespace
}  // namespace pushdown::update_test
