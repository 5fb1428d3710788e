// The losses of a recognizer's answers after every symbol, as one operation with its own
// derivative. For a hidden vector h with the label y and the next symbol s,
//   score  x = W h + b,     p = logistic(x)
//   validity   v * (log(1 + exp(x)) - x y)     the cross-entropy of p and y,     or
//              v * (p - y)^2 / 2
//   symbol     s * -log softmax(V h + c)[next]
// and the loss of a string is the sum over its steps. The composed form needs some sixty small
// operations forward and backward, which for short batches take far longer than the network.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

struct AnswerCosts {
  bool squared = false;            // squared error instead of cross-entropy for the validity
  double validity_weight = 1;      // v
  double symbol_weight = 0;        // s
  bool symbols_of_invalid = true;  // count the next symbols of strings with y = 0, too
};

// The hidden vectors of B strings after T steps each, on the CPU, with their labels and weights.
struct AnswerRows {
  Tensor hiddens;  // B x T x H
  Tensor labels;   // B, of the same type
  Tensor next;     // B x T (int64), -1 if none follows; undefined if symbol_weight is 0
  Tensor weights;  // B x T, 0 for steps that do not count; undefined: all 1
};

struct AnswerLayers {
  Tensor validity_weight, validity_bias;  // W : 1 x H, b : 1
  Tensor symbol_weight, symbol_bias;      // V : O x H, c : O; undefined if symbol_weight is 0
};

struct AnswerLosses {
  Tensor losses;  // B, differentiable in the hidden vectors and layers
  Tensor scores;  // B x T, without gradients
};

// Returns whether answer_losses accepts them: float32 or float64 on the CPU.
bool suits_answer_losses(const Tensor& hiddens);
AnswerLosses answer_losses(const AnswerRows& rows, const AnswerLayers& layers,
                           const AnswerCosts& costs);

struct AnswerGradients {
  AnswerLosses answers;  // without gradients
  Tensor slopes;         // B x T x H: the gradient by the hidden vectors
};
// Computes the same and `scale` times the gradient of the sum of the losses, without a graph. Adds
// the gradients of the layers to their current gradients.
AnswerGradients differentiate_answers(const AnswerRows& rows, const AnswerLayers& layers,
                                      const AnswerCosts& costs, double scale);

}  // namespace pushdown
