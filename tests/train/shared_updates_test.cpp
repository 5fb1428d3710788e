// Shared updates of several trainers, with the kernels of CUDA devices run by processor threads
// (support/team_runner.h), compared with the same trainers alone.
#include "train/shared_updates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.h"
#include "support/team_runner.h"
#include "train/toy.h"

namespace pushdown::shared_updates_test {
namespace {

using namespace testing_support;

struct Choices {
  Json optimizer{{"kind", "adam"}};
  Json stack{{"kind", "nondeterministic"}, {"states", 2}, {"symbols", 2}};
  bool end_symbol = false;
  std::string device = "cpu";
  Json more = Json::object();  // options of the trainer
};

LanguageModelPtr model_of(int k, const Choices& choices) {
  return std::make_shared<LanguageModel>(Alphabet({"0", "1", "#"}),
                                         Json{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
                                              {"stack", choices.stack},
                                              {"dtype", "float64"},
                                              {"end_symbol", choices.end_symbol},
                                              {"device", choices.device},
                                              {"seed", k}});
}

// Trainer k of a group: it has its own parameters, learning rate, order, strings, batch and epochs.
std::unique_ptr<Trainer> member(int k, const Choices& choices = {}) {
  Json options{{"batch", 4 + k},
               {"epochs", 2 + k % 2},
               {"seed", 10 + k},
               {"clip_norm", k == 1 ? 0.0 : 0.3},
               {"optimizer", choices.optimizer}};
  options["optimizer"]["learning_rate"] = 0.002 * (k + 1);
  options.update(choices.more);
  return std::make_unique<Trainer>(model_of(k, choices), reversal_strings(60 + 8 * k, 1 + k),
                                   reversal_strings(20, 2), options);
}

struct Group {
  std::vector<std::unique_ptr<Trainer>> owned;
  std::vector<Trainer*> trainers;
  explicit Group(int count, const Choices& choices = {}) {
    for (int k = 0; k < count; ++k)
      trainers.push_back(owned.emplace_back(member(k, choices)).get());
  }
};

void expect_same_weights(const Trainer& got, const Trainer& wanted, double bound) {
  for (std::size_t i = 0; i < wanted.model()->parameters().size(); ++i) {
    const auto& [name, tensor] = wanted.model()->parameters()[i];
    EXPECT_LT(deviation(got.model()->parameters()[i].second.detach().cpu(), tensor.detach()), bound)
        << name;
  }
}

TEST(SharedUpdates, GiveTheNumbersOfTrainingAlone) {
  const Json kVector{{"kind", "vector_nondeterministic"}, {"size", 2}};
  for (const Choices& choices :
       {Choices{}, Choices{.stack = {{"kind", "superposition"}, {"size", 3}}, .end_symbol = true},
        Choices{.optimizer = {{"kind", "rmsprop"}, {"momentum", 0.5}}, .stack = kVector},
        Choices{.optimizer = {{"kind", "rmsprop"}, {"weight_decay", 0.01}}},
        Choices{.optimizer = {{"kind", "sgd"}, {"momentum", 0.9}, {"nesterov", true}}},
        Choices{.optimizer = {{"kind", "sgd"}, {"momentum", 0.9}, {"weight_decay", 0.02}}},
        Choices{.optimizer = {{"kind", "adamw"}, {"weight_decay", 0.1}}},
        Choices{.optimizer = {{"kind", "sgd"}}, .stack = {{"kind", "none"}}}}) {
    const auto runner = std::make_shared<TeamRunner>();
    Group together(4, choices);
    ASSERT_EQ(SharedUpdates::groups(together.trainers, device_engine(runner)),
              (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}}));
    Group alone(4, choices);
    std::int64_t shared_rounds = 0;
    for (int round = 0; round < 3; ++round) {
      // A round of shared updates takes two passes. A trainer with more updates than the others of
      // its group makes the rest by itself.
      for (const auto& group : SharedUpdates::groups(together.trainers, device_engine(runner))) {
        std::int64_t most = 0;
        for (const std::size_t k : group)
          most = std::max(most, together.trainers[k]->updates_left());
        shared_rounds += most;
      }
      const auto results = run_epoch_together(together.trainers, device_engine(runner));
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(results[k].error, "");
        EXPECT_EQ(results[k].epoch.has_value(), round < 2 + k % 2);
      }
      // The next round goes on from the last update all the same.
      for (Trainer* trainer : together.trainers) trainer->use_best();
    }
    for (Trainer* trainer : together.trainers) trainer->use_last();
    EXPECT_EQ(runner->passes, 2 * shared_rounds);
    for (int k = 0; k < 4; ++k) {
      while (alone.trainers[k]->finished().empty()) alone.trainers[k]->run_epoch();
      EXPECT_EQ(together.trainers[k]->updates_done(), alone.trainers[k]->updates_done());
      expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-9);
      const auto &got = together.trainers[k]->history(), &wanted = alone.trainers[k]->history();
      ASSERT_EQ(got.size(), wanted.size());
      for (std::size_t epoch = 0; epoch < wanted.size(); ++epoch) {
        EXPECT_NEAR(got[epoch].train_cross_entropy, wanted[epoch].train_cross_entropy, 1e-10);
        EXPECT_NEAR(*got[epoch].cross_entropy, *wanted[epoch].cross_entropy, 1e-10);
        EXPECT_NEAR(got[epoch].gradient_norm, wanted[epoch].gradient_norm, 1e-8);
      }
    }
  }
}

