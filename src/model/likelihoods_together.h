// The log-probabilities of strings by several language models in one launch on a device.
#pragma once
#include "model/language_model.h"
#include "model/step_engine.h"

namespace pushdown {

// What runs this model on its device, where it can be one of several: null otherwise.
StepEnginePtr engine_of(const LanguageModel& model);
// Whether the two can be in one launch.
bool can_go_together(const LanguageModel& first, const LanguageModel& second);

// log p(w), as LanguageModel::log_probabilities, of strings of each of M models that go together,
// each with strings of its own length: words[m] : B_m x n_m -> M x B, where B is the largest B_m
// and the result is 0 where there is no string. Differentiable in the parameters of all models.
// Each sequence takes as many steps as it has symbols.
Tensor log_probabilities_together(const std::vector<const LanguageModel*>& models,
                                  const std::vector<Tensor>& words, const StepEnginePtr& engine);

}  // namespace pushdown
