#include "train/problems/text_modelling.h"

#include "base/check.h"
#include "tensor/backward.h"
#include "train/problems/problem_kinds.h"
#include "train/problems/text_reader.h"

namespace pushdown {
namespace {

constexpr const char* kWhere = "train.trainer";

Json described(const RunningText& text) {
  Json json{{"words", text.size()}, {"vocabulary", text.alphabet().size()}};
  if (text.alphabet().find(kUnknownWord)) json["unknown"] = text.count(kUnknownWord);
  return json;
}

class TextModelling : public LanguageProblem {
 public:
  TextModelling(LanguageModelPtr model, RunningTextPtr train, RunningTextPtr valid)
      : LanguageProblem(std::move(model)), train_(std::move(train)), valid_(std::move(valid)) {
    // Runs the checks of a reader before anything is created.
    const TextReader of_train(kWhere, *model_, train_, 1, 1, 0);
    if (valid_ != nullptr) const TextReader of_valid(kWhere, *model_, valid_, 1, 1, 0);
    try {
      model_->begin(1).state->tensors();
    } catch (const std::invalid_argument&) {
      fail(kWhere,
           "training on a running text needs a model whose state can be stored in a checkpoint, "
           "got {}",
           model_->network().line());
    }
  }

  const std::vector<OptionSpec>& options() const override { return text_modelling_options(); }
  const std::vector<const char*>& fixed_options() const override {
    static const std::vector<const char*> names{"chunk", "stack_chunks"};
    return names;
  }
  void configure(Json& options) override {
    batch_ = options["batch"];
    chunk_ = options["chunk"];
    stack_chunks_ = options["stack_chunks"];
    reader_.emplace(kWhere, *model_, train_, batch_, chunk_, stack_chunks_);
  }

  std::int64_t training_strings() const override { return train_->size(); }
  const char* unit() const override { return "words"; }
  std::vector<TrainingPhase> phases(std::int64_t) const override {
    TrainingPhase phase;
    for (std::int64_t piece = 0; piece < reader_->pieces().count(); ++piece)
      phase.batches.push_back({piece});
    return {std::move(phase)};
  }
  bool in_order() const override { return true; }
  // The strings are the streams. Every update reads all of them.
  BatchSize size(const std::vector<std::int64_t>& batch) const override {
    return {static_cast<double>(reader_->pieces().streams()),
            static_cast<double>(reader_->pieces().word_count(batch.front()))};
  }

  std::vector<Tensor> carried(std::int64_t position) const override {
    if (position == 0 || position >= reader_->pieces().count()) return {};
    return state_before(position).state->tensors();
  }
  void carry_on(std::int64_t position, const std::vector<Tensor>& tensors) override {
    if (position == 0 || position >= reader_->pieces().count()) return;
    std::vector<Tensor> own;
    for (const auto& tensor : tensors) own.push_back(tensor.to(parameter().device()).clone());
    before_ = reader_->state_of(position, own);
    piece_ = position;
  }

  // The last word of a piece is read with the next one.
  Tensor symbols_read(const std::vector<std::int64_t>& batch) const override {
    const auto piece = batch.front();
    const Tensor own = reader_->pieces().words(piece);
    return piece == 0 ? own : at::cat({reader_->pieces().words(piece - 1), own}, 1);
  }

  BatchLoss differentiate(const std::vector<std::int64_t>& batch, Random& random) override {
    const auto piece = batch.front();
    before_ = state_before(piece);
    piece_ = piece;
    auto [losses, next] = reader_->losses(piece, before_, &random);
    BatchLoss sum;
    sum.loss = losses.detach().sum(at::kDouble).item<double>();
    sum.units = size(batch).symbols;
    after_ = std::move(next);
    run_backward(losses.sum() / static_cast<double>(reader_->pieces().streams()));
    return sum;
  }

  bool measure(EpochMetrics& metrics, const BatchLoss& sum, std::int64_t, const TrainingPhase&,
               const EvaluationOptions& given) const override {
    metrics.train_cross_entropy = sum.loss / sum.units;
    if (valid_ == nullptr) return true;
    EvaluationOptions options = given;
    options.batch = batch_;
    options.chunk = chunk_;
    options.stack_chunks = stack_chunks_;
    return keep(metrics, evaluate(*model_, valid_, options));
  }

  std::string train_text() const override { return to_text(*train_); }
  std::optional<std::string> valid_text() const override {
    return valid_ ? std::optional(to_text(*valid_)) : std::nullopt;
  }
  Json describe_train() const override { return described(*train_); }
  Json describe_valid() const override { return described(*valid_); }

 private:
  const Tensor& parameter() const { return model_->parameters().front().second; }

  // Only the states before and after the last piece that was read are known. An update whose
  // gradient was not finite is requested again.
  ReadingState state_before(std::int64_t piece) const {
    if (piece == 0) return reader_->begin();
    if (piece == piece_) return before_;
    check(piece == piece_ + 1 && after_.state != nullptr, kWhere,
          "the pieces of a text are read one after the other, got piece {} after {}", piece + 1,
          piece_ + 1);
    return after_;
  }

  RunningTextPtr train_, valid_;
  std::int64_t batch_ = 0, chunk_ = 0, stack_chunks_ = 0;
  std::optional<TextReader> reader_;
  std::int64_t piece_ = -1;
  ReadingState before_, after_;  // of piece_
};

}  // namespace

const std::vector<OptionSpec>& text_modelling_options() {
  static const std::vector<OptionSpec> specs{
      integer_option("chunk", 50,
                     "number of words of a piece, which is as far as gradients reach back; the "
                     "network reads the last word with the next piece",
                     1),
      integer_option(
          "stack_chunks", 4,
          "number of pieces after which the stack is emptied, to limit its growth; 0: never", 0)};
  return specs;
}

ProblemPtr text_modelling(LanguageModelPtr model, RunningTextPtr train, RunningTextPtr valid) {
  return std::make_shared<TextModelling>(std::move(model), std::move(train), std::move(valid));
}

ProblemKind text_problem() {
  return {.name = "text",
          .doc = "a language model on a running text",
          .model = "language_model",
          .model_name = "LanguageModel",
          .data = place_of_data<RunningTextPtr>(),
          .options = text_modelling_options,
          .evaluation_options = language_evaluation,
          .make =
              [](const ProblemParts& parts) {
                return text_modelling(parts.model_as<LanguageModel>(),
                                      parts.train_as<RunningTextPtr>(),
                                      parts.second_as<RunningTextPtr>());
              },
          .evaluate =
              [](const Measurement& of) {
                return as_json(evaluate(of.model_as<LanguageModel>(), of.data_as<RunningTextPtr>(),
                                        language_evaluation_options(of)));
              },
          .holds = [](const std::string& text) { return is_running_text(text); },
          .parse = [](const std::string& text, const std::string& file) -> ProblemData {
            return std::make_shared<const RunningText>(parse_running_text(text, file));
          }};
}

}  // namespace pushdown