// The common steps would apply weight decay and momentum to it.
TEST(SharedUpdates, LeaveOutModelsWithAFrozenParameter) {
  const Choices choices{.optimizer = {{"kind", "adamw"}, {"weight_decay", 0.1}}};
  Group together(2, choices);
  Tensor frozen = together.trainers[1]->model()->parameters().front().second;
  frozen.set_requires_grad(false);
  const Tensor before = frozen.detach().clone();
  const auto engine = device_engine(std::make_shared<TeamRunner>());
  EXPECT_EQ(SharedUpdates::groups(together.trainers, engine),
            (std::vector<std::vector<std::size_t>>{{0}}));
  together.trainers[1]->engine = engine;
  run_epoch_together(together.trainers, engine);
  EXPECT_TRUE(at::equal(frozen.detach(), before));
}

// The parameters are in common memory now. Checkpoints and separate training still work.
TEST(SharedUpdates, TrainersContinueAlone) {
  const Scratch scratch;
  Group together(3), alone(3);
  run_epoch_together(together.trainers, device_engine(std::make_shared<TeamRunner>()));
  together.trainers[1]->save(scratch.path() / "run");
  for (Trainer* trainer : together.trainers) trainer->run_epoch();
  for (Trainer* trainer : alone.trainers) {
    trainer->run_epoch();
    trainer->run_epoch();
  }
  for (int k = 0; k < 3; ++k) expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-9);
  const auto resumed = resume_trainer(scratch.path() / "run");
  resumed->run_epoch();
  expect_same_weights(*resumed, *alone.trainers[1], 1e-9);
}

// A single trainer makes its updates by the kernels, too, if they compute its gradient.
TEST(SharedUpdates, OneTrainerByItself) {
  const auto runner = std::make_shared<TeamRunner>();
  const auto run = [&](const Choices& choices, std::int64_t updates_by_kernels) {
    const Scratch scratch;
    const auto one = member(0, choices), plain = member(0, choices);
    one->engine = device_engine(runner);
    runner->passes = 0;
    int asked = 0;
    one->callbacks.should_stop = [&] { return ++asked > 4; };
    EXPECT_FALSE(one->run_epoch());
    EXPECT_EQ(one->updates_done(), 4);
    one->callbacks.should_stop = nullptr;
    one->save(scratch.path() / "run");
    EXPECT_TRUE(one->run_epoch());
    EXPECT_EQ(runner->passes, 2 * updates_by_kernels);
    plain->run_epoch();
    const auto resumed = resume_trainer(scratch.path() / "run");
    resumed->engine = one->engine;
    resumed->run_epoch();
    for (const Trainer* each : {one.get(), resumed.get()}) {
      expect_same_weights(*each, *plain, 1e-9);
      EXPECT_NEAR(*each->history()[0].cross_entropy, *plain->history()[0].cross_entropy, 1e-10);
    }
    EXPECT_TRUE(same(weights(*one->model()), weights(*resumed->model())));
    // It can take part in common updates afterwards.
    const auto other = member(1, choices);
    other->run_epoch();
    for (const auto& result : run_epoch_together({one.get(), other.get()}, one->engine))
      EXPECT_EQ(result.error, "");
    plain->run_epoch();
    expect_same_weights(*one, *plain, 1e-9);
  };
  const auto updates = member(0)->updates_per_epoch();
  run({}, updates);
  run({.optimizer = {{"kind", "sgd"}, {"momentum", 0.9}}, .end_symbol = true}, updates);
  run({.more = {{"clip_value", 0.01}}}, 0);
  run({.more = {{"accumulate", 2}}}, 0);
  // A failure changes nothing.
  const auto one = member(0);
  one->engine = device_engine(runner);
  one->model()->parameters()[0].second.detach().fill_(std::nan(""));
  EXPECT_THROW(one->run_epoch(), std::runtime_error);
  EXPECT_EQ(one->updates_done(), 0);
}

