// Updates of several trainers made as one on a device: their models' log-probabilities and
// gradients are one launch (model/likelihoods_together.h), and their optimizers' steps operations
// on all models at once. A device that a single model leaves idle does the work of many in little
// more time. Each trainer's numbers are those of training it alone, but for rounding.
#pragma once
#include "model/likelihoods_together.h"
#include "train/together.h"

namespace pushdown {

class SharedUpdates {
 public:
  // Which of the trainers share their updates: groups of two or more, as places in the list.
  // `engine`: what runs the models; null: the device where they are, if there are kernels for it.
  // Trainers go together whose models differ in the values of their parameters alone, whose
  // optimizers differ in the learning rate alone and have made as many steps, and whose gradient is
  // that of -log p: without pieces of strings, noise on weights, frozen entries or clip_value.
  static std::vector<std::vector<std::size_t>> groups(const std::vector<Trainer*>& trainers,
                                                      const StepEnginePtr& engine);

  SharedUpdates(std::vector<Trainer*> trainers, std::vector<TogetherResult*> results,
                StepEnginePtr engine);

  // Updates until at most one trainer has any left in its running epoch. A trainer that fails or
  // is stopped, as its result then says, drops out. std::runtime_error where the device's memory
  // does not do for all.
  void run();

 private:
  struct Member {
    Trainer* trainer;
    TogetherResult* result;
  };
  void update();

  std::vector<Member> members_;
  StepEnginePtr engine_;
};

}  // namespace pushdown
