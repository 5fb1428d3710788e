#include "train/problems/recognition.h"

#include "base/check.h"
#include "task/curriculum.h"
#include "task/dataset.h"
#include "task/dataset_text.h"
#include "train/evaluation/accuracy.h"
#include "train/learning/learning.h"
#include "train/problems/problem_kinds.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

const std::vector<OptionSpec>& curriculum_options() {
  static const std::vector<OptionSpec> specs{
      text_option("kind", "sequential", "the order of the strings", curriculum_kinds()),
      integer_option("threshold", 14, "two_stage: maximum length of the strings of the first stage",
                     1),
      list_option(
          "epochs", Json::array(),
          "number of epochs in random order at the end of each stage; empty: as in the paper"),
      integer_option("step", 1,
                     "incremental, two_stage: increase of the maximum length from stage to stage",
                     1),
      text_option("stage_end", "epochs",
                  "what ends a stage: convergence or its epochs; the same but for the last stage, "
                  "which has no number of epochs; convergence alone",
                  stage_ends())};
  return specs;
}

Json described(const LabelledDataset& dataset) {
  return {{"strings", dataset.size()},
          {"positives", dataset.positives()},
          {"symbols", dataset.symbol_count()},
          {"shortest", dataset.shortest()},
          {"longest", dataset.longest()}};
}

class RecognitionProblem : public Problem {
 public:
  RecognitionProblem(RecognizerPtr model, LabelledDatasetPtr train, LabelledDatasetPtr valid,
                     const std::vector<ObjectiveKind>& objectives, GrammarPtr grammar)
      : Problem(std::move(grammar)),
        model_(std::move(model)),
        train_(std::move(train)),
        valid_(std::move(valid)),
        objectives_(objectives) {
    check(model_ != nullptr, kWhere, "there is no model");
    check(train_ != nullptr, kWhere, "there is no training set");
    check_alphabets(kWhere, *model_, train_->alphabet());
    if (valid_ != nullptr) check_alphabets(kWhere, *model_, valid_->alphabet());
    if (grammar_ != nullptr) {
      check(valid_ != nullptr, kWhere, "grammar needs validation strings to measure");
      check_alphabets(kWhere, *model_, grammar_->alphabet());
      valid_next_ = std::make_shared<NextSymbols>(next_symbols(*grammar_, valid_->words()));
    }
  }

  const char* kind() const override { return "recognizer"; }
  SequenceModelPtr model() const override { return model_; }
  const std::vector<OptionSpec>& options() const override { return recognition_options(); }
  const std::vector<const char*>& fixed_options() const override {
    static const std::vector<const char*> names{"objective", "learning", "curriculum",
                                                "batch_symbols", "best_by"};
    return names;
  }

  void configure(Json& options) override {
    options["objective"] = resolve_objective(options["objective"], objectives_);
    options["learning"] = resolve_learning(options["learning"]);
    options["curriculum"] =
        resolve_options("train.trainer curriculum", curriculum_options(), options["curriculum"]);
    objective_ = make_objective(options["objective"], objectives_);
    check(!objective_->needs_next_symbol() || model_->predicts_next_symbol(), kWhere,
          "the objective '{}' needs a recognizer with next_symbol = true",
          options["objective"]["kind"].get<std::string>());
    check(!objective_->needs_next_sets() || train_->next_symbols() != nullptr, kWhere,
          "the objective '{}' needs training strings with next symbols "
          "(labelled:with_next_symbols)",
          options["objective"]["kind"].get<std::string>());
    learning_ = make_learning(options["learning"]);
    curriculum_.kind = options["curriculum"]["kind"];
    curriculum_.threshold = options["curriculum"]["threshold"];
    curriculum_.step = options["curriculum"]["step"];
    curriculum_.stage_end = options["curriculum"]["stage_end"];
    curriculum_.epochs.clear();
    for (const auto& epochs : options["curriculum"]["epochs"]) {
      check(epochs.is_number_integer(), kWhere, "the curriculum's epochs must be integers, got {}",
            epochs.dump());
      curriculum_.epochs.push_back(epochs.get<std::int64_t>());
    }
    stop_accuracy_ = options["stop_accuracy"];
    batch_symbols_ = options["batch_symbols"];
    best_by_ = options["best_by"];
    check(best_by_ != "label_cross_entropy" || valid_ != nullptr, kWhere,
          "best_by = 'label_cross_entropy' needs validation strings");
    check(best_by_ != "next_symbols" ||
              (valid_next_ != nullptr && model_->predicts_next_symbol() && valid_->positives() > 0),
          kWhere,
          "best_by = 'next_symbols' needs a grammar, a recognizer with next_symbol = true, and "
          "valid strings to validate");
    check(best_by_ != "label_cross_entropy" || model_->affine(), kWhere,
          "best_by = 'label_cross_entropy' needs a recognizer whose answers are probabilities "
          "(output = 'affine')");
  }

