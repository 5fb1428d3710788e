#include "train/problems/text_reader.h"

#include <cmath>

#include "base/check.h"

namespace pushdown {
namespace {

constexpr std::int64_t kChunk = 50;

TextPieces pieces_of(std::string_view where, const LanguageModel& model, RunningTextPtr text,
                     std::int64_t streams, std::int64_t chunk) {
  check(text != nullptr, where, "there is no text");
  check_vocabulary(where, model.alphabet(), text->alphabet());
  check(!model.end_symbol(), where,
        "a running text has no end to predict; make the model with end_symbol = false");
  return TextPieces(std::move(text), streams, chunk == 0 ? kChunk : chunk);
}

}  // namespace

void check_vocabulary(std::string_view where, const Alphabet& model, const Alphabet& text) {
  if (model == text) return;
  for (int id = 0; id < std::min(model.size(), text.size()); ++id)
    check(model.symbol(id) == text.symbol(id), where,
          "the text and the model have different vocabularies: word {} is '{}' in the text and "
          "'{}' in the model",
          id + 1, text.symbol(id), model.symbol(id));
  fail(where, "the text and the model have different vocabularies, of {} and {} words", text.size(),
       model.size());
}

TextReader::TextReader(std::string_view where, const LanguageModel& model, RunningTextPtr text,
                       std::int64_t streams, std::int64_t chunk, std::int64_t stack_chunks)
    : model_(model),
      pieces_(pieces_of(where, model, std::move(text), streams, chunk)),
      stack_chunks_(stack_chunks) {
  check(stack_chunks >= 0, where, "stack_chunks must not be negative, got {}", stack_chunks);
}

ReadingState TextReader::after(std::int64_t piece, const ReadingState& state) const {
  const ReadingState next = state.detached();
  return stack_chunks_ > 0 && (piece + 1) % stack_chunks_ == 0 ? model_.restarted(next) : next;
}

std::pair<Tensor, ReadingState> TextReader::losses(std::int64_t piece, const ReadingState& state,
                                                   Random* noise) const {
  // Missing words have a negative target.
  static_assert(TextPieces::kAbsent < 0);
  auto [values, next] =
      model_.score(pieces_.words(piece), pieces_.targets(piece), state, noise);  // B x c
  return {values.neg(), after(piece, next)};
}

ReadingState TextReader::state_of(std::int64_t piece, const std::vector<Tensor>& tensors) const {
  ReadingState state = begin();
  if (piece == 0) return state;
  at::NoGradGuard no_grad;
  // The first piece after the last time the stack was emptied.
  const auto emptied = stack_chunks_ > 0 ? piece / stack_chunks_ * stack_chunks_ : 0;
  for (auto before = std::max<std::int64_t>(emptied - 1, 0); before < piece; ++before)
    state = after(before, model_.read(pieces_.words(before), state).second);
  state.state = state.state->with_tensors(tensors);
  return state;
}

std::optional<TextEvaluation> evaluate(const LanguageModel& model, const RunningTextPtr& text,
                                       const EvaluationOptions& options) {
  constexpr auto kWhere = "train.evaluate";
  check(options.batch > 0, kWhere, "batch must be at least 1, got {}", options.batch);
  check(options.chunk >= 0, kWhere, "chunk must not be negative, got {}", options.chunk);
  at::NoGradGuard no_grad;
  const TextReader reader(kWhere, model, text, options.batch, options.chunk, options.stack_chunks);
  ReadingState state = reader.begin();
  TextEvaluation result;
  double sum = 0;
  for (std::int64_t piece = 0; piece < reader.pieces().count(); ++piece) {
    if (options.should_stop && options.should_stop()) return std::nullopt;
    auto [losses, next] = reader.losses(piece, state, nullptr);
    sum += losses.sum(at::kDouble).item<double>();
    result.words += reader.pieces().word_count(piece);
    state = std::move(next);
    if (options.progress) options.progress(piece + 1, reader.pieces().count());
  }
  result.cross_entropy = sum / static_cast<double>(result.words);
  result.perplexity = std::exp(result.cross_entropy);
  return result;
}

Json to_json(const TextEvaluation& evaluation) {
  return {{"words", evaluation.words},
          {"cross_entropy", evaluation.cross_entropy},
          {"perplexity", evaluation.perplexity}};
}

}  // namespace pushdown
