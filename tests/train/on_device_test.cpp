// Shared updates on a device, if there is one.
#include "support/cuda_models.h"
#include "train/groups.h"

namespace pushdown::shared_on_device_test {
namespace {

using namespace testing_support;

// If there is a device, without naming a runner; a second run gives the same numbers.
TEST(SharedUpdatesOnTheDevice, EqualTrainingAlone) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  const GroupChoices on_device{.device = "cuda"};
  TrainerGroup together(4, on_device), again(4, on_device), single(4, on_device), alone(4);
  ASSERT_EQ(SharedUpdates::groups(together.trainers, nullptr),
            (std::vector<std::vector<std::size_t>>{{0, 1, 2, 3}}));
  for (int round = 0; round < 3; ++round)
    for (TrainerGroup* group : {&together, &again})
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
}  // namespace pushdown::shared_on_device_test
