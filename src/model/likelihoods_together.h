// Training updates of several language models on a device: the log-likelihoods of strings, their
// gradients and the steps of the optimizers, all models in each launch.
#pragma once
#include "model/language_model.h"
#include "model/step_engine.h"

namespace pushdown {

// Returns the engine of this model on its device if the model can be one of several, otherwise
// null.
StepEnginePtr engine_of(const LanguageModel& model);
// Returns whether the two models can be in one launch.
bool can_go_together(const LanguageModel& first, const LanguageModel& second);

class LikelihoodsTogether {
 public:
  // The models can be in one launch. rows : M x P; the parameters of model m are views of row m,
  // in the same order for all (tensor/common_rows.h).
  LikelihoodsTogether(std::vector<const LanguageModel*> models, Tensor rows, StepEnginePtr engine);

  // Computes log p(w), as LanguageModel::log_probabilities, of strings of each model, and the
  // gradient of the loss, the sum of -shares[m] log p(w). The strings of different models may
  // differ in length: words[m] : B_m x n_m. Each sequence takes as many steps as it has symbols.
  // What the launches need is kept for further calls, and made again only for larger batches or
  // longer strings than ever before.
  std::vector<DeviceUpdateSums> differentiate(std::vector<Tensor> words,
                                              std::vector<double> shares);
  // The steps of the optimizers and the results of the last call.
  DeviceUpdates& updates() { return *updates_; }

 private:
  std::vector<const LanguageModel*> models_;
  Tensor rows_;
  StepEnginePtr engine_;
  std::int64_t batch_ = 1, steps_ = 1;  // of updates_
  std::unique_ptr<DeviceUpdates> updates_;
};

}  // namespace pushdown
