// The cross-entropy of the label: the objectives stepwise and final (see objective.h).
#include "train/learning/objective.h"

namespace pushdown {
namespace {

class ValidityCrossEntropy : public Objective {
 public:
  ValidityCrossEntropy(bool every_pass, bool average)
      : every_pass_(every_pass), average_(average) {}

  Tensor losses(const ObjectiveBatch& batch) const override {
    Tensor scores = batch.scores, weights = batch.weights;
    if (!every_pass_) {
      if (!batch.ends) return at::zeros_like(batch.labels);
      // The last pass may have been skipped; its score is then that of the previous pass.
      scores = scores.narrow(1, scores.size(1) - 1, 1);
      weights = Tensor();
    }
    // -y log s - (1 - y) log(1 - s) = log(1 + exp(x)) - x y without overflow, s = logistic(x)
    Tensor losses = at::softplus(scores) - scores * batch.labels.unsqueeze(1);
    if (weights.defined()) losses = losses * weights;
    if (!average_) return losses.sum(1);
    const auto passes = batch.length > 0 ? batch.length * batch.passes : scores.size(1);
    return losses.sum(1) / static_cast<double>(passes);
  }
  std::optional<bool> cross_entropy_of_every_pass() const override { return every_pass_; }
  std::optional<AnswerCosts> answer_costs() const override {
    return every_pass_ ? std::optional(AnswerCosts{}) : std::nullopt;
  }
  bool averaged() const override { return average_; }

 private:
  bool every_pass_, average_;
};

}  // namespace

ObjectiveKind stepwise_objective() {
  return {"stepwise",
          "Cross-entropy of the label after every symbol (Mali et al. 2019, equation 7).",
          {boolean_option("average", false, "use the mean over the symbols instead of the sum")},
          [](const Json& options) -> ObjectivePtr {
            return std::make_unique<ValidityCrossEntropy>(true, options["average"]);
          },
          {{{1.0, 0.0}, true, 1.0064088680781681}}};
}

ObjectiveKind final_objective() {
  return {"final",
          "Cross-entropy of the label at the end of the string.",
          {},
          [](const Json&) -> ObjectivePtr {
            return std::make_unique<ValidityCrossEntropy>(false, false);
          },
          {{{9.0, 0.5}, true, 0.47407698418010668}, {{9.0, 0.5}, false, 0.97407698418010668}}};
}

}  // namespace pushdown
