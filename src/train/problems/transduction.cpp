#include "train/problems/transduction.h"

#include <cmath>

#include "base/check.h"
#include "task/pair_text.h"
#include "tensor/backward.h"
#include "train/evaluation/transduction_accuracy.h"
#include "train/problems/problem_kinds.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

class TransductionProblem : public Problem {
 public:
  TransductionProblem(TransducerPtr model, PairSourcePtr train, PairSourcePtr test)
      : model_(std::move(model)), train_(std::move(train)), test_(std::move(test)) {
    check(model_ != nullptr, kWhere, "there is no model");
    check(train_ != nullptr, kWhere, "there are no training pairs");
    check_alphabets(kWhere, *model_, *train_);
    if (test_ != nullptr) check_alphabets(kWhere, *model_, *test_);
  }

  const char* kind() const override { return "transducer"; }
  SequenceModelPtr model() const override { return model_; }
  const std::vector<OptionSpec>& options() const override { return transduction_options(); }
  const std::vector<const char*>& fixed_options() const override {
    static const std::vector<const char*> names{"epoch_batches", "accuracy_every",
                                                "accuracy_pairs"};
    return names;
  }
  void configure(Json& options) override {
    batch_ = options["batch"];
    epoch_batches_ = options["epoch_batches"];
    accuracy_every_ = options["accuracy_every"];
    accuracy_pairs_ = options["accuracy_pairs"];
    stop_perplexity_ = options["stop_perplexity"];
    padded_ = options["pad_targets"];
    seed_ = options["seed"];
    mean_of_symbols_ = options["average"] == "batches";
    if (options["average"] == "symbols") pair_symbols_ = mean_symbols();
  }

  std::int64_t training_strings() const override { return epoch_batches_ * batch_; }
  const char* unit() const override { return "number of pairs in an epoch"; }
  // A batch is the index of its update in the epoch, repeated once for each pair.
  std::vector<TrainingPhase> phases(std::int64_t batch) const override {
    TrainingPhase phase;
    for (std::int64_t update = 0; update < epoch_batches_; ++update)
      phase.batches.emplace_back(batch, update);
    return {std::move(phase)};
  }
  bool in_order() const override { return true; }
  // The pairs of an update are not known before it.
  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    const auto pairs = static_cast<double>(batch.size());
    return {pairs, pairs * pair_symbols_};
  }

  BatchLoss differentiate(const std::vector<std::int64_t>&, Random& random) override {
    const JointBatch batch = joint(train_->draw(batch_, random));
    const Tensor losses = model_->losses(batch, &random);
    BatchLoss sum;
    sum.loss = losses.detach().sum(at::kDouble).item<double>();
    sum.units = static_cast<double>(losses.numel());
    run_backward(losses.sum() / (mean_of_symbols_ ? sum.units : static_cast<double>(batch_)));
    return sum;
  }

  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t, const TrainingPhase&,
               const EvaluationOptions& options) const override {
    metrics.train_cross_entropy = sum.loss / sum.units;
    metrics.train_perplexity = std::exp(metrics.train_cross_entropy);
    if (accuracy_every_ == 0 || metrics.epoch % accuracy_every_ != 0) return true;
    const auto measured = [&](const PairSource& source, const char* name,
                              std::optional<double>& coarse, std::optional<double>& fine) {
      Random random(seed_, fmt::format("{} of epoch {}", name, metrics.epoch));
      const auto found = evaluate(*model_, source.draw(accuracy_pairs_, random), options);
      if (!found) return false;
      coarse = found->all.coarse();
      fine = found->all.fine();
      return true;
    };
    return measured(*train_, "training pairs", metrics.train_coarse, metrics.train_fine) &&
           (test_ == nullptr || measured(*test_, "test pairs", metrics.coarse, metrics.fine));
  }
  double value(const EpochMetrics& metrics) const override { return metrics.train_cross_entropy; }
  void set_best(EpochMetrics& metrics, const EpochMetrics& best) const override {
    metrics.best_cross_entropy = value(best);
  }

  bool converged(const EpochMetrics& metrics) const override {
    return *metrics.train_perplexity < stop_perplexity_;
  }
  const char* convergence() const override {
    return "the training perplexity is below stop_perplexity";
  }

  std::string train_text() const override { return to_text(*train_); }
  std::optional<std::string> valid_text() const override {
    return test_ ? std::optional(to_text(*test_)) : std::nullopt;
  }
  Json describe_train() const override { return train_->describe(); }
  Json describe_valid() const override { return test_->describe(); }

 private:
  // Returns the mean number of target symbols and ends of a pair. The mean of a fixed sample is
  // enough: it changes the length of all gradients, but not their direction.
  double mean_symbols() const {
    constexpr std::int64_t kSample = 1000;
    Random random(seed_, "lengths of pairs");
    double symbols = 0;
    // One by one, because the pairs of one draw may have one length.
    for (std::int64_t i = 0; i < kSample; ++i)
      symbols += static_cast<double>(train_->draw(1, random).front().target.size()) +
                 (model_->along() ? 0 : 1);
    return symbols / static_cast<double>(kSample);
  }

  JointBatch joint(const std::vector<Pair>& pairs) const {
    std::vector<Word> sources, targets;
    for (const auto& [source, target] : pairs) {
      sources.push_back(source);
      targets.push_back(target);
    }
    return model_->joint(sources, targets, padded_);
  }

  TransducerPtr model_;
  PairSourcePtr train_, test_;
  std::int64_t batch_ = 0, epoch_batches_ = 0, accuracy_every_ = 0, accuracy_pairs_ = 0;
  double stop_perplexity_ = 0;
  bool mean_of_symbols_ = false, padded_ = false;
  double pair_symbols_ = 1;
  std::uint64_t seed_ = 0;
};

}  // namespace

