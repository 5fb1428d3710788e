// A language model on a running text: B parallel streams, read piece by piece; each piece continues
// from the final state of the previous one. Gradients end at the borders of the pieces.
//
// A stack that is never emptied grows with the text. It is emptied after every `stack_chunks`
// pieces while the controller's state is kept, so that it contains at most stack_chunks * chunk
// words. A network without a controller starts anew there (Network::restarted).
#pragma once
#include "model/language_model.h"
#include "task/running_text.h"
#include "train/evaluation/evaluation_options.h"

namespace pushdown {

// Throws std::invalid_argument that names the first difference, because a vocabulary is too long to
// be printed.
void check_vocabulary(std::string_view where, const Alphabet& model, const Alphabet& text);

class TextReader {
 public:
  // Both must outlive the reader. `streams`: at most as many as the text has words. chunk: words of
  // a piece; 0: 50. stack_chunks: 0: never. Throws std::invalid_argument for a vocabulary that is
  // not the model's, or a model that predicts an end symbol of its own.
  TextReader(std::string_view where, const LanguageModel& model, RunningTextPtr text,
             std::int64_t streams, std::int64_t chunk, std::int64_t stack_chunks);

  const TextPieces& pieces() const { return pieces_; }
  // Returns the state before the first piece.
  ReadingState begin() const { return model_.begin(pieces_.streams(), 0); }
  // Returns the losses -log p of the words of a piece, B x c, 0 where a stream has no word, and the
  // state before the next piece. The very first word of a stream is predicted from the output bias
  // alone.
  std::pair<Tensor, ReadingState> losses(std::int64_t piece, const ReadingState& state,
                                         Random* noise) const;
  // Returns the state before `piece` with these values (NetworkState::tensors). Its shape is
  // determined by reading the text since the stack was last emptied.
  ReadingState state_of(std::int64_t piece, const std::vector<Tensor>& tensors) const;

 private:
  ReadingState after(std::int64_t piece, const ReadingState& state) const;

  const LanguageModel& model_;
  TextPieces pieces_;
  std::int64_t stack_chunks_;
};

// The cross-entropy of a text in nats per word, and its perplexity exp(cross_entropy). The options
// batch (the streams), chunk and stack_chunks affect it.
struct TextEvaluation {
  std::int64_t words = 0;
  double cross_entropy = 0, perplexity = 0;
};
// Returns nothing if should_stop returned true.
std::optional<TextEvaluation> evaluate(const LanguageModel& model, const RunningTextPtr& text,
                                       const EvaluationOptions& options);
Json to_json(const TextEvaluation& evaluation);

}  // namespace pushdown
