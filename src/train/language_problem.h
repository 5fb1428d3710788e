// What all trainings of language models have in common: an epoch is judged by the cross-entropy of
// the validation part, or of the training part where there is none.
#pragma once
#include "base/check.h"
#include "model/language_model.h"
#include "train/problem.h"

namespace pushdown {

using LanguageModelPtr = std::shared_ptr<LanguageModel>;

class LanguageProblem : public Problem {
 public:
  const char* kind() const override { return "language_model"; }
  SequenceModelPtr model() const override { return model_; }
  double value(const EpochMetrics& metrics) const override {
    return metrics.cross_entropy.value_or(metrics.train_cross_entropy);
  }
  void set_best(EpochMetrics& metrics, double value) const override {
    metrics.best_cross_entropy = value;
  }

 protected:
  explicit LanguageProblem(LanguageModelPtr model) : model_(std::move(model)) {
    check(model_ != nullptr, "train.trainer", "there is no model");
  }

  LanguageModelPtr model_;
};

}  // namespace pushdown