  std::int64_t training_strings() const override { return train_->size(); }

  std::vector<TrainingPhase> phases(std::int64_t batch) const override {
    std::vector<TrainingPhase> phases;
    for (const auto& part : curriculum(*train_, curriculum_)) {
      phases.push_back({batch_symbols_ > 0
                            ? batches_of_symbols(train_->words(), part.strings, batch_symbols_)
                            : equal_length_batches(train_->words(), part.strings, batch),
                        part.epochs, part.stage});
      // Without a curriculum, only the trainer's own number of epochs is the limit.
      if (curriculum_.kind == "sequential") phases.back().epochs = kNoEpochLimit;
    }
    return phases;
  }

  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    const auto strings = static_cast<double>(batch.size());
    const auto length = train_->words()[batch.front()].size();
    const auto read = length + (model_->end_symbol() ? 1 : 0);
    return {strings, strings * static_cast<double>(std::max<std::size_t>(read, 1))};
  }
  bool loss_per_symbol() const override { return objective_->averaged(); }

  Tensor symbols_read(const std::vector<std::int64_t>& batch) const override {
    return learning_->by_backward_passes() ? word_tensor(train_->words(), batch) : Tensor();
  }

  BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) override {
    StringBatch strings;
    strings.words = word_tensor(train_->words(), batch);
    strings.labels = at::empty({static_cast<std::int64_t>(batch.size())}, at::kDouble);
    for (std::size_t i = 0; i < batch.size(); ++i)
      strings.labels.data_ptr<double>()[i] = train_->labels()[batch[i]] ? 1 : 0;
    if (!train_->dead_ends().empty()) strings.viable = hopeless_after(batch, strings.words.size(1));
    if (objective_->needs_next_sets()) strings.next_sets = next_sets(batch);
    const auto result = learning_->gradient(*model_, *objective_, strings, random);
    BatchLoss sum;
    sum.units = static_cast<double>(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      sum.loss += result.losses[i];
      sum.correct += model_->agrees(result.scores[i], train_->labels()[batch[i]]);
    }
    return sum;
  }

  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t strings,
               const TrainingPhase& phase, const EvaluationOptions& options) const override {
    metrics.train_loss = sum.loss / sum.units;
    for (const auto& batch : phase.batches)
      metrics.symbols += static_cast<std::int64_t>(batch.size()) *
                         static_cast<std::int64_t>(train_->words()[batch.front()].size());
    if (stop_accuracy_ > 0) {
      // Evaluates the model as it is now and in evaluation mode; training passes may differ from
      // it.
      std::vector<std::int64_t> learned;
      for (const auto& batch : phase.batches)
        learned.insert(learned.end(), batch.begin(), batch.end());
      const auto result = evaluate(*model_, *train_, options, &learned);
      if (!result) return false;
      metrics.train_accuracy = result->all.accuracy();
    } else {
      metrics.train_accuracy = static_cast<double>(sum.correct) / static_cast<double>(strings);
    }
    if (valid_ == nullptr) return true;
    EvaluationOptions of_valid = options;
    of_valid.next_symbols = valid_next_;
    const auto result = evaluate(*model_, *valid_, of_valid);
    if (!result) return false;
    metrics.accuracy = result->all.accuracy();
    metrics.label_cross_entropy = result->label_cross_entropy(result->all);
    metrics.prefix_accuracy = result->prefix_accuracy(result->all);
    metrics.next_symbol_accuracy = result->next_symbol_accuracy(result->all);
    metrics.next_symbol_ranking = result->next_symbol_ranking(result->all);
    return true;
  }
  double value(const EpochMetrics& metrics) const override {
    if (best_by_ == "label_cross_entropy") return *metrics.label_cross_entropy;
    if (best_by_ == "next_symbols") return 1 - *metrics.next_symbol_ranking;
    return 1 - metrics.accuracy.value_or(*metrics.train_accuracy);
  }
  void set_best(EpochMetrics& metrics, const EpochMetrics& best) const override {
    const auto& accuracy = best.accuracy ? best.accuracy : best.train_accuracy;
    metrics.best_accuracy = accuracy.value_or(EpochMetrics::kNone);
  }
  bool converged(const EpochMetrics& metrics) const override {
    return stop_accuracy_ > 0 && *metrics.train_accuracy >= stop_accuracy_;
  }
  std::vector<OriginPtr> origins() const override {
    auto all = Problem::origins();
    if (objective_ != nullptr && objective_->origin() != nullptr)
      all.push_back(objective_->origin());
    return all;
  }
  void script_ran() const override { objective_->script_ran(); }
  const char* convergence() const override {
    return "all training strings are correctly classified";
  }

  std::string train_text() const override { return to_text(*train_); }
  std::optional<std::string> valid_text() const override {
    return valid_ ? std::optional(to_text(*valid_)) : std::nullopt;
  }
  Json describe_train() const override { return described(*train_); }
  Json describe_valid() const override { return described(*valid_); }

 private:
  // Returns StringBatch::next_sets.
  Tensor next_sets(const std::vector<std::int64_t>& batch) const {
    const auto outcomes = train_->alphabet().size() + 1;
    const auto places = std::ssize(train_->words()[batch.front()]) + 1;
    const Tensor sets = at::zeros({std::ssize(batch), places, outcomes}, at::kLong);
    auto* to = sets.data_ptr<std::int64_t>();
    for (const auto b : batch) {
      const auto& of_string = (*train_->next_symbols())[b];
      for (std::int64_t t = 0; t < places; ++t, to += outcomes)
        for (std::int64_t v = 0; v < outcomes && !of_string.empty(); ++v)
          to[v] = 1 + static_cast<std::int64_t>(of_string[t] >> v & 1);
    }
    return sets;
  }
  // Returns the number of symbols after which each string is a dead end, or more than are read if
  // it never is.
  Tensor hopeless_after(const std::vector<std::int64_t>& batch, std::int64_t length) const {
    Tensor after = at::empty({static_cast<std::int64_t>(batch.size())}, at::kLong);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto dead_end = train_->dead_ends()[batch[i]];
      after.data_ptr<std::int64_t>()[i] = dead_end > 0 ? dead_end : length + 2;
    }
    return after;
  }

  RecognizerPtr model_;
  LabelledDatasetPtr train_, valid_;
  NextSymbolsPtr valid_next_;
  std::vector<ObjectiveKind> objectives_;
  ObjectivePtr objective_;
  LearningPtr learning_;
  CurriculumOptions curriculum_;
  double stop_accuracy_ = 0;
  std::int64_t batch_symbols_ = 0;
  std::string best_by_;
};

}  // namespace

