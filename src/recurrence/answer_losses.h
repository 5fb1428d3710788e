// What a recognizer's answers after every symbol cost, as one operation with a derivative of its
// own. Of a hidden vector h, with the label y and the next symbol s,
//   score  x = W h + b,     p = logistic(x)
//   validity   v * (log(1 + exp(x)) - x y)     the cross-entropy of p and y,     or
//              v * (p - y)^2 / 2
//   symbol     s * -log softmax(V h + c)[next]
// and the loss of a string is the sum over its steps. In the composed form these are some sixty
// small operations forward and backward, which for short batches take far longer than the network.
#pragma once
#include "tensor/torch.h"

namespace pushdown {

struct AnswerCosts {
  bool squared = false;            // validity by the squared error instead of the cross-entropy
  double validity_weight = 1;      // v
  double symbol_weight = 0;        // s
  bool symbols_of_invalid = true;  // the next symbols of strings with y = 0 count, too
};

// The hidden vectors of B strings after T steps each, on the processor, and what is known of them.
struct AnswerRows {
  Tensor hiddens;  // B x T x H
  Tensor labels;   // B, of their type
  Tensor next;     // B x T (int64), -1 where none follows; undefined where symbol_weight is 0
  Tensor weights;  // B x T, 0 for steps that do not count; undefined: all 1
};

struct AnswerLayers {
  Tensor validity_weight, validity_bias;  // W : 1 x H, b : 1
  Tensor symbol_weight, symbol_bias;      // V : O x H, c : O; undefined where symbol_weight is 0
};

struct AnswerLosses {
  Tensor losses;  // B, with gradients to hiddens and layers
  Tensor scores;  // B x T, without
};

// Whether answer_losses takes them: float32 or float64 on the processor.
bool suits_answer_losses(const Tensor& hiddens);
AnswerLosses answer_losses(const AnswerRows& rows, const AnswerLayers& layers,
                           const AnswerCosts& costs);

struct AnswerGradients {
  AnswerLosses answers;  // without gradients
  Tensor slopes;         // B x T x H: the gradient by the hidden vectors
};
// The same with `scale` times the gradient of the sum of losses, which is added to the gradients of
// the layers, without a graph.
AnswerGradients differentiate_answers(const AnswerRows& rows, const AnswerLayers& layers,
                                      const AnswerCosts& costs, double scale);

}  // namespace pushdown