TEST(SharedUpdates, OneFailureLeavesTheOthersAlone) {
  Group together(3), alone(3);
  together.trainers[1]->model()->parameters()[0].second.detach().fill_(std::nan(""));
  const auto results =
      run_epoch_together(together.trainers, device_engine(std::make_shared<TeamRunner>()));
  EXPECT_NE(results[1].error.find("has numbers that are not finite"), std::string::npos)
      << results[1].error;
  EXPECT_FALSE(results[1].epoch);
  EXPECT_EQ(together.trainers[1]->updates_done(), 0);
  for (const int k : {0, 2}) {
    EXPECT_TRUE(results[k].epoch);
    alone.trainers[k]->run_epoch();
    expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-9);
  }
}

TEST(SharedUpdates, StopAndContinue) {
  const auto runner = std::make_shared<TeamRunner>();
  Group together(2), alone(2);
  int asked = 0;
  for (Trainer* trainer : together.trainers)
    trainer->callbacks.should_stop = [&] { return ++asked > 10; };
  auto results = run_epoch_together(together.trainers, device_engine(runner));
  EXPECT_TRUE(results[0].stopped && results[1].stopped);
  EXPECT_EQ(together.trainers[0]->updates_done(), 5);
  for (Trainer* trainer : together.trainers) trainer->callbacks.should_stop = nullptr;
  results = run_epoch_together(together.trainers, device_engine(runner));
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(results[k].epoch);
    alone.trainers[k]->run_epoch();
    expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-9);
  }
}

TEST(SharedUpdates, TooLittleMemoryIsAnErrorOfAll) {
  const auto runner = std::make_shared<TeamRunner>();
  runner->memory = 1000;
  Group together(3);
  try {
    run_epoch_together(together.trainers, device_engine(runner));
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("3 models at once"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(runner->passes, 0);
}

TEST(SharedUpdates, TheTrainersThatShareUpdates) {
  using Places = std::vector<std::vector<std::size_t>>;
  const auto runner = std::make_shared<TeamRunner>();
  const auto groups = [&](const std::vector<Choices>& choices) {
    std::vector<std::unique_ptr<Trainer>> owned;
    std::vector<Trainer*> trainers;
    for (std::size_t k = 0; k < choices.size(); ++k)
      trainers.push_back(owned.emplace_back(member(static_cast<int>(k), choices[k])).get());
    return SharedUpdates::groups(trainers, device_engine(runner));
  };
  const Choices plain, sgd{.optimizer = {{"kind", "sgd"}}},
      other{.stack = {{"kind", "superposition"}, {"size", 3}}};
  EXPECT_EQ(groups({plain, sgd, plain, other, sgd, other}), (Places{{0, 2}, {1, 4}, {3, 5}}));
  EXPECT_EQ(groups({plain, sgd, other}), (Places{{0}, {1}, {2}}));
  const Choices betas{.optimizer = {{"kind", "adam"}, {"beta1", 0.5}}};
  EXPECT_EQ(groups({plain, betas, plain}), (Places{{0, 2}, {1}}));
  const Choices pieces{.more = {{"chunk", 3}}}, cut{.more = {{"clip_value", 1.0}}};
  EXPECT_EQ(groups({pieces, pieces, cut, cut}), Places{});
  // On the processor nothing is shared.
  Group together(3);
  EXPECT_EQ(SharedUpdates::groups(together.trainers, nullptr), Places{});
  together.trainers[0]->run_epoch();  // has made more steps than the others
  EXPECT_EQ(SharedUpdates::groups(together.trainers, device_engine(runner)), (Places{{0}, {1, 2}}));
}

// If there is a device, without naming a runner; a second run gives the same numbers.
TEST(SharedUpdates, OnTheDevice) {
  try {
    if (cuda_runner(parse_device("cuda")) == nullptr) GTEST_SKIP() << "no CUDA kernels";
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  const Choices on_device{.device = "cuda"};
  Group together(4, on_device), again(4, on_device), single(4, on_device), alone(4);
  ASSERT_EQ(SharedUpdates::groups(together.trainers, nullptr),
            (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}}));
  for (int round = 0; round < 3; ++round)
    for (Group* group : {&together, &again})
      for (const auto& result : run_epoch_together(group->trainers)) EXPECT_EQ(result.error, "");
  for (int k = 0; k < 4; ++k) {
    for (Trainer* trainer : {alone.trainers[k], single.trainers[k]})
      while (trainer->finished().empty()) trainer->run_epoch();
    expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-6);
    expect_same_weights(*single.trainers[k], *alone.trainers[k], 1e-6);
    EXPECT_TRUE(
        same(weights(*together.trainers[k]->model()), weights(*again.trainers[k]->model())));
  }
}

}  // namespace
}  // namespace pushdown::shared_updates_test