const std::vector<OptionSpec>& recognition_options() {
  static const std::vector<OptionSpec> specs{
      table_option("objective", Json{{"kind", "stepwise"}},
                   "training objective: kind and its options")
          .holding(&options_by_kind<&objective_kinds>),
      table_option("learning", Json{{"kind", "bptt"}}, "learning algorithm: kind and its options")
          .holding(&options_by_kind<&learning_kinds>),
      table_option("curriculum", Json{{"kind", "sequential"}},
                   "order of the strings: kind (sequential, incremental, two_stage), threshold, "
                   "epochs, step, stage_end")
          .holding([] {
            return std::vector<KindOptions>{{"", curriculum_options()}};
          }),
      number_option("stop_accuracy", 1.0,
                    "accuracy on the training strings of a phase that ends the phase; 0: never", 0)
          .between(0, 1),
      integer_option("batch_symbols", 0,
                     "largest number of symbols of an update, whose strings have one length, in "
                     "place of batch; 0: batch strings",
                     0),
      text_option(
          "best_by", "accuracy",
          "what makes an epoch the best: the largest accuracy, the smallest cross-entropy of "
          "the labels of the validation strings, or with a grammar the largest "
          "next_symbol_ranking of the valid ones",
          {"accuracy", "label_cross_entropy", "next_symbols"})};
  return specs;
}

