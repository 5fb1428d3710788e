// The gates of cells (StepOp::lstm_cell, lstm_hidden and gru) for number i of every part, for the
// threads of a team. Activations replace the gates, and gradients of gates those of activations.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

// The new content of the cell.
template <class F>
PUSHDOWN_DEVICE inline F lstm_cell(F& in, F& forget, F& candidate, F& shown, F before) {
  in = sigmoid(in);
  forget = sigmoid(forget);
  candidate = std::tanh(candidate);
  shown = sigmoid(shown);
  return forget * before + in * candidate;
}
// slope: of the content. of_shown: until now the gradient of the activation.
template <class F>
PUSHDOWN_DEVICE inline void lstm_cell_slopes(F slope, F in, F forget, F candidate, F shown,
                                             F before, F& of_in, F& of_forget, F& of_candidate,
                                             F& of_shown) {
  of_in = slope * candidate * in * (1 - in);
  of_forget = slope * before * forget * (1 - forget);
  of_candidate = slope * in * (1 - candidate * candidate);
  of_shown *= shown * (1 - shown);
}

template <class F>
PUSHDOWN_DEVICE inline F lstm_hidden(F cell, F shown, F& squashed) {
  squashed = std::tanh(cell);
  return shown * squashed;
}
template <class F>
PUSHDOWN_DEVICE inline F lstm_hidden_slope(F slope, F shown, F squashed) {  // of the cell
  return slope * shown * (1 - squashed * squashed);
}

// other_*: from the hidden vector `before`; the rest is from the input.
template <class F>
PUSHDOWN_DEVICE inline F gru(F& reset, F& update, F& candidate, F other_reset, F other_update,
                             F other_candidate, F before) {
  reset = sigmoid(reset + other_reset);
  update = sigmoid(update + other_update);
  candidate = std::tanh(candidate + reset * other_candidate);
  return candidate + update * (before - candidate);
}
// Those of the hidden vector's parts are the same, but for the candidate, whose is of_candidate *
// reset.
template <class F>
PUSHDOWN_DEVICE inline void gru_slopes(F slope, F reset, F update, F candidate, F other_candidate,
                                       F before, F& of_reset, F& of_update, F& of_candidate) {
  of_candidate = slope * (1 - update) * (1 - candidate * candidate);
  of_reset = of_candidate * other_candidate * reset * (1 - reset);
  of_update = slope * (before - candidate) * update * (1 - update);
}

}  // namespace pushdown::device
