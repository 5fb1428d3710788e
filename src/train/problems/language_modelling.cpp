#include "train/problems/language_modelling.h"

#include <cmath>

#include "base/check.h"
#include "task/dataset_text.h"
#include "train/evaluation/accuracy.h"
#include "train/evaluation/evaluation.h"
#include "train/problems/problem_kinds.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";
constexpr std::int64_t kStringsOnDevice = 256;  // of the same length, in an evaluation

Json described(const Dataset& dataset) {
  std::size_t shortest = dataset.words().front().size(), longest = 0;
  for (const auto& word : dataset.words()) {
    shortest = std::min(shortest, word.size());
    longest = std::max(longest, word.size());
  }
  return {{"strings", dataset.size()},
          {"symbols", dataset.symbol_count()},
          {"shortest", shortest},
          {"longest", longest}};
}

class LanguageModelling : public LanguageProblem {
 public:
  LanguageModelling(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid, GrammarPtr grammar)
      : LanguageProblem(std::move(model), std::move(grammar)),
        train_(std::move(train)),
        valid_(std::move(valid)) {
    check(train_ != nullptr, kWhere, "there is no training set");
    check_alphabets(kWhere, *model_, *train_);
    if (valid_ != nullptr) {
      check_alphabets(kWhere, *model_, *valid_);
      check(valid_->symbol_count() > 0, kWhere, "the validation set contains only empty strings");
    }
    check(!model_->reads_trees() || train_->has_attachments(), kWhere,
          "the layer 'pushdown_attention' learns from strings with trees, and the training set has "
          "none: draw it with the option trees");
    check(train_->symbol_count() > 0, kWhere, "the training set contains only empty strings");
    if (grammar_ != nullptr) {
      check(valid_ != nullptr, kWhere, "grammar needs validation strings to measure");
      check_alphabets(kWhere, *model_, grammar_->alphabet());
      valid_next_ = std::make_shared<NextSymbols>(next_symbols(*grammar_, valid_->words()));
    }
  }

  const std::vector<OptionSpec>& options() const override { return language_modelling_options(); }
  const std::vector<const char*>& fixed_options() const override {
    static const std::vector<const char*> names{"chunk", "bound", "best_by"};
    return names;
  }
  void configure(Json& options) override {
    chunk_ = options["chunk"];
    check(chunk_ == 0 || !model_->reads_trees(), kWhere,
          "strings with trees are read as a whole; leave out chunk");
    bound_of_strings_ = options["bound"] == "string";
    check(chunk_ == 0 || grammar_ == nullptr, kWhere,
          "grammar measures whole strings; leave out chunk");
    best_by_sets_ = options["best_by"] == "next_symbols";
    check(!best_by_sets_ || valid_next_ != nullptr, kWhere,
          "best_by = 'next_symbols' needs a grammar");
  }
  double value(const EpochMetrics& metrics) const override {
    return best_by_sets_ ? 1 - *metrics.next_symbol_ranking : LanguageProblem::value(metrics);
  }

  std::int64_t training_strings() const override { return train_->size(); }

