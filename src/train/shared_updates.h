// Performs the updates of several trainers together on a device, all models in each launch
// (optimizing/common_updates.h). A device that a single model cannot fill processes many models in
// little more time. Each trainer's results equal those of training it alone, up to rounding.
#pragma once
#include <functional>

#include "train/optimizing/common_updates.h"
#include "train/together.h"

namespace pushdown {

class SharedUpdates {
 public:
  // Returns the trainers that share their updates as groups of indices into the list; a group may
  // be one trainer.
  // `engine`: the engine for the models; null: the one of their device, if it has kernels. Trainers
  // can share updates if their models differ only in the values of their parameters, their
  // optimizers differ only in the learning rate and have made the same number of steps, and their
  // gradient is that of -log p: without pieces of strings, noise on weights, frozen entries or
  // clip_value.
  static std::vector<std::vector<std::size_t>> groups(const std::vector<Trainer*>& trainers,
                                                      const StepEnginePtr& engine);

  SharedUpdates(std::vector<Trainer*> trainers, std::vector<TogetherResult*> results,
                StepEnginePtr engine);

  // Makes the updates that are left in the current epoch of each trainer. A trainer that fails or
  // is stopped, as its result then says, is removed. Throws std::runtime_error if the device does
  // not have enough memory for all.
  void run();

 private:
  struct Member {
    Trainer* trainer;
    TogetherResult* result;
  };
  // Removes members. The others' tensors are no longer all the rows.
  void remove(const std::function<bool(const Member&)>& over);
  void update();

  std::vector<Member> members_;
  CommonUpdates updates_;
};

}  // namespace pushdown
