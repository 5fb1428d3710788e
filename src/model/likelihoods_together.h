// Computes the log-probabilities of strings under several language models in one launch on a
// device.
#pragma once
#include "model/language_model.h"
#include "model/step_engine.h"

namespace pushdown {

// Returns the engine of this model on its device if the model can be one of several, otherwise
// null.
StepEnginePtr engine_of(const LanguageModel& model);
// Returns whether the two models can be in one launch.
bool can_go_together(const LanguageModel& first, const LanguageModel& second);

// Returns log p(w), as LanguageModel::log_probabilities, of strings of each of M models that can be
// in one launch. The strings of different models may differ in length: words[m] : B_m x n_m -> M x
// B, where B is the largest B_m and the result is 0 if there is no string. Differentiable in the
// parameters of all models. Each sequence takes as many steps as it has symbols.
Tensor log_probabilities_together(const std::vector<const LanguageModel*>& models,
                                  const std::vector<Tensor>& words, const StepEnginePtr& engine);

}  // namespace pushdown
