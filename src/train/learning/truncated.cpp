// Truncated backpropagation through time: a string is read in pieces of `window` symbols, the state
// is carried from piece to piece, and gradients end at the borders. The gradient is the sum of the
// gradients of the pieces, each with its initial state as a constant; for a string of at most
// `window` symbols it is exact. The memory needed is that of one piece.
//
// The first piece starts at the beginning of the string. K passes over a symbol count as one
// symbol.
#include "tensor/backward.h"
#include "train/learning/learning_pieces.h"

namespace pushdown {

ValidityLosses backpropagate_pieces(const Recognizer& model, const Objective& objective,
                                    const StringBatch& batch, Random& random, std::int64_t window) {
  const at::AutoGradMode with_gradient(true);
  const StringPieces pieces(model, objective, batch);
  const auto batch_size = static_cast<double>(pieces.strings());
  ValidityLosses result;
  result.losses.resize(pieces.strings());
  auto state = pieces.initial();
  auto verdict = pieces.verdict();
  for (std::int64_t first = 0; first < pieces.length(); first += window) {
    const auto count = std::min(window, pieces.length() - first);
    const auto piece = pieces.read(first, count, state, random);
    if (piece.losses.requires_grad()) run_backward(piece.losses.sum() / batch_size);
    const auto losses = numbers_of(piece.losses);
    for (std::size_t b = 0; b < losses.size(); ++b) result.losses[b] += losses[b];
    verdict.add(piece.scores, piece.weights);
    state = piece.state->detached();
  }
  result.scores = verdict.values();
  return result;
}

namespace {

class Truncated : public LearningAlgorithm {
 public:
  explicit Truncated(const Json& options) : window_(options["window"]) {}

  bool by_backward_passes() const override { return true; }
  ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                          const StringBatch& batch, Random& random) const override {
    const bool whole = batch.words.size(1) + (model.end_symbol() ? 1 : 0) <= window_;
    return backpropagate(model, objective, batch, random, whole ? 0 : window_);
  }

 private:
  std::int64_t window_;
};

}  // namespace

LearningKind truncated_learning() {
  return {"tbptt",
          "Truncated backpropagation through time: gradients end at the borders of pieces.",
          {integer_option("window", 50, "number of symbols of a piece", 1).trying(2)},
          [](const Json& options) -> LearningPtr { return std::make_unique<Truncated>(options); }};
}

}  // namespace pushdown
