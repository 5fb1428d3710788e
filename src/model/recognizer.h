// A recognizer: a network reads a string symbol by symbol and says after each whether it is valid,
//   p(valid | w_1 .. w_t) = logistic(W h_t + b)                              output 'affine'
// (Mali et al. 2019, section 3.1), or by the network's own measure of validity, above 1/2
// (output 'own'; Network::validity). With end_symbol one more symbol, whose id is the size of the
// alphabet, closes every string: only after it can an automaton know whether its stack is empty.
//
// What decides about a string is the answer after its last symbol (decision 'last'), the mean of
// the answers after every symbol, the end symbol included (decision 'mean'; Mali et al. 2021,
// section 3), or all of them, which have to agree (decision 'every'): a string whose answers do not
// is correctly classified by no label.
//
// With next_symbol a second output layer predicts what is read next (Mali et al. 2021, equation 3),
//   p(w_{t+1} | w_1 .. w_t) = softmax(V h_t + c), the end symbol being one of the outcomes if there
// is one.
//
// passes K > 1 is iterative refinement (Refinement): K passes over every symbol in training, and
// `evaluation_passes` in evaluation, each with an answer. With memory_in_passes = 'moves' every
// symbol is read K times instead, so that a memory moves K times, too.
#pragma once
#include <limits>

#include "model/sequence_model.h"

namespace pushdown {

// What a recognizer says about a batch of strings; P = passes made, K times the symbols read.
struct Recognition {
  Tensor scores;   // B x (P + 1), before the first pass and after each
  Tensor hiddens;  // B x (P + 1) x H
  Tensor weights;  // B x P, see Passes
};

// What decides about a string: the score after its last symbol, the mean of the probabilities
// (affine output) or of the measures (own output) after each pass that was not left out, or the one
// of these probabilities that is nearest to the threshold if all lie on one side of it, and else
// not a number.
enum class Decision { last, mean, every };
const std::vector<std::string>& decision_names();
// std::invalid_argument on another name.
Decision parse_decision(const char* where, const std::string& name);

// architecture, the options of that network, end_symbol, passes, evaluation_passes, carry,
// memory_in_passes, output, decision, next_symbol,
// dtype, device, seed.
std::vector<OptionSpec> recognizer_options(const std::string& architecture = "recurrent");

class Recognizer : public SequenceModel {
 public:
  Recognizer(Alphabet alphabet, const Json& options, const Kinds& kinds = registered_kinds());

  std::string kind() const override { return "recognizer"; }
  std::int64_t passes() const { return training_.passes; }
  const Refinement& refinement(bool training) const { return training ? training_ : evaluation_; }
  // Whether a memory moves in every pass.
  bool memory_moves() const { return memory_moves_; }
  bool affine() const { return affine_; }
  // Whether fast paths are taken where there are any.
  bool kernels() const { return kernels_; }
  Decision decision() const { return decision_; }
  // Strings are valid where what decides about them lies above: logits above 0, probabilities and
  // measures above 1/2.
  double threshold() const { return threshold(decision_); }
  double threshold(Decision decision) const {
    return affine_ && decision == Decision::last ? 0.0 : 0.5;
  }
  // Whether what decided about a string gives it this label.
  bool agrees(double decided, bool label) const { return agrees(decided, label, decision_); }
  bool agrees(double decided, bool label, Decision decision) const {
    return label ? decided > threshold(decision) : decided <= threshold(decision);
  }
  // W : 1 x H and b : 1 of the affine output.
  const Tensor& output_weight() const { return output_weight_; }
  const Tensor& output_bias() const { return output_bias_; }
  bool predicts_next_symbol() const { return next_weight_.defined(); }
  // V : outcomes x H and c : outcomes; undefined without next_symbol.
  const Tensor& next_weight() const { return next_weight_; }
  const Tensor& next_bias() const { return next_bias_; }

  // words : B x n ids of the alphabet's symbols -> what the network reads, B x n or B x (n+1).
  Tensor input(const Tensor& words) const;
  // hiddens : B x m x H -> B x m
  Tensor scores(const Tensor& hiddens) const;
  // hiddens : B x m x H -> logits of the next symbol : B x m x outcomes; undefined without
  // next_symbol.
  Tensor next_scores(const Tensor& hiddens) const;
  // `noise` makes it a training pass, see Network::run.
  Recognition run(const Tensor& words, Random* noise = nullptr) const;
  // The same with gradients that end after every `window` symbols; nothing defined where the
  // network cannot (Network::run_windows).
  Recognition run_windows(const Tensor& words, std::int64_t window, Random* noise) const;
  // The training pass of run(), or with a window > 0 of run_windows(), that differentiates itself:
  // the hidden vectors after each pass, B x m x H. Null where the network has none
  // (Network::direct_pass).
  DirectPassPtr direct_pass(const Tensor& words, std::int64_t window, Random& noise) const;
  // The next passes of strings that are read in pieces, see Network::advance. words : B x c of what
  // input() gives.
  Passes advance(const Tensor& words, const NetworkStatePtr& state, Random* noise) const;
  // What decides about each string, B (float64).
  Tensor decisions(const Tensor& words) const { return decisions(words, decision_); }
  Tensor decisions(const Tensor& words, Decision decision) const {
    return decided(run(words), decision);
  }
  // The same about strings of which the model has said this.
  Tensor decided(const Recognition& said, Decision decision) const;

 private:
  // The symbols and passes that the network is given for `words`.
  std::pair<Tensor, Refinement> given(const Tensor& words, bool training) const;

  Refinement training_, evaluation_;
  bool memory_moves_ = false;
  bool affine_ = true, kernels_ = true;
  Decision decision_ = Decision::last;
  Tensor next_weight_, next_bias_;
};
using RecognizerPtr = std::shared_ptr<Recognizer>;

// What decides about strings that are read piece by piece. No gradient flows through it.
class Verdict {
 public:
  explicit Verdict(const Recognizer& model) : Verdict(model, model.decision()) {}
  Verdict(const Recognizer& model, Decision decision)
      : affine_(model.affine()), decision_(decision), threshold_(model.threshold(decision)) {}
  // scores, weights : B x m of the next passes (Recognition, Passes); m >= 1.
  void add(const Tensor& scores, const Tensor& weights);
  std::vector<double> values() const;  // B

 private:
  // The last score, and of the answers that count their sum, number and bounds.
  struct String {
    double last = 0, sum = 0, count = 0;
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();
  };

  bool affine_;
  Decision decision_;
  double threshold_;
  std::vector<String> strings_;
};

}  // namespace pushdown
