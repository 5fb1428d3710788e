// The joint objective of Mali et al. (2021), equation 1: after every pass t, the network predicts
// the next symbol and whether the whole string is valid,
//   loss = sum over t of  b_x (-log x_t[w_{t+1}])  +  b_y (y_t - y)^2 / 2
// where x_t = softmax of the next symbol's scores, y_t = logistic(score), and y is the label. b_x
// is symbol_weight, b_y validity_weight, both 1 in the paper.
//
// Timing: the paper predicts "x_t and y_t given x_<t" and computes both from z_t, which has read
// x_t. Here they are computed after a symbol was read, so x_t predicts the one that follows. The
// end symbol, if the model has one, is predicted after the last symbol; the pass that reads it has
// the second term alone because nothing follows. The first symbol is not predicted: nothing was
// read yet, so only the bias would learn from it.
//
// negatives = false omits the first term for invalid strings, so that the model learns the language
// alone; the paper sums over every string. average divides the sum by the number of passes.
#include "base/check.h"
#include "train/learning/objective.h"

namespace pushdown {
namespace {

class Joint : public Objective {
 public:
  explicit Joint(const Json& options)
      : symbol_weight_(options["symbol_weight"]),
        validity_weight_(options["validity_weight"]),
        negatives_(options["negatives"]),
        average_(options["average"]) {
    check(symbol_weight_ > 0 || validity_weight_ > 0, "objective.joint",
          "symbol_weight or validity_weight must be above 0");
  }

  Tensor losses(const ObjectiveBatch& batch) const override {
    const Tensor labels = batch.labels.unsqueeze(1);
    Tensor losses = (batch.scores.sigmoid() - labels).square() * (validity_weight_ / 2);  // B x P
    if (symbol_weight_ > 0) losses = losses + symbol_weight_ * symbol_losses(batch);
    if (batch.weights.defined()) losses = losses * batch.weights;
    if (!average_) return losses.sum(1);
    const auto passes = batch.length > 0 ? batch.length * batch.passes : losses.size(1);
    return losses.sum(1) / static_cast<double>(passes);
  }
  std::optional<AnswerCosts> answer_costs() const override {
    return AnswerCosts{true, validity_weight_, symbol_weight_, negatives_};
  }
  bool averaged() const override { return average_; }
  bool needs_next_symbol() const override { return symbol_weight_ > 0; }

 private:
  // B x P
  Tensor symbol_losses(const ObjectiveBatch& batch) const {
    const Tensor follows = batch.next >= 0;
    const Tensor counts =
        negatives_ ? follows : follows.logical_and(batch.labels.unsqueeze(1) > 0.5);
    const Tensor found =
        batch.next_scores.log_softmax(2).gather(2, batch.next.clamp_min(0).unsqueeze(2)).squeeze(2);
    return found.masked_fill(counts.logical_not(), 0).neg();
  }

  double symbol_weight_, validity_weight_;
  bool negatives_, average_;
};

}  // namespace

ObjectiveKind joint_objective() {
  return {"joint",
          "Next symbol and validity after every symbol (Mali et al. 2021, equation 1).",
          {number_option("symbol_weight", 1.0, "weight of the next symbol's cross-entropy", 0)
               .trying(0.7),
           number_option("validity_weight", 1.0, "weight of the squared error of validity", 0)
               .trying(1.9),
           boolean_option("negatives", true, "count the next symbols of invalid strings too"),
           boolean_option("average", false, "use the mean over the symbols instead of the sum")},
          [](const Json& options) -> ObjectivePtr { return std::make_unique<Joint>(options); }};
}

}  // namespace pushdown
