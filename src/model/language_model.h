// A language model over an alphabet: a network reads symbols and an affine layer with a softmax
// predicts the next one from its hidden vector,
//   p(w_{t+1} | w_1 .. w_t) = softmax(W h_t + b).
// With end_symbol the alphabet gets a further output that closes every string; without, the last
// symbol is never read. `architecture` names the network (network.h).
#pragma once
#include "grammar/alphabet.h"
#include "model/network.h"

namespace pushdown {

// architecture, the options of that network, end_symbol, dtype, device, seed.
std::vector<OptionSpec> language_model_options(const std::string& architecture = "recurrent");

class LanguageModel {
 public:
  LanguageModel(Alphabet alphabet, const Json& options);

  const Alphabet& alphabet() const { return alphabet_; }
  const Json& options() const { return options_; }  // all of them, defaults filled in
  const Network& network() const { return *network_; }
  // Shared tensors by name: those of the network (controller.*, stack.*), output.*.
  const ParameterList& parameters() const { return parameters_; }
  std::int64_t parameter_count() const;
  bool end_symbol() const { return end_symbol_; }

  // words : B x n symbol ids (int64) -> logits : B x n x V, or B x (n+1) x (V+1) with end_symbol;
  // logits[:, t] predict symbol t. `noise` makes it a training pass, see Network::run.
  Tensor logits(const Tensor& words, Random* noise = nullptr) const;
  // log p(w), B; the end symbol's probability included when there is one.
  Tensor log_probabilities(const Tensor& words, Random* noise = nullptr) const;

 private:
  void check_words(const Tensor& words) const;

  Alphabet alphabet_;
  Json options_;
  bool end_symbol_ = false;
  NetworkPtr network_;
  Tensor output_weight_;  // V x H
  Tensor output_bias_;    // V
  ParameterList parameters_;
};

}  // namespace pushdown
