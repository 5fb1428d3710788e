// The losses of a recognizer's answers after every symbol, and their gradients. For a hidden vector
// h with the label y and the next symbol s,
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
  Tensor hiddens;          // B x (first + T) x H
  std::int64_t first = 0;  // of the rows that count
  Tensor labels;           // B, of the same type
  Tensor next;             // B x T (int64), -1 if none follows; undefined if symbol_weight is 0
  Tensor weights;          // B x T, 0 for steps that do not count; undefined: all 1
};

struct AnswerLayers {
  Tensor validity_weight, validity_bias;  // W : 1 x H, b : 1
  Tensor symbol_weight, symbol_bias;      // V : O x H, c : O; undefined if symbol_weight is 0
};

struct AnswerGradients {
  Tensor losses;  // B
  Tensor scores;  // B x T
  Tensor slopes;  // of the shape of the hidden vectors, by which it is the gradient
};

// Returns whether differentiate_answers accepts them: float32 or float64 on the CPU.
bool suits_answers(const Tensor& hiddens);
// Computes the losses and `scale` times the gradient of their sum, without a graph. Adds the
// gradients of the layers to their current gradients.
AnswerGradients differentiate_answers(const AnswerRows& rows, const AnswerLayers& layers,
                                      const AnswerCosts& costs, double scale);

}  // namespace pushdown
