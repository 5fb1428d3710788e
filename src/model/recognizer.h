// A recognizer: a network reads a string symbol by symbol and outputs after each symbol whether it
// is valid,
//   p(valid | w_1 .. w_t) = logistic(W h_t + b)                              output 'affine'
// (Mali et al. 2019, section 3.1), with the stack's reading joined to h_t if output is
// 'hidden_and_reading' (stack_rnn.h), or by the network's own measure of validity, above 1/2
// (output 'own'; Network::validity). With end_symbol, one more symbol, whose id is the size of the
// alphabet, ends every string: only after it can an automaton know whether its stack is empty.
//
// The decision about a string is the answer after its last symbol (decision 'last'), the mean of
// the answers after every symbol, including the end symbol (decision 'mean'; Mali et al. 2021,
// section 3), or all answers, which must agree (decision 'every'). If they do not agree, the string
// counts as misclassified whatever its label.
//
// With next_symbol, a second output layer predicts the next symbol (Mali et al. 2021, equation 3),
//   p(w_{t+1} | w_1 .. w_t) = softmax(V h_t + c),
// where the end symbol, if there is one, is among the outcomes; with end_outcome, the end of the
// string is, although no symbol is read for it.
//
// passes K > 1 is iterative refinement (Refinement): K passes over every symbol in training, and
// `evaluation_passes` in evaluation, each with an answer. With memory_in_passes = 'moves', every
// symbol is read K times instead, so that a memory moves K times, too.
#pragma once
#include <limits>

#include "model/sequence_model.h"

namespace pushdown {

// The output of a recognizer for a batch of strings; P = passes made, K times the symbols read.
struct Recognition {
  Tensor scores;   // B x (P + 1), before the first pass and after each
  Tensor hiddens;  // B x (P + 1) x H
  Tensor weights;  // B x P, see Passes
};

// The value that decides about a string. last: the score after its last symbol. mean: the mean of
// the probabilities (affine output) or of the measures (own output) after each pass that was not
// skipped. every: the one of these that is nearest to the threshold if all lie on one side of it,
// otherwise NaN.
enum class Decision { last, mean, every };
const std::vector<std::string>& decision_names();
// Throws std::invalid_argument on another name.
Decision parse_decision(const char* where, const std::string& name);

// Returns architecture, the options of that network, end_symbol, passes, evaluation_passes, carry,
// memory_in_passes, output, decision, next_symbol, end_outcome, dtype, device, seed.
std::vector<OptionSpec> recognizer_options(const std::string& architecture = "recurrent");

class Recognizer : public SequenceModel {
 public:
  Recognizer(Alphabet alphabet, const Json& options, const Kinds& kinds = registered_kinds());

  std::string kind() const override { return "recognizer"; }
  std::int64_t passes() const { return training_.passes; }
  const Refinement& refinement(bool training) const { return training ? training_ : evaluation_; }
  // Returns whether a memory moves in every pass.
  bool memory_moves() const { return memory_moves_; }
  bool affine() const { return affine_; }
  // Returns whether fast paths are used if available.
  bool kernels() const { return kernels_; }
  Decision decision() const { return decision_; }
  // Strings are valid if their deciding value is above the threshold: logits above 0, probabilities
  // and measures above 1/2.
  double threshold() const { return threshold(decision_); }
  double threshold(Decision decision) const {
    return affine_ && decision == Decision::last ? 0.0 : 0.5;
  }
  // Returns whether the deciding value of a string agrees with this label.
  bool agrees(double decided, bool label) const { return agrees(decided, label, decision_); }
  bool agrees(double decided, bool label, Decision decision) const {
    return label ? decided > threshold(decision) : decided <= threshold(decision);
  }
  // W : 1 x H and b : 1 of the affine output.
  const Tensor& output_weight() const { return output_weight_; }
  const Tensor& output_bias() const { return output_bias_; }
  // Returns the outcome of the next symbol after the last pass over a string: the end, or -1 if it
  // is not predicted there.
  std::int64_t outcome_after_last() const { return end_outcome_ ? alphabet_.size() : -1; }
  bool predicts_next_symbol() const { return next_weight_.defined(); }
  // V : outcomes x H and c : outcomes; undefined without next_symbol.
  const Tensor& next_weight() const { return next_weight_; }
  const Tensor& next_bias() const { return next_bias_; }

  // Returns the input of the network for words : B x n ids of the alphabet's symbols: B x n, or B x
  // (n+1) with the end symbol.
  Tensor input(const Tensor& words) const;
  // hiddens : B x m x H -> B x m
  Tensor scores(const Tensor& hiddens) const;
  // hiddens : B x m x H -> logits of the next symbol : B x m x outcomes; undefined without
  // next_symbol.
  Tensor next_scores(const Tensor& hiddens) const;
  // With `noise` it is a training pass.
  Recognition run(const Tensor& words, Random* noise = nullptr) const;
  // Returns what the network is asked to do with words : B x n of the result of input().
  PassRequest request(const Tensor& words, std::int64_t window, Random* noise) const;
  // Makes the next passes over strings that are read in pieces, see Network::advance. words : B x c
  // of the result of input().
  Passes advance(const Tensor& words, const NetworkStatePtr& state, Random* noise) const;
  // Returns the deciding value of each string, B (float64).
  Tensor decisions(const Tensor& words) const { return decisions(words, decision_); }
  Tensor decisions(const Tensor& words, Decision decision) const {
    return decided(run(words), decision);
  }
  // Returns the same for strings for which the model has already given this output.
  Tensor decided(const Recognition& said, Decision decision) const;

 private:
  Refinement training_, evaluation_;
  bool memory_moves_ = false;
  bool affine_ = true, kernels_ = true, end_outcome_ = false;
  Decision decision_ = Decision::last;
  Tensor next_weight_, next_bias_;
};
using RecognizerPtr = std::shared_ptr<Recognizer>;

// Computes the deciding values of strings that are read piece by piece. No gradient flows through
// it.
class Verdict {
 public:
  explicit Verdict(const Recognizer& model) : Verdict(model, model.decision()) {}
  Verdict(const Recognizer& model, Decision decision)
      : affine_(model.affine()), decision_(decision), threshold_(model.threshold(decision)) {}
  // scores, weights : B x m of the next passes (Recognition, Passes); m >= 1.
  void add(const Tensor& scores, const Tensor& weights);
  std::vector<double> values() const;  // B

 private:
  // The last score, and the sum, number and bounds of the answers that count.
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
