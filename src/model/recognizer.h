// A recognizer: a network reads a string symbol by symbol and says after each whether it is valid,
//   p(valid | w_1 .. w_t) = logistic(W h_t + b)                              output 'affine'
// (Mali et al. 2019, section 3.1), or by the network's own measure of validity, above 1/2
// (output 'own'; Network::validity). What counts is the answer after the last symbol. With
// end_symbol one more symbol, whose id is the size of the alphabet, closes every string: only after
// it can an automaton know whether its stack is empty.
//
// passes K > 1 is iterative refinement: every symbol is read K times (Network::run_passes).
#pragma once
#include "model/sequence_model.h"

namespace pushdown {

// What a recognizer says about a batch of strings; P = passes made, K times the symbols read.
struct Recognition {
  Tensor scores;   // B x (P + 1), before the first pass and after each
  Tensor hiddens;  // B x (P + 1) x H
  Tensor weights;  // B x P, see Passes
};

// architecture, the options of that network, end_symbol, passes, output, dtype, device, seed.
std::vector<OptionSpec> recognizer_options(const std::string& architecture = "recurrent");

class Recognizer : public SequenceModel {
 public:
  Recognizer(Alphabet alphabet, const Json& options);

  std::string kind() const override { return "recognizer"; }
  std::int64_t passes() const { return passes_; }
  bool affine() const { return affine_; }
  // Strings whose score lies above are valid: logits above 0, or measures above 1/2.
  double threshold() const { return affine_ ? 0.0 : 0.5; }
  // W : 1 x H and b : 1 of the affine output.
  const Tensor& output_weight() const { return output_weight_; }
  const Tensor& output_bias() const { return output_bias_; }

  // words : B x n ids of the alphabet's symbols -> what the network reads, B x n or B x (n+1).
  Tensor input(const Tensor& words) const;
  // hiddens : B x m x H -> B x m
  Tensor scores(const Tensor& hiddens) const;
  // `noise` makes it a training pass, see Network::run.
  Recognition run(const Tensor& words, Random* noise = nullptr) const;
  // The score after the whole string, B.
  Tensor decisions(const Tensor& words) const;

 private:
  std::int64_t passes_ = 1;
  bool affine_ = true;
};
using RecognizerPtr = std::shared_ptr<Recognizer>;

}  // namespace pushdown
