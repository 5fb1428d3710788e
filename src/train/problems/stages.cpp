#include "train/problems/stages.h"

#include "base/check.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

class StagedProblem : public Problem {
 public:
  explicit StagedProblem(std::vector<ProblemPtr> stages)
      : Problem(stages.front()->grammar()),
        stages_(std::move(stages)),
        options_(stages_.front()->options()),
        fixed_(stages_.front()->fixed_options()) {
    options_.push_back(list_option("stages", Json::array(), "options of the stages, in order"));
    fixed_.push_back("stages");
  }

  const char* kind() const override { return now().kind(); }
  SequenceModelPtr model() const override { return now().model(); }
  const std::vector<OptionSpec>& options() const override { return options_; }
  const std::vector<const char*>& fixed_options() const override { return fixed_; }

  void configure(Json& options) override {
    Json& given = options["stages"];
    check(given.size() == stages_.size(), kWhere,
          "stages must have the options of {} stages, got {}", stages_.size(), given.size());
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      const std::string where = fmt::format("{} stages[{}]", kWhere, k + 1);
      given[k] = resolve_options(where, stage_options(), given[k]);
      check_ends(where, *stages_[k], given[k]);
      stages_[k]->configure(options);
    }
    ends_ = given;
  }

  std::int64_t training_strings() const override { return now().training_strings(); }
  const char* unit() const override { return now().unit(); }
  std::vector<TrainingPhase> phases(std::int64_t batch) const override {
    std::vector<TrainingPhase> all;
    for (std::size_t k = 0; k < stages_.size(); ++k) {
      auto parts = stages_[k]->phases(batch);
      check(parts.size() == 1, kWhere,
            "stages and a curriculum cannot be combined: leave out one of them");
      TrainingPhase& phase = all.emplace_back(std::move(parts.front()));
      phase.stage = static_cast<int>(k) + 1;
      phase.own_validation = true;
      if (const Json& epochs = ends_[k]["epochs"]; !epochs.is_null()) phase.epochs = epochs;
      if (const Json& rate = ends_[k]["learning_rate"]; !rate.is_null())
        phase.learning_rate = rate.get<double>();
    }
    return all;
  }
  void enter(const TrainingPhase& phase) override { stage_ = phase.stage - 1; }
  std::vector<ProblemPtr> earlier_stages() const override {
    return {stages_.begin(), stages_.end() - 1};
  }

  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    return now().size(batch);
  }
  bool loss_per_symbol() const override { return now().loss_per_symbol(); }

  bool in_order() const override { return now().in_order(); }
  std::vector<Tensor> carried(std::int64_t position) const override {
    return now().carried(position);
  }
  void carry_on(std::int64_t position, const std::vector<Tensor>& tensors) override {
    now().carry_on(position, tensors);
  }
  BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) override {
    return now().differentiate(batch, random);
  }
  Tensor symbols_read(const std::vector<std::int64_t>& batch) const override {
    return now().symbols_read(batch);
  }
  std::optional<LikelihoodBatch> likelihood_batch(
      const std::vector<std::int64_t>& batch) const override {
    return now().likelihood_batch(batch);
  }
  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t strings,
               const TrainingPhase& phase, const EvaluationOptions& options) const override {
    return now().measure(metrics, sum, strings, phase, options);
  }
  double value(const EpochMetrics& metrics) const override { return now().value(metrics); }
  void set_best(EpochMetrics& metrics, const EpochMetrics& best) const override {
    now().set_best(metrics, best);
  }
  bool converged(const EpochMetrics& metrics) const override {
    const Json &difference = ends_[stage_]["difference"], &accuracy = ends_[stage_]["accuracy"];
    const auto reached = metrics.accuracy ? metrics.accuracy : metrics.coarse;
    return now().converged(metrics) ||
           (!difference.is_null() && *metrics.cross_entropy_difference <= difference) ||
           (!accuracy.is_null() && reached && *reached >= accuracy);
  }
  const char* convergence() const override { return "the last stage has reached its end"; }

  std::string train_text() const override { return stages_.back()->train_text(); }
  std::optional<std::string> valid_text() const override { return stages_.back()->valid_text(); }
  Json describe_train() const override { return stages_.back()->describe_train(); }
  Json describe_valid() const override { return stages_.back()->describe_valid(); }
  std::vector<OriginPtr> origins() const override { return stages_.back()->origins(); }
  void script_ran() const override {
    for (const ProblemPtr& stage : stages_) stage->script_ran();
  }
  void prepare() const override {
    for (const ProblemPtr& stage : stages_) stage->prepare();
  }

 private:
  Problem& now() const { return *stages_[stage_]; }

  static void check_ends(const std::string& where, const Problem& stage, const Json& options) {
    const bool measured = stage.valid_text().has_value();
    check(options["difference"].is_null() ||
              (measured && stage.describe_valid().contains("lower_bound")),
          where, "difference needs validation strings whose lower bound is known");
    const std::string kind = stage.kind();
    check(options["accuracy"].is_null() || (measured && kind != "language_model"), where,
          "accuracy needs a recognizer with validation strings, or a transducer with test pairs");
  }

  std::vector<ProblemPtr> stages_;
  std::vector<OptionSpec> options_;
  std::vector<const char*> fixed_;
  Json ends_ = Json::array();  // the resolved options of every stage
  std::size_t stage_ = 0;
};

}  // namespace

const std::vector<OptionSpec>& stage_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("epochs", nullptr, "maximum number of epochs of the stage", 1),
      number_option("learning_rate", nullptr,
                    "learning rate at the start of the stage; absent: that of the stage before")
          .between(0, 1e6),
      number_option("difference", nullptr,
                    "cross-entropy difference on the validation strings that ends the stage, in "
                    "nats per symbol"),
      number_option("accuracy", nullptr,
                    "accuracy on the validation strings that ends the stage (coarse accuracy of a "
                    "transducer); 1: without an error")
          .between(0, 1)};
  return specs;
}

ProblemPtr staged(std::vector<ProblemPtr> stages) {
  check(!stages.empty(), kWhere, "stages must be a list of stages, got an empty list");
  return std::make_shared<StagedProblem>(std::move(stages));
}

}  // namespace pushdown
