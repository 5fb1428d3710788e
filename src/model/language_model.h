// A language model over an alphabet: a network reads symbols and an affine layer with a softmax
// predicts the next one from its hidden vector,
//   p(w_{t+1} | w_1 .. w_t) = softmax(W h_t + b).
// With end_symbol the alphabet gets a further output that closes every string; without, the last
// symbol is never read. `architecture` names the network (network.h).
#pragma once
#include <functional>

#include "base/buffer_pool.h"
#include "model/sequence_model.h"

namespace pushdown {

// Where a language model stands in a batch of strings.
struct ReadingState {
  NetworkPtr network;
  NetworkStatePtr state;
  std::int64_t batch = 0;
  std::int64_t symbols = 0;  // given so far

  // The same numbers, through which no gradient flows back.
  ReadingState detached() const { return {network, state->detached(), batch, symbols}; }
};

// architecture, the options of that network, end_symbol, dtype, device, seed.
std::vector<OptionSpec> language_model_options(const std::string& architecture = "recurrent");

class LanguageModel : public SequenceModel {
 public:
  LanguageModel(Alphabet alphabet, const Json& options, const Kinds& kinds = registered_kinds());

  std::string kind() const override { return "language_model"; }

  // words : B x n symbol ids (int64) -> logits : B x n x V, or B x (n+1) x (V+1) with end_symbol;
  // logits[:, t] predict symbol t. `noise` makes it a training pass, see Network::run.
  Tensor logits(const Tensor& words, Random* noise = nullptr) const;
  // log p(w), B; the end symbol's probability included when there is one.
  Tensor log_probabilities(const Tensor& words, Random* noise = nullptr) const;

  // The output layer: W : V x H, b : V.
  const Tensor& output_weight() const { return output_weight_; }
  const Tensor& output_bias() const { return output_bias_; }

  // The logits of these outcomes alone, right behind the strings: words : B x n, outcomes : B x m
  // ids (int64; the size of the alphabet is the end symbol) -> B x m. Their differences are those
  // of the logarithms of the probabilities.
  Tensor outcome_logits(const Tensor& words, const Tensor& outcomes) const;

  // A batch of strings in pieces. `length`: how many symbols are expected, 0 where that is not
  // known. With gradients a state may be continued once only (see fast_step).
  ReadingState begin(std::int64_t batch, std::int64_t length = 0) const;
  // The next piece, words : B x c -> logits B x c x V (or V+1) that predict its symbols, as rows of
  // logits(), and where that leads.
  std::pair<Tensor, ReadingState> read(const Tensor& words, const ReadingState& state,
                                       Random* noise = nullptr) const;
  // The same with the log-probabilities of targets : B x c in the place of the logits, 0 where a
  // target is negative.
  std::pair<Tensor, ReadingState> score(const Tensor& words, const Tensor& targets,
                                        const ReadingState& state, Random* noise = nullptr) const;
  // The logits of whatever follows, B x V (or V+1), the last row of logits() with an end symbol;
  // and a state that has them already, to be continued instead.
  std::pair<Tensor, ReadingState> next(const ReadingState& state, Random* noise = nullptr) const;
  // Where to go on in a text without end once what grows with its length is given up; see
  // Network::restarted.
  ReadingState restarted(const ReadingState& state) const;
  // log p(w) piece by piece, `chunk` symbols each (0: all at once): calls `visit` with the B
  // log-probabilities of each piece. The state is carried, gradients end at the borders.
  void visit_log_probabilities(const Tensor& words, std::int64_t chunk, Random* noise,
                               const std::function<void(const Tensor&)>& visit) const;

 private:
  // h_0 .. of all symbols that predict one : B x n x H, or B x (n+1) x H with end_symbol.
  Tensor hiddens(const Tensor& words, Random* noise) const;
  Tensor scores(const Tensor& hiddens) const;
  // log p of targets : ... by hiddens : ... x H
  Tensor log_likelihoods(const Tensor& hiddens, const Tensor& targets) const;
  void check_state(const ReadingState& state) const;

  bool kernels_ = true;
  BufferPoolPtr buffers_;
};

}  // namespace pushdown
