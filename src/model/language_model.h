// A language model over an alphabet. A network reads symbols, and an affine layer with a softmax
// predicts the next one from its hidden vector,
//   p(w_{t+1} | w_1 .. w_t) = softmax(W h_t + b).
// With end_symbol there is an additional output that ends every string, and the model is a
// distribution over all strings. Without it, the last symbol is never read, and the model predicts
// each symbol given that the string goes on. `architecture` names the network (network.h).
#pragma once
#include <functional>

#include "base/buffer_pool.h"
#include "model/sequence_model.h"

namespace pushdown {

// The log-probability of strings with trees: of their symbols and end given the part of the tree
// before them, and of the tree's attachments given the symbols up to theirs. B each.
struct TreeLogProbabilities {
  Tensor symbols, attachments;
  Tensor sum() const { return symbols + attachments; }
};

// The state of a language model within a batch of strings.
struct ReadingState {
  NetworkPtr network;
  NetworkStatePtr state;
  std::int64_t batch = 0;
  std::int64_t symbols = 0;  // read so far, including one not yet processed

  // Returns the same numbers without a gradient.
  ReadingState detached() const { return {network, state->detached(), batch, symbols}; }
};

// Returns architecture, the options of that network, end_symbol, dtype, device, seed.
std::vector<OptionSpec> language_model_options(const std::string& architecture = "recurrent");

class LanguageModel : public SequenceModel {
 public:
  LanguageModel(Alphabet alphabet, const Json& options, const Kinds& kinds = registered_kinds());

  std::string kind() const override { return "language_model"; }

  // words : B x n symbol ids (int64) -> logits : B x n x V, or B x (n+1) x (V+1) with end_symbol;
  // logits[:, t] predict symbol t. With `noise` it is a training pass, see Network::run.
  Tensor logits(const Tensor& words, Random* noise = nullptr) const;
  // Returns log p(w), B, including the probability of the end symbol if there is one.
  Tensor log_probabilities(const Tensor& words, Random* noise = nullptr) const;

  // Returns whether the network attaches symbols to a parse (model/attaching_network.h). All other
  // functions then let them attach where this is most probable.
  bool reads_trees() const;
  // Returns log p(w, tree) of such a network in two parts; attachments : B x n (int64). Throws
  // std::invalid_argument for another network, and if a symbol cannot attach there.
  TreeLogProbabilities tree_log_probabilities(const Tensor& words, const Tensor& attachments,
                                              Random* noise = nullptr) const;

  // Returns the same without a graph, and adds `scale` times the gradient of the sum to the
  // gradients of the parameters.
  Tensor differentiate(const Tensor& words, double scale, Random* noise) const;

  // The output layer: W : V x H, b : V.
  const Tensor& output_weight() const { return output_weight_; }
  const Tensor& output_bias() const { return output_bias_; }

  // Returns only the logits of these outcomes directly after the strings: words : B x n, outcomes :
  // B x m ids (int64; the size of the alphabet is the end symbol) -> B x m. Their differences are
  // the differences of the log-probabilities.
  Tensor outcome_logits(const Tensor& words, const Tensor& outcomes) const;

  // Starts a batch of strings that are read in pieces. `length`: the expected number of symbols, 0
  // if unknown. With gradients, a state of a nondeterministic stack can be continued only once.
  ReadingState begin(std::int64_t batch, std::int64_t length = 0) const;
  // Reads the next piece, words : B x c. Returns the logits B x c x V (or V+1) that predict its
  // symbols, as rows of logits(), and the next state.
  std::pair<Tensor, ReadingState> read(const Tensor& words, const ReadingState& state,
                                       Random* noise = nullptr) const;
  // Does the same, but returns the log-probabilities of targets : B x c instead of the logits, 0
  // for a negative target.
  std::pair<Tensor, ReadingState> score(const Tensor& words, const Tensor& targets,
                                        const ReadingState& state, Random* noise = nullptr) const;
  // Returns the logits of the next symbol, B x V (or V+1), the last row of logits() with an end
  // symbol; and a state that already contains them, from which to continue.
  std::pair<Tensor, ReadingState> next(const ReadingState& state, Random* noise = nullptr) const;
  // Returns the state for continuing an endless text after the part that grows with its length is
  // discarded; see Network::restarted.
  ReadingState restarted(const ReadingState& state) const;
  // Computes log p(w) in pieces of `chunk` symbols (0: all at once) and calls `visit` with the B
  // log-probabilities of each piece. The state is carried over; gradients end at the borders.
  void visit_log_probabilities(const Tensor& words, std::int64_t chunk, Random* noise,
                               const std::function<void(const Tensor&)>& visit) const;

 private:
  SoftmaxLayer layer() const { return {output_weight_, output_bias_}; }
  // Returns the symbols that are read to predict targets : B x n, all but the last one.
  static Tensor words_read(const Tensor& targets);
  // Returns the hidden vectors that predict the targets: h_0 .., B x n x H.
  Tensor hiddens(const Tensor& targets, Random* noise) const;
  PassRequest request(const Tensor& targets, Random* noise, bool graph) const;
  // Returns the words and the end symbol, if there is one.
  Tensor targets_of(const Tensor& words) const;
  Tensor scores(const Tensor& hiddens) const;
  // Returns log p of targets : ... given hiddens : ... x H.
  Tensor log_likelihoods(const Tensor& hiddens, const Tensor& targets) const;
  void check_state(const ReadingState& state) const;

  bool kernels_ = true;
  BufferPoolPtr buffers_;
};

}  // namespace pushdown
