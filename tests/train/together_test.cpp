#include "train/together.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "base/parallel.h"
#include "train/toy.h"

namespace pushdown::together_test {
namespace {

using namespace testing_support;

struct Threads {
  explicit Threads(int count) { set_thread_count(count); }
  ~Threads() { set_thread_count(1); }
};

const Json kStack{{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 2}};

LanguageModelPtr model_with_seed(int seed) {
  return std::make_shared<LanguageModel>(
      Alphabet({"0", "1", "#"}),
      Json{{"controller", {{"kind", "lstm"}, {"hidden", 5}}}, {"stack", kStack}, {"seed", seed}});
}

// Trainer k of a group: it has its own parameters, learning rate, order and number of epochs.
std::unique_ptr<Trainer> member(int k) {
  return std::make_unique<Trainer>(model_with_seed(k), reversal_strings(400, 1),
                                   reversal_strings(20, 2),
                                   Json{{"batch", 4},
                                        {"epochs", 2 + k % 2},
                                        {"seed", 10 + k},
                                        {"optimizer", {{"learning_rate", 0.002 * (k + 1)}}}});
}

TEST(Together, GivesTheNumbersOfTrainingAlone) {
  const int kCount = 5;
  std::vector<Json> alone;
  std::vector<std::vector<Tensor>> alone_weights;
  for (int k = 0; k < kCount; ++k) {
    const auto trainer = member(k);
    while (trainer->finished().empty()) trainer->run_epoch();
    alone.push_back(timeless(trainer->history()));
    alone_weights.push_back(weights(*trainer->model()));
  }
  for (const int threads : {1, 2, 4}) {
    const Threads scope(threads);
    std::vector<std::unique_ptr<Trainer>> owned;
    std::vector<Trainer*> trainers;
    for (int k = 0; k < kCount; ++k) trainers.push_back(owned.emplace_back(member(k)).get());
    for (int round = 0; round < 3; ++round) {
      const auto results = run_epoch_together(trainers);
      ASSERT_EQ(results.size(), trainers.size());
      for (int k = 0; k < kCount; ++k) {
        EXPECT_EQ(results[k].epoch.has_value(), round < 2 + k % 2) << round << " " << k;
        EXPECT_EQ(results[k].error, "");
        EXPECT_FALSE(results[k].stopped);
      }
    }
    for (int k = 0; k < kCount; ++k) {
      EXPECT_EQ(timeless(trainers[k]->history()), alone[k]) << threads << " threads, " << k;
      EXPECT_TRUE(same(weights(*trainers[k]->model()), alone_weights[k]));
    }
  }
}

TEST(Together, OneFailureLeavesTheOthersAlone) {
  const Threads scope(2);
  auto good = member(0), bad = member(1), other = member(2);
  bad->model()->parameters()[0].second.detach().fill_(std::nan(""));
  const auto results = run_epoch_together({good.get(), bad.get(), other.get()});
  EXPECT_TRUE(results[0].epoch);
  EXPECT_TRUE(results[2].epoch);
  EXPECT_FALSE(results[1].epoch);
  EXPECT_CONTAINS(results[1].error, "has numbers that are not finite");
}

TEST(Together, StopsAndContinues) {
  const auto alone = member(0);
  alone->run_epoch();
  const Threads scope(2);
  auto a = member(0), b = member(1);
  std::atomic<int> asked{0};
  a->callbacks.should_stop = [&] { return ++asked > 30; };
  b->callbacks.should_stop = [&] { return asked > 30; };
  auto results = run_epoch_together({a.get(), b.get()});
  EXPECT_TRUE(results[0].stopped);
  EXPECT_EQ(a->updates_done(), 30);
  a->callbacks.should_stop = b->callbacks.should_stop = nullptr;
  results = run_epoch_together({a.get(), b.get()});
  ASSERT_TRUE(results[0].epoch && results[1].epoch);
  EXPECT_EQ(timeless(*results[0].epoch), timeless(alone->history().front()));
}

TEST(Together, AModelBelongsToOneTrainer) {
  const auto model = model_with_seed(1);
  Trainer a(model, reversal_strings(8, 1), nullptr, Json{{"seed", 1}});
  Trainer b(model, reversal_strings(8, 1), nullptr, Json{{"seed", 2}});
  EXPECT_CONTAINS(message<std::invalid_argument>([&] {
                    run_epoch_together({&a, &b});
                  }),
                  "two of the trainers train the same model");
}

}  // namespace
}  // namespace pushdown::together_test