ProblemPtr recognition(RecognizerPtr model, LabelledDatasetPtr train, LabelledDatasetPtr valid,
                       const std::vector<ObjectiveKind>& objectives, GrammarPtr grammar) {
  return std::make_shared<RecognitionProblem>(std::move(model), std::move(train), std::move(valid),
                                              objectives, std::move(grammar));
}

namespace {

const std::vector<OptionSpec>& recognizer_evaluation() {
  static const std::vector<OptionSpec> specs{
      integer_option("batch", 10, "number of strings of equal length measured at once", 1),
      bin_width_option(),
      text_option("decision", "own", "decision rule; own: that of the model",
                  {"own", "last", "mean", "every"}),
      list_option("decisions", Json::array(),
                  "further decision rules, measured on the same answers"),
      threshold_option(),
      list_option("thresholds", Json::array(),
                  "with a grammar: further thresholds, measured on the same answers")};
  return specs;
}

std::optional<Json> evaluate_recognizer(const Measurement& of) {
  constexpr auto kWhere = "train.evaluate";
  const LabelledDataset& data = *of.data_as<LabelledDatasetPtr>();
  EvaluationOptions options = evaluation_options(of);
  options.threshold = of.options["threshold"];
  options.next_symbols = next_symbols_of(of, data);
  const std::string decision = of.options["decision"];
  if (decision != "own") options.decision = parse_decision(kWhere, decision);
  for (const Json& further : of.options["decisions"]) {
    check(further.is_string(), kWhere, "decisions must be texts, got {}", further.dump());
    options.decisions.push_back(parse_decision(kWhere, further));
  }
  for (const Json& further : of.options["thresholds"]) {
    check(further.is_number() && further >= 0 && further <= 1, kWhere,
          "thresholds must be numbers from 0 to 1, got {}", further.dump());
    options.thresholds.push_back(further);
  }
  const auto found = evaluate(of.model_as<Recognizer>(), data, options);
  auto result = as_json(found);
  if (!result) return result;
  (*result)["wrong"] = found->wrong;
  for (std::size_t d = 0; d < found->decided.size(); ++d)
    (*result)["decisions"][of.options["decisions"][d].get<std::string>()] =
        to_json(found->decided[d]);
  return result;
}

}  // namespace

ProblemKind recognizer_problem() {
  return {.name = "recognizer",
          .doc = "a recognizer",
          .model = "recognizer",
          .model_name = "Recognizer",
          .data = place_of_data<LabelledDatasetPtr>(),
          .by_grammar = true,
          .options = recognition_options,
          .evaluation_options = recognizer_evaluation,
          .make =
              [](const ProblemParts& parts) {
                return recognition(
                    parts.model_as<Recognizer>(), parts.train_as<LabelledDatasetPtr>(),
                    parts.second_as<LabelledDatasetPtr>(), parts.objectives, parts.grammar);
              },
          .evaluate = evaluate_recognizer,
          .parse = [](const std::string& text, const std::string& file) -> ProblemData {
            return std::make_shared<const LabelledDataset>(parse_labelled(text, file));
          }};
}

}  // namespace pushdown
