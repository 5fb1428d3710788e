// The rows of the registry of learning algorithms, one per file, and what their files share:
// strings read piece by piece, and Jacobians of a piece.
//
// Letters: B batch, c symbols of a piece, S numbers of a state, N numbers of all parameters.
#pragma once
#include <functional>

#include "tensor/numbers.h"
#include "train/learning.h"

namespace pushdown {

LearningKind truncated_learning();
LearningKind real_time_learning();
LearningKind unbiased_online_learning();

// uoro by tensor operations: the definition, for any network.
LearningPtr unbiased_online_by_tensors(const Json& options);
// The same at one estimate for each string and with a truncation of 1, with the same random
// numbers, for networks of higher order (Network::higher_order); nothing for others.
std::optional<ValidityLosses> unbiased_online_fast(const Recognizer& model,
                                                   const Objective& objective,
                                                   const StringBatch& batch, double epsilon,
                                                   Random& random);

// The symbol that follows each of the passes over words `first` to `first + count` - 1 of what is
// read, words : B x n -> B x (count K), -1 after the last word.
Tensor following(const Tensor& words, std::int64_t first, std::int64_t count, std::int64_t passes);

// bptt or, with a window > 0, tbptt without a graph, by a pass of the network that differentiates
// itself (Recognizer::direct_pass) and answers with costs of their own (Objective::answer_costs);
// nothing where there are no such.
std::optional<ValidityLosses> differentiate_directly(const Recognizer& model,
                                                     const Objective& objective,
                                                     const StringBatch& batch, std::int64_t window,
                                                     Random& random);
// bptt without asking the network for a kernel.
ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, Random& random);
// The same for what the model has said about the batch.
ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, const Recognition& said);

// Strings of a batch as they are read forward in time.
class StringPieces {
 public:
  StringPieces(const Recognizer& model, const Objective& objective, const StringBatch& batch);
  // The one string alone.
  StringPieces only(std::int64_t b) const;

  std::int64_t strings() const { return words_.size(0); }
  // Whether a script defined parts of the model or of the objective.
  bool scripted() const;
  std::int64_t length() const { return words_.size(1); }  // the end symbol included
  NetworkStatePtr initial() const;
  struct Piece {
    Tensor losses;           // B: of the piece's passes
    Tensor scores, weights;  // B x c K: after each pass; see Passes
    NetworkStatePtr state;
  };
  Verdict verdict() const { return Verdict(model_); }
  Piece read(std::int64_t first, std::int64_t count, const NetworkStatePtr& state,
             Random& random) const;

 private:
  const Recognizer& model_;
  const Objective& objective_;
  Tensor words_, labels_, viable_;
};

// The parameters that are trained, as one vector of N numbers.
class FlatParameters {
 public:
  explicit FlatParameters(const ParameterList& parameters);
  std::int64_t size() const { return size_; }
  const std::vector<Tensor>& tensors() const { return tensors_; }
  // Adds scale * flat : N to the parameters' gradients.
  void add_gradient(const Tensor& flat, double scale) const;

 private:
  std::vector<Tensor> tensors_;
  std::int64_t size_ = 0;
};

// Leaves with the numbers of a state's tensors, and the numbers S that they have together.
std::vector<Tensor> leaves_of(const NetworkStatePtr& state);
std::int64_t number_count(const std::vector<Tensor>& tensors);
// weights^T d(outputs) / d(inputs), one tensor an input, zeros where nothing flows. What is not
// differentiable among the outputs counts as constant. With `twice` the result can be
// differentiated in the weights.
std::vector<Tensor> pulled_back(const std::vector<Tensor>& outputs,
                                const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& weights, bool twice = false);
// All numbers of the tensors behind each other.
Tensor flattened(const std::vector<Tensor>& tensors);

// A gradient found string by string.
struct StringGradient {
  Tensor gradient;  // N
  double loss = 0, score = 0;
};
// Calls `one` for each string of the batch, on the session's threads, and adds the mean of their
// gradients; each string has its own stream of random numbers.
ValidityLosses string_by_string(
    const FlatParameters& parameters, const StringPieces& pieces, Random& random,
    const std::function<StringGradient(const StringPieces& string, Random& random)>& one);

}  // namespace pushdown
