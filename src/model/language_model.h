// A recurrent language model over an alphabet: one-hot symbols and the stack's reading drive a
// controller, whose hidden vector drives the stack and, through an affine layer and a softmax,
// predicts the next symbol (papers: Dusell and Chiang 2020, sections 4.1 and 5.4).
//
// Before the first symbol the hidden vector is 0, so the first symbol is predicted by the output
// bias alone. Reading symbol t gives h_t from [one-hot w_t ; reading_{t-1}]; h_t drives stack step
// t; h_t predicts symbol t + 1. The last symbol is never read. With end_symbol the alphabet gets a
// further output that closes every string.
#pragma once
#include "controller/controller.h"
#include "grammar/alphabet.h"
#include "model/stack_rnn.h"

namespace pushdown {

// controller, stack, end_symbol, dtype, device, seed, fused.
const std::vector<OptionSpec>& language_model_options();

class LanguageModel {
 public:
  LanguageModel(Alphabet alphabet, const Json& options);

  const Alphabet& alphabet() const { return alphabet_; }
  const Json& options() const { return options_; }  // all of them, defaults filled in
  // Shared tensors by name: controller.*, stack.*, output.*.
  const ParameterList& parameters() const { return parameters_; }
  std::int64_t parameter_count() const;
  bool end_symbol() const { return end_symbol_; }

  // words : B x n symbol ids (int64) -> logits : B x n x V, or B x (n+1) x (V+1) with end_symbol;
  // logits[:, t] predict symbol t.
  Tensor logits(const Tensor& words) const;
  // log p(w), B; the end symbol's probability included when there is one.
  Tensor log_probabilities(const Tensor& words) const;

 private:
  Alphabet alphabet_;
  Json options_;
  bool end_symbol_ = false, fused_ = true;
  std::unique_ptr<StackRnn> rnn_;
  Tensor output_weight_;  // V x H
  Tensor output_bias_;    // V
  ParameterList parameters_;
};

}  // namespace pushdown
