#include "train/problems/sentence_modelling.h"

#include <cmath>
#include <numeric>

#include "base/check.h"
#include "task/dataset.h"
#include "train/problems/problem_kinds.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

void check_model(std::string_view where, const LanguageModel& model, const TokenFile& sentences) {
  check_vocabulary(where, model.alphabet(), sentences.alphabet());
  check(model.end_symbol(), where,
        "sentence modelling predicts the ends of sentences; make the model with end_symbol = true");
}

std::vector<std::vector<std::int64_t>> batches_of(const TokenFile& sentences, std::int64_t batch) {
  std::vector<std::int64_t> all(sentences.size());
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return equal_length_batches(all, batch, [&](std::int64_t i) { return sentences.length(i); });
}

Tensor words_of(const TokenFile& sentences, const std::vector<std::int64_t>& batch) {
  Tensor words = at::empty(
      {static_cast<std::int64_t>(batch.size()), sentences.length(batch.front())}, at::kLong);
  auto* out = words.data_ptr<std::int64_t>();
  for (const auto i : batch) {
    const auto sentence = sentences.sentence(i);
    out = std::copy(sentence.begin(), sentence.end(), out);
  }
  return words;
}

Json described(const TokenFile& sentences) {
  return {{"file", sentences.path().string()},        {"sentences", sentences.size()},
          {"words", sentences.word_count()},          {"shortest", sentences.shortest()},
          {"longest", sentences.longest()},           {"unknown", sentences.unknown_count()},
          {"vocabulary", sentences.alphabet().size()}};
}

class SentenceModelling : public LanguageProblem {
 public:
  SentenceModelling(LanguageModelPtr model, TokenFilePtr train, TokenFilePtr valid)
      : LanguageProblem(std::move(model)), train_(std::move(train)), valid_(std::move(valid)) {
    check(train_ != nullptr, kWhere, "there are no training sentences");
    check_model(kWhere, *model_, *train_);
    if (valid_ != nullptr) check_model(kWhere, *model_, *valid_);
  }

  const std::vector<OptionSpec>& options() const override { return sentence_modelling_options(); }
  const std::vector<const char*>& fixed_options() const override {
    static const std::vector<const char*> names{"chunk"};
    return names;
  }
  void configure(Json& options) override { chunk_ = options["chunk"]; }

  std::int64_t training_strings() const override { return train_->size(); }
  const char* unit() const override { return "sentences"; }
  std::vector<TrainingPhase> phases(std::int64_t batch) const override {
    return {TrainingPhase{batches_of(*train_, batch)}};
  }

  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    const auto strings = static_cast<double>(batch.size());
    return {strings, strings * static_cast<double>(train_->length(batch.front()) + 1)};
  }

  Tensor symbols_read(const std::vector<std::int64_t>& batch) const override {
    return words_of(*train_, batch);
  }

  BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) override {
    BatchLoss sum;
    sum.units = size(batch).symbols;
    sum.loss = differentiate_strings(words_of(*train_, batch), chunk_, random);
    return sum;
  }

  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t, const TrainingPhase&,
               const EvaluationOptions& given) const override {
    metrics.train_cross_entropy = sum.loss / sum.units;
    if (valid_ == nullptr) return true;
    EvaluationOptions options = given;
    options.chunk = chunk_;
    return keep(metrics, evaluate(*model_, *valid_, options));
  }

  std::string train_text() const override { return note_of(*train_); }
  std::optional<std::string> valid_text() const override {
    return valid_ ? std::optional(note_of(*valid_)) : std::nullopt;
  }
  Json describe_train() const override { return described(*train_); }
  Json describe_valid() const override { return described(*valid_); }

 private:
  TokenFilePtr train_, valid_;
  std::int64_t chunk_ = 0;
};

}  // namespace

const std::vector<OptionSpec>& sentence_modelling_options() {
  static const std::vector<OptionSpec> specs{chunk_option()};
  return specs;
}

ProblemPtr sentence_modelling(LanguageModelPtr model, TokenFilePtr train, TokenFilePtr valid) {
  return std::make_shared<SentenceModelling>(std::move(model), std::move(train), std::move(valid));
}

std::optional<TextEvaluation> evaluate(const LanguageModel& model, const TokenFile& sentences,
                                       const EvaluationOptions& options) {
  constexpr auto kWhere = "train.evaluate";
  check(options.batch > 0, kWhere, "batch must be at least 1, got {}", options.batch);
  check(options.chunk >= 0, kWhere, "chunk must not be negative, got {}", options.chunk);
  check_model(kWhere, model, sentences);
  at::NoGradGuard no_grad;
  TextEvaluation result;
  result.words = sentences.word_count() + sentences.size();
  double sum = 0;
  const auto batches = batches_of(sentences, options.batch);
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    model.visit_log_probabilities(
        words_of(sentences, batches[i]), options.chunk, nullptr,
        [&](const Tensor& of_piece) { sum -= of_piece.sum(at::kDouble).item<double>(); });
    if (options.progress)
      options.progress(static_cast<std::int64_t>(i + 1), static_cast<std::int64_t>(batches.size()));
  }
  result.cross_entropy = sum / static_cast<double>(result.words);
  result.perplexity = std::exp(result.cross_entropy);
  return result;
}

ProblemKind sentence_problem() {
  return {.name = "sentences",
          .doc = "a language model on sentences",
          .model = "language_model",
          .model_name = "LanguageModel",
          .data = place_of_data<TokenFilePtr>(),
          .options = sentence_modelling_options,
          .evaluation_options = language_evaluation,
          .make =
              [](const ProblemParts& parts) {
                return sentence_modelling(parts.model_as<LanguageModel>(),
                                          parts.train_as<TokenFilePtr>(),
                                          parts.second_as<TokenFilePtr>());
              },
          .evaluate =
              [](const Measurement& of) {
                return as_json(evaluate(of.model_as<LanguageModel>(), *of.data_as<TokenFilePtr>(),
                                        language_evaluation_options(of)));
              },
          .holds = [](const std::string& text) { return is_token_note(text); },
          .parse = [](const std::string& text, const std::string& file) -> ProblemData {
            return noted_file(text, file);
          }};
}

}  // namespace pushdown
