// Common base of all language model training: an epoch is evaluated by the cross-entropy of the
// validation part, or of the training part if there is none.
#pragma once
#include <numeric>

#include "base/check.h"
#include "model/language_model.h"
#include "tensor/backward.h"
#include "train/problems/problem.h"
#include "train/problems/text_reader.h"

namespace pushdown {

using LanguageModelPtr = std::shared_ptr<LanguageModel>;

class LanguageProblem : public Problem {
 public:
  const char* kind() const override { return "language_model"; }
  SequenceModelPtr model() const override { return model_; }
  double value(const EpochMetrics& metrics) const override {
    return metrics.cross_entropy.value_or(metrics.train_cross_entropy);
  }
  void set_best(EpochMetrics& metrics, const EpochMetrics& best) const override {
    metrics.best_cross_entropy = best.cross_entropy.value_or(best.train_cross_entropy);
  }

 protected:
  explicit LanguageProblem(LanguageModelPtr model, GrammarPtr grammar = nullptr)
      : Problem(std::move(grammar)), model_(std::move(model)) {
    check(model_ != nullptr, "train.trainer", "there is no model");
  }

  // Adds the gradient of the mean of -log p over the strings, words : B x n, and returns the sum.
  // `chunk`: see LanguageModel::visit_log_probabilities.
  double differentiate_strings(const Tensor& words, std::int64_t chunk, Random& random) const {
    const auto sum_of = [](const Tensor& losses) {
      const Tensor values = losses.detach().to(at::kCPU, at::kDouble).contiguous();
      return std::accumulate(values.data_ptr<double>(), values.data_ptr<double>() + values.numel(),
                             0.0);
    };
    if (chunk == 0 || chunk >= words.size(1)) {
      const double share = -1.0 / static_cast<double>(words.size(0));
      return sum_of(model_->differentiate(words, share, &random).neg());
    }
    double sum = 0;
    model_->visit_log_probabilities(words, chunk, &random, [&](const Tensor& of_piece) {
      const Tensor losses = of_piece.neg();  // B
      sum += sum_of(losses);
      run_backward(losses.mean());
    });
    return sum;
  }
  // Stores the results of a validation text or set of sentences; returns false if should_stop
  // returned true.
  static bool keep(EpochMetrics& metrics, const std::optional<TextEvaluation>& found) {
    if (!found) return false;
    metrics.cross_entropy = found->cross_entropy;
    metrics.perplexity = found->perplexity;
    return true;
  }

  LanguageModelPtr model_;
};

}  // namespace pushdown
