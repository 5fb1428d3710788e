// Shared updates of several trainers, by printed code and the kernels of updates on a replacement
// for a device, compared with the same trainers alone. label: long
#include "train/shared_updates.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/stand_in_device.h"
#include "train/groups.h"

namespace pushdown::shared_updates_test {
namespace {

using namespace testing_support;

TEST(SharedUpdates, GiveTheNumbersOfTrainingAlone) {
  const Json kVector{{"kind", "vector_nondeterministic"}, {"size", 2}};
  for (const GroupChoices& choices :
       {GroupChoices{},
        GroupChoices{.stack = {{"kind", "superposition"}, {"size", 3}}, .end_symbol = true},
        GroupChoices{.optimizer = {{"kind", "rmsprop"}, {"momentum", 0.5}}, .stack = kVector},
        GroupChoices{.optimizer = {{"kind", "rmsprop"}, {"weight_decay", 0.01}}},
        GroupChoices{.optimizer = {{"kind", "sgd"}, {"momentum", 0.9}, {"nesterov", true}}},
        GroupChoices{.optimizer = {{"kind", "sgd"}, {"momentum", 0.9}, {"weight_decay", 0.02}}},
        GroupChoices{.optimizer = {{"kind", "adamw"}, {"weight_decay", 0.1}}},
        GroupChoices{.optimizer = {{"kind", "sgd"}}, .stack = {{"kind", "none"}}}}) {
    const auto device = std::make_shared<StandInDevice>();
    TrainerGroup together(4, choices);
    ASSERT_EQ(SharedUpdates::groups(together.trainers, device_engine(device)),
              (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}}));
    TrainerGroup alone(4, choices);
    std::int64_t shared_rounds = 0;
    for (int round = 0; round < 3; ++round) {
      // A round of shared updates takes two passes. A trainer with more updates than the others of
      // its group makes the rest by itself.
      for (const auto& group : SharedUpdates::groups(together.trainers, device_engine(device))) {
        std::int64_t most = 0;
        for (const std::size_t k : group)
          most = std::max(most, together.trainers[k]->updates_left());
        shared_rounds += most;
      }
      const auto results = run_epoch_together(together.trainers, device_engine(device));
      for (int k = 0; k < 4; ++k) {
        EXPECT_EQ(results[k].error, "");
        EXPECT_EQ(results[k].epoch.has_value(), round < 2 + k % 2);
      }
      // The next round goes on from the last update all the same.
      for (Trainer* trainer : together.trainers) trainer->use_best();
    }
    for (Trainer* trainer : together.trainers) trainer->use_last();
    EXPECT_EQ(device->passes(), 2 * shared_rounds);
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
  const GroupChoices choices{.optimizer = {{"kind", "adamw"}, {"weight_decay", 0.1}}};
  TrainerGroup together(2, choices);
  Tensor frozen = together.trainers[1]->model()->parameters().front().second;
  frozen.set_requires_grad(false);
  const Tensor before = frozen.detach().clone();
  const auto engine = device_engine(std::make_shared<StandInDevice>());
  EXPECT_EQ(SharedUpdates::groups(together.trainers, engine),
            (std::vector<std::vector<std::size_t>>{{0}}));
  together.trainers[1]->engine = engine;
  run_epoch_together(together.trainers, engine);
  EXPECT_TRUE(at::equal(frozen.detach(), before));
}

// The parameters are in common memory now. Checkpoints and separate training still work.
TEST(SharedUpdates, TrainersContinueAlone) {
  const Scratch scratch;
  TrainerGroup together(3), alone(3);
  run_epoch_together(together.trainers, device_engine(std::make_shared<StandInDevice>()));
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
  const auto device = std::make_shared<StandInDevice>();
  const auto run = [&](const GroupChoices& choices, std::int64_t updates_by_kernels) {
    const Scratch scratch;
    const auto one = member(0, choices), plain = member(0, choices);
    one->engine = device_engine(device);
    const auto before = device->passes();
    int asked = 0;
    one->callbacks.should_stop = [&] { return ++asked > 4; };
    EXPECT_FALSE(one->run_epoch());
    EXPECT_EQ(one->updates_done(), 4);
    one->callbacks.should_stop = nullptr;
    one->save(scratch.path() / "run");
    EXPECT_TRUE(one->run_epoch());
    EXPECT_EQ(device->passes() - before, 2 * updates_by_kernels);
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
  one->engine = device_engine(device);
  one->model()->parameters()[0].second.detach().fill_(std::nan(""));
  EXPECT_THROW(one->run_epoch(), std::runtime_error);
  EXPECT_EQ(one->updates_done(), 0);
}

TEST(SharedUpdates, OneFailureLeavesTheOthersAlone) {
  TrainerGroup together(3), alone(3);
  together.trainers[1]->model()->parameters()[0].second.detach().fill_(std::nan(""));
  const auto results =
      run_epoch_together(together.trainers, device_engine(std::make_shared<StandInDevice>()));
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
  const auto device = std::make_shared<StandInDevice>();
  TrainerGroup together(2), alone(2);
  int asked = 0;
  for (Trainer* trainer : together.trainers)
    trainer->callbacks.should_stop = [&] { return ++asked > 10; };
  auto results = run_epoch_together(together.trainers, device_engine(device));
  EXPECT_TRUE(results[0].stopped && results[1].stopped);
  EXPECT_EQ(together.trainers[0]->updates_done(), 5);
  for (Trainer* trainer : together.trainers) trainer->callbacks.should_stop = nullptr;
  results = run_epoch_together(together.trainers, device_engine(device));
  for (int k = 0; k < 2; ++k) {
    EXPECT_TRUE(results[k].epoch);
    alone.trainers[k]->run_epoch();
    expect_same_weights(*together.trainers[k], *alone.trainers[k], 1e-9);
  }
}

TEST(SharedUpdates, TooLittleMemoryIsAnErrorOfAll) {
  const auto device = std::make_shared<StandInDevice>();
  device->memory = 1000;
  TrainerGroup together(3);
  try {
    run_epoch_together(together.trainers, device_engine(device));
    ADD_FAILURE() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("3 models at once"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(device->passes(), 0);
}

TEST(SharedUpdates, TheTrainersThatShareUpdates) {
  using Places = std::vector<std::vector<std::size_t>>;
  const auto device = std::make_shared<StandInDevice>();
  const auto groups = [&](const std::vector<GroupChoices>& choices) {
    std::vector<std::unique_ptr<Trainer>> owned;
    std::vector<Trainer*> trainers;
    for (std::size_t k = 0; k < choices.size(); ++k)
      trainers.push_back(owned.emplace_back(member(static_cast<int>(k), choices[k])).get());
    return SharedUpdates::groups(trainers, device_engine(device));
  };
  const GroupChoices plain, sgd{.optimizer = {{"kind", "sgd"}}},
      other{.stack = {{"kind", "superposition"}, {"size", 3}}};
  EXPECT_EQ(groups({plain, sgd, plain, other, sgd, other}), (Places{{0, 2}, {1, 4}, {3, 5}}));
  EXPECT_EQ(groups({plain, sgd, other}), (Places{{0}, {1}, {2}}));
  const GroupChoices betas{.optimizer = {{"kind", "adam"}, {"beta1", 0.5}}};
  EXPECT_EQ(groups({plain, betas, plain}), (Places{{0, 2}, {1}}));
  const GroupChoices pieces{.more = {{"chunk", 3}}}, cut{.more = {{"clip_value", 1.0}}};
  EXPECT_EQ(groups({pieces, pieces, cut, cut}), Places{});
  // On the processor nothing is shared.
  TrainerGroup together(3);
  EXPECT_EQ(SharedUpdates::groups(together.trainers, nullptr), Places{});
  together.trainers[0]->run_epoch();  // has made more steps than the others
  EXPECT_EQ(SharedUpdates::groups(together.trainers, device_engine(device)), (Places{{0}, {1, 2}}));
}

}  // namespace
}  // namespace pushdown::shared_updates_test
