// The step functions of the recurrent cells for the CUDA kernels, one unit a call (see
// scan_cells.h for the vectorised ones; definitions: controller/*.h).
//
// forward:  input, recurrent : G pre-activations from below and from the last hidden vector;
//           previous : h of the last step, before : what the last step saved (both null at the
//           first step) -> saved, hidden.
// backward: gradient : gradient of hidden; carry : that of the cell's inner state, updated for the
//           step before -> input, recurrent : gradients of the pre-activations. Returns what
//           reaches the last hidden vector without a weight.
#pragma once
#include "kernel/device_team.h"

namespace pushdown::device {

PUSHDOWN_HOST_DEVICE Index cell_gates(ScanCell cell) {
  return cell == ScanCell::lstm ? 4 : cell == ScanCell::gru ? 3 : 1;
}
// Numbers that each unit keeps for the backward pass: lstm i f g o, c, tanh c; gru r z n, hidden
// side of n; elman its value.
PUSHDOWN_HOST_DEVICE Index cell_saved(ScanCell cell) {
  return cell == ScanCell::lstm ? 6 : cell == ScanCell::gru ? 4 : 1;
}
// Whether the gradients of the input and of the hidden side of the gates differ.
PUSHDOWN_HOST_DEVICE bool cell_splits(ScanCell cell) { return cell == ScanCell::gru; }

template <class F>
PUSHDOWN_DEVICE void cell_forward(ScanCell cell, Index h, Index k, const F* input,
                                  const F* recurrent, const F* previous, const F* before, F* saved,
                                  F* hidden) {
  if (cell == ScanCell::lstm) {
    const F i = sigmoid(input[k] + recurrent[k]);
    const F f = sigmoid(input[h + k] + recurrent[h + k]);
    const F g = std::tanh(input[2 * h + k] + recurrent[2 * h + k]);
    const F o = sigmoid(input[3 * h + k] + recurrent[3 * h + k]);
    const F c = (before != nullptr ? f * before[4 * h + k] : F(0)) + i * g;
    const F squashed = std::tanh(c);
    saved[k] = i;
    saved[h + k] = f;
    saved[2 * h + k] = g;
    saved[3 * h + k] = o;
    saved[4 * h + k] = c;
    saved[5 * h + k] = squashed;
    hidden[k] = o * squashed;
  } else if (cell == ScanCell::gru) {
    const F r = sigmoid(input[k] + recurrent[k]);
    const F z = sigmoid(input[h + k] + recurrent[h + k]);
    const F side = recurrent[2 * h + k];
    const F n = std::tanh(input[2 * h + k] + r * side);
    const F old = previous != nullptr ? previous[k] : F(0);
    saved[k] = r;
    saved[h + k] = z;
    saved[2 * h + k] = n;
    saved[3 * h + k] = side;
    hidden[k] = n + z * (old - n);
  } else {
    const F sum = input[k] + recurrent[k];
    saved[k] = hidden[k] = cell == ScanCell::elman_sigmoid ? sigmoid(sum) : std::tanh(sum);
  }
}

template <class F>
PUSHDOWN_DEVICE F cell_backward(ScanCell cell, Index h, Index k, F gradient, F* carry,
                                const F* previous, const F* saved, const F* before, F* input,
                                F* recurrent) {
  if (cell == ScanCell::lstm) {
    const F i = saved[k], f = saved[h + k], g = saved[2 * h + k], o = saved[3 * h + k],
            squashed = saved[5 * h + k];
    const F old = before != nullptr ? before[4 * h + k] : F(0);
    const F inner = carry[k] + gradient * o * (1 - squashed * squashed);
    input[k] = inner * g * i * (1 - i);
    input[h + k] = inner * old * f * (1 - f);
    input[2 * h + k] = inner * i * (1 - g * g);
    input[3 * h + k] = gradient * squashed * o * (1 - o);
    carry[k] = inner * f;
    return 0;
  }
  if (cell == ScanCell::gru) {
    const F r = saved[k], z = saved[h + k], n = saved[2 * h + k], side = saved[3 * h + k];
    const F old = previous != nullptr ? previous[k] : F(0);
    const F candidate = gradient * (1 - z) * (1 - n * n);
    input[k] = recurrent[k] = candidate * side * r * (1 - r);
    input[h + k] = recurrent[h + k] = gradient * (old - n) * z * (1 - z);
    input[2 * h + k] = candidate;
    recurrent[2 * h + k] = candidate * r;
    return gradient * z;
  }
  const F value = saved[k];
  input[k] = gradient * (cell == ScanCell::elman_sigmoid ? value * (1 - value) : 1 - value * value);
  return 0;
}

}  // namespace pushdown::device