  std::vector<TrainingPhase> phases(std::int64_t batch) const override {
    // Without an end symbol, empty strings contribute nothing to training.
    auto batches = equal_length_batches(*train_, batch);
    if (!model_->end_symbol())
      std::erase_if(batches, [&](const auto& of) { return train_->words()[of.front()].empty(); });
    check(!batches.empty(), kWhere, "the training set contains only empty strings");
    return {TrainingPhase{std::move(batches)}};
  }

  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    return {static_cast<double>(batch.size()), units(batch)};
  }

  std::optional<LikelihoodBatch> likelihood_batch(
      const std::vector<std::int64_t>& batch) const override {
    if (chunk_ > 0 || model_->reads_trees()) return std::nullopt;
    return LikelihoodBatch{word_tensor(train_->words(), batch), units(batch)};
  }

  Tensor symbols_read(const std::vector<std::int64_t>& batch) const override {
    return word_tensor(train_->words(), batch);
  }

  BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) override {
    BatchLoss sum;
    sum.units = units(batch);
    const Tensor words = word_tensor(train_->words(), batch);
    if (model_->reads_trees()) {
      const Tensor attachments = word_tensor(train_->attachments(), batch);
      const Tensor losses = model_->tree_log_probabilities(words, attachments, &random).sum().neg();
      run_backward(losses.mean());
      sum.loss = losses.detach().sum(at::kDouble).item<double>();
    } else {
      sum.loss = differentiate_strings(words, chunk_, random);
    }
    return sum;
  }

  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t, const TrainingPhase&,
               const EvaluationOptions& given) const override {
    metrics.train_cross_entropy = sum.loss / sum.units;
    if (valid_ == nullptr) return true;
    EvaluationOptions options = given;
    options.chunk = chunk_;
    options.next_symbols = valid_next_;
    options.bound_of_strings = bound_of_strings_;
    // On a device, a launch has a fixed cost, so fewer and larger ones are faster.
    if (!model_->parameters().front().second.is_cpu())
      options.batch = std::max(options.batch, kStringsOnDevice);
    const auto result = evaluate(*model_, *valid_, options);
    if (!result) return false;
    metrics.cross_entropy = result->all.cross_entropy;
    metrics.lower_bound = result->all.lower_bound;
    metrics.cross_entropy_difference = result->all.difference;
    metrics.difference_error = result->all.difference_error;
    metrics.bound_includes_end = result->all.bound_includes_end;
    metrics.next_symbol_accuracy = result->all.next_symbol_accuracy;
    metrics.next_symbol_ranking = result->all.next_symbol_ranking;
    return true;
  }

  // The log-probabilities of training strings are not needed, and may take long to compute.
  std::string train_text() const override {
    return to_text(kept_trees(*train_, Dataset(train_->alphabet(), train_->words())));
  }
  std::optional<std::string> valid_text() const override {
    if (valid_ == nullptr) return std::nullopt;
    const Dataset& all = *valid_;
    if (!all.has_log_probabilities()) return to_text(all);
    return to_text(kept_trees(
        all, Dataset(all.alphabet(), all.words(), all.log_probabilities(),
                     bound_with_end() ? std::vector<double>() : all.log_probabilities(false))));
  }
  Json describe_train() const override { return described(*train_); }
  Json describe_valid() const override {
    Json json = described(*valid_);
    if (!valid_->has_log_probabilities()) return json;
    double sum = 0;
    for (const double value : valid_->log_probabilities(bound_with_end())) sum += value;
    if (!std::isfinite(sum)) return json;
    json["lower_bound"] = -sum / static_cast<double>(valid_->symbol_count());
    if (bound_includes_end(*model_, *valid_, bound_of_strings_)) json["bound_includes_end"] = true;
    return json;
  }
  void prepare() const override {
    if (valid_ != nullptr && valid_->has_log_probabilities())
      valid_->log_probabilities(bound_with_end());
  }

 private:
  bool bound_with_end() const {
    return model_->end_symbol() || bound_includes_end(*model_, *valid_, bound_of_strings_);
  }

  static Dataset kept_trees(const Dataset& of, const Dataset& strings) {
    return of.has_attachments() ? strings.with_attachments(of.attachments()) : strings;
  }

  double units(const std::vector<std::int64_t>& batch) const {
    double symbols = 0;
    for (const auto index : batch) symbols += static_cast<double>(train_->words()[index].size());
    return symbols;
  }

  DatasetPtr train_, valid_;
  NextSymbolsPtr valid_next_;
  std::int64_t chunk_ = 0;
  bool bound_of_strings_ = false, best_by_sets_ = false;
};

}  // namespace

const std::vector<OptionSpec>& language_modelling_options() {
  static const std::vector<OptionSpec> specs{
      chunk_option(), bound_option(),
      text_option("best_by", "cross_entropy",
                  "what makes an epoch the best: the smallest cross-entropy, or with a grammar the "
                  "largest next_symbol_ranking of the validation strings",
                  {"cross_entropy", "next_symbols"})};
  return specs;
}

OptionSpec bound_option() {
  return text_option("bound", "model",
                     "lower bound of strings: of what the model predicts; or, also for a model "
                     "with end_symbol = false, of whole strings with their ends",
                     {"model", "string"});
}

OptionSpec chunk_option() {
  return integer_option("chunk", 0,
                        "number of symbols that gradients reach back: longer strings are cut into "
                        "pieces of this length, with the state carried over; 0: never",
                        0);
}

ProblemPtr language_modelling(LanguageModelPtr model, DatasetPtr train, DatasetPtr valid,
                              GrammarPtr grammar) {
  return std::make_shared<LanguageModelling>(std::move(model), std::move(train), std::move(valid),
                                             std::move(grammar));
}

ProblemKind language_problem() {
  return {.name = "language_model",
          .doc = "a language model on strings",
          .model = "language_model",
          .model_name = "LanguageModel",
          .data = place_of_data<DatasetPtr>(),
          .by_grammar = true,
          .options = language_modelling_options,
          .evaluation_options = language_evaluation,
          .make =
              [](const ProblemParts& parts) {
                return language_modelling(parts.model_as<LanguageModel>(),
                                          parts.train_as<DatasetPtr>(),
                                          parts.second_as<DatasetPtr>(), parts.grammar);
              },
          .evaluate =
              [](const Measurement& of) {
                const Dataset& data = *of.data_as<DatasetPtr>();
                auto options = language_evaluation_options(of);
                options.next_symbols = next_symbols_of(of, data);
                options.bound_of_strings = of.options["bound"] == "string";
                return as_json(evaluate(of.model_as<LanguageModel>(), data, options));
              },
          .parse = [](const std::string& text, const std::string& file) -> ProblemData {
            return std::make_shared<const Dataset>(parse_dataset(text, file));
          }};
}

}  // namespace pushdown