const std::vector<OptionSpec>& transduction_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("epoch_batches", 100, "number of updates per epoch", 1),
      integer_option("accuracy_every", 10,
                     "number of epochs between measurements of accuracy on new pairs; 0: never", 0),
      integer_option("accuracy_pairs", 1000, "number of pairs for each measurement of accuracy", 1),
      number_option("stop_perplexity", 0.0,
                    "training perplexity of an epoch below which training ends; 0: never", 0),
      boolean_option("pad_targets", false,
                     "after its end, each target is padded with the first target symbol to the "
                     "length of its source; needs feedback = false; not measured")};
  return specs;
}

ProblemPtr transduction(TransducerPtr model, PairSourcePtr train, PairSourcePtr test) {
  return std::make_shared<TransductionProblem>(std::move(model), std::move(train), std::move(test));
}

namespace {

const std::vector<OptionSpec>& pair_evaluation() {
  static const std::vector<OptionSpec> specs{
      integer_option("pairs", 1000, "number of pairs that are drawn and measured", 1),
      integer_option("seed", 0, "random seed of these pairs", 0),
      integer_option("batch", 10, "number of pairs measured at once", 1),
      integer_option("bin_width", 10,
                     "width of the bins by source length in symbols; bins start at its multiples",
                     1)};
  return specs;
}

std::optional<Json> evaluate_pairs(const Measurement& of) {
  const auto& model = of.model_as<Transducer>();
  const PairSource& source = *of.data_as<PairSourcePtr>();
  check_alphabets("train.evaluate", model, source);
  Random random(of.options["seed"].get<std::uint64_t>(), "pairs to be measured");
  const auto pairs = source.draw(of.options["pairs"], random);
  const auto found = evaluate(model, pairs, evaluation_options(of));
  auto result = as_json(found);
  if (!result) return result;
  (*result)["wrong"] = Json::array();
  for (const auto index : found->wrong)
    (*result)["wrong"].push_back({{"source", source.source_alphabet().text(pairs[index].source)},
                                  {"target", source.target_alphabet().text(pairs[index].target)}});
  return result;
}

}  // namespace

ProblemKind transducer_problem() {
  return {.name = "transducer",
          .doc = "a transducer",
          .model = "transducer",
          .model_name = "Transducer",
          .data = place_of_data<PairSourcePtr>(),
          .second = "test",
          .options = transduction_options,
          .evaluation_options = pair_evaluation,
          .make =
              [](const ProblemParts& parts) {
                return transduction(parts.model_as<Transducer>(), parts.train_as<PairSourcePtr>(),
                                    parts.second_as<PairSourcePtr>());
              },
          .evaluate = evaluate_pairs,
          .parse = [](const std::string& text, const std::string& file) -> ProblemData {
            return parse_pair_source(text, file);
          }};
}

}  // namespace pushdown
