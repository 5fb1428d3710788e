// What the files of the learning algorithms share: strings read piece by piece, and Jacobians of a
// piece.
//
// Letters: B batch, c symbols of a piece, S numbers of a state, N numbers of all parameters.
#pragma once
#include <functional>

#include "tensor/numbers.h"
#include "train/learning/learning.h"

namespace pushdown {

// Returns uoro in tensor operations: the reference definition, for any network.
LearningPtr unbiased_online_by_tensors(const Json& options);
// Computes the same with one estimate per string and a truncation of 1, with the same random
// numbers, for networks of higher order.
ValidityLosses unbiased_online_fast(const Recognizer& model, const Objective& objective,
                                    const StringBatch& batch, const HigherOrderNetwork& network,
                                    double epsilon, Random& random);

// Returns the symbol that follows each of the passes over words `first` to `first + count` - 1 of
// the input, words : B x n -> B x (count K), `last` after the last word.
Tensor following(const Tensor& words, std::int64_t first, std::int64_t count, std::int64_t passes,
                 std::int64_t last);

// Returns ObjectiveBatch::next_sets of these passes from StringBatch::next_sets; undefined for
// those of no string. `count` is 0 if nothing is read.
Tensor sets_after(const Recognizer& model, const Tensor& sets, std::int64_t first,
                  std::int64_t count);

// Returns how the network computes bptt, tbptt if the window is above 0, or the gradient of another
// algorithm that it knows for this objective. `usual`: an algorithm with its usual options, for
// which it may have a kernel.
Route route_of(const Recognizer& model, const Objective& objective, const StringBatch& batch,
               Random& random, std::string_view algorithm, std::int64_t window = 0,
               bool usual = true);
// Computes bptt or, with a window > 0, tbptt.
ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, Random& random, std::int64_t window = 0);
// Computes the losses of a pass and the gradients of the pass and of the output layers.
ValidityLosses backpropagate(const Recognizer& model, const Objective& objective,
                             const StringBatch& batch, const Pass& pass);
// tbptt over pieces, one after the other (truncated.cpp).
ValidityLosses backpropagate_pieces(const Recognizer& model, const Objective& objective,
                                    const StringBatch& batch, Random& random, std::int64_t window);

// The strings of a batch, read forward in time.
class StringPieces {
 public:
  StringPieces(const Recognizer& model, const Objective& objective, const StringBatch& batch);
  // Returns a batch with only this string.
  StringPieces only(std::int64_t b) const;

  std::int64_t strings() const { return words_.size(0); }
  // Returns whether a script defined parts of the model or of the objective.
  bool scripted() const;
  std::int64_t length() const { return words_.size(1); }  // including the end symbol
  NetworkStatePtr initial() const;
  struct Piece {
    Tensor losses;           // B: over the piece's passes
    Tensor scores, weights;  // B x c K: after each pass; see Passes
    NetworkStatePtr state;
  };
  Verdict verdict() const { return Verdict(model_); }
  Piece read(std::int64_t first, std::int64_t count, const NetworkStatePtr& state,
             Random& random) const;

 private:
  const Recognizer& model_;
  const Objective& objective_;
  Tensor words_, labels_, viable_, next_sets_;
};

// The trained parameters as one vector of N numbers.
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

// Leaves with the values of a state's tensors, and the total count S of their numbers.
std::vector<Tensor> leaves_of(const NetworkStatePtr& state);
std::int64_t number_count(const std::vector<Tensor>& tensors);
// Returns weights^T d(outputs) / d(inputs), one tensor per input, zeros where no gradient flows.
// Outputs that are not differentiable count as constant. With `twice`, the result can be
// differentiated in the weights.
std::vector<Tensor> pulled_back(const std::vector<Tensor>& outputs,
                                const std::vector<Tensor>& inputs,
                                const std::vector<Tensor>& weights, bool twice = false);
// Returns all numbers of the tensors as one vector.
Tensor flattened(const std::vector<Tensor>& tensors);

// A gradient computed string by string.
struct StringGradient {
  Tensor gradient;  // N
  double loss = 0, score = 0;
};
// Returns the losses of strings or pieces, with kernels by the objective's program if there is one.
Tensor losses_of(const Recognizer& model, const Objective& objective, const ObjectiveBatch& read);

// Calls `one` for each string of the batch, on the session's threads, and adds the mean of their
// gradients. Each string has its own stream of random numbers.
ValidityLosses string_by_string(
    const FlatParameters& parameters, const StringPieces& pieces, Random& random,
    const std::function<StringGradient(const StringPieces& string, Random& random)>& one);

}  // namespace pushdown
