// Computes the gradient of a recognizer's loss. Learning algorithms are created by name through the
// list in learning.cpp.
//   bptt   backpropagation through time: the exact gradient, computed backwards over the whole
//          string
//   tbptt  the same over pieces of a string, with gradients ending at their borders (truncated.cpp)
//   rtrl   real-time recurrent learning: the exact gradient, computed forward in time
//          (real_time.cpp)
//   uoro   unbiased online recurrent optimization: a random rank-one estimate of the matrix that
//          rtrl carries along; its mean is the exact gradient (unbiased_online.cpp)
// Let f be the step from one symbol to the next, s' = f(s, theta). All algorithms except bptt need
// a network that can read strings in pieces; rtrl and uoro need one whose state is a list of
// tensors (NetworkState::tensors). Quantised units have the same derivatives as in bptt.
#pragma once
#include "model/recognizer.h"
#include "train/learning/objective.h"

namespace pushdown {

struct StringBatch {
  Tensor words;   // B x n, symbols of the alphabet
  Tensor labels;  // B (float64): 1 valid, 0 not
  Tensor viable;  // see ObjectiveBatch
  // B x (n + 1) x (V + 1) (int64), after 0 .. n symbols, for the V symbols of the alphabet and the
  // end: see ObjectiveBatch::next_sets; undefined if unknown.
  Tensor next_sets;
};

class LearningAlgorithm {
 public:
  virtual ~LearningAlgorithm() = default;
  // Adds the gradient of the mean loss of the batch, or an estimate of it, to the gradients of the
  // model's parameters. `random` makes it a training pass and provides its random numbers. The
  // scores are the deciding values of the strings, to be compared with the model's threshold.
  virtual ValidityLosses gradient(const Recognizer& model, const Objective& objective,
                                  const StringBatch& batch, Random& random) const = 0;
  // Returns whether it comes from backward passes over the strings, so that it is zero for
  // parameters that the strings do not use.
  virtual bool by_backward_passes() const { return false; }
};
using LearningPtr = std::unique_ptr<const LearningAlgorithm>;
using LearningKind = RegistryRow<LearningPtr (*)(const Json& options)>;

const std::vector<LearningKind>& learning_kinds();

// Returns {kind = 'tbptt', window = 50} with all defaults; a text is the kind alone.
Json resolve_learning(const Json& options);
LearningPtr make_learning(const Json& options);

}  // namespace pushdown
