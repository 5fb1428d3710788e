// A language model on a running text: B streams side by side, piece by piece, each piece going on
// from the state in which the one before it ended. Gradients end at the borders of the pieces.
//
// A stack that is never emptied grows with the text. After every `stack_chunks` pieces it is
// emptied while the controller's state goes on, so that it holds what stack_chunks * chunk words
// put there at most; a network without a controller begins anew there (Network::restarted).
#pragma once
#include "model/language_model.h"
#include "task/running_text.h"
#include "train/evaluation_options.h"

namespace pushdown {

// std::invalid_argument that names the first difference; a vocabulary is too long to be printed.
void check_vocabulary(std::string_view where, const Alphabet& model, const Alphabet& text);

class TextReader {
 public:
  // Both must outlive the reader. `streams`: at most as many as the text has words. chunk: words of
  // a piece; 0: 50. stack_chunks: 0: never. std::invalid_argument: a vocabulary that is not the
  // model's, a model that predicts an end symbol of its own.
  TextReader(std::string_view where, const LanguageModel& model, RunningTextPtr text,
             std::int64_t streams, std::int64_t chunk, std::int64_t stack_chunks);

  const TextPieces& pieces() const { return pieces_; }
  // The state before the first piece.
  ReadingState begin() const { return model_.begin(pieces_.streams(), 0); }
  // The losses -log p of the words of a piece, B x c, 0 where a stream has no word, and the state
  // before the next piece. The very first word of a stream is predicted from the output bias alone.
  std::pair<Tensor, ReadingState> losses(std::int64_t piece, const ReadingState& state,
                                         Random* noise) const;
  // The state before `piece` with these numbers (NetworkState::tensors): its shape is found by
  // reading what went before since the stack was last emptied.
  ReadingState state_of(std::int64_t piece, const std::vector<Tensor>& tensors) const;

 private:
  ReadingState after(std::int64_t piece, const ReadingState& state) const;

  const LanguageModel& model_;
  TextPieces pieces_;
  std::int64_t stack_chunks_;
};

// The cross-entropy of a text, nats per word, and its perplexity exp(cross_entropy); options batch
// (the streams), chunk and stack_chunks count.
struct TextEvaluation {
  std::int64_t words = 0;
  double cross_entropy = 0, perplexity = 0;
};
// Nothing when should_stop said so.
std::optional<TextEvaluation> evaluate(const LanguageModel& model, const RunningTextPtr& text,
                                       const EvaluationOptions& options);
Json to_json(const TextEvaluation& evaluation);

}  // namespace pushdown
