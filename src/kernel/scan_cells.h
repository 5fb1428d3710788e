// The step functions of the recurrent cells, forward and backward (definitions: controller/*.h).
// For kernel files only.
//
// forward:  input, recurrent : G pre-activations from below and from the last hidden vector (both
//           padded, may be overwritten); previous : h of the last step, before : what the last step
//           saved (both null at the first step) -> saved, hidden : H.
// backward: gradient : gradient of hidden; carry : H, gradient of the cell's inner state, updated
//           for the step before -> input, recurrent : gradients of the pre-activations; adds to
//           previous_gradient what reaches the last hidden vector without a weight.
#pragma once
#include "kernel/scan_math.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// `saved` has kSaved * H numbers and a vector to spare.
template <class F, bool kSigmoid>
struct ElmanCell {
  static constexpr Index kGates = 1, kSaved = 1;
  static constexpr bool kSplit = false;  // recurrent and input gradients are the same

  static void forward(Index h, F* input, const F* recurrent, const F*, const F*, F* saved,
                      F* hidden) {
    add(input, recurrent, h);
    if constexpr (kSigmoid)
      sigmoid_all(input, saved, h);
    else
      tanh_all(input, saved, h);
    copy(hidden, saved, h);
  }
  static void backward(Index h, const F* gradient, F*, const F*, const F* saved, const F*, F* input,
                       F*, F*) {
    for (Index i = 0; i < h; ++i)
      input[i] = gradient[i] * (kSigmoid ? saved[i] * (1 - saved[i]) : 1 - saved[i] * saved[i]);
  }
};

template <class F>
struct LstmCell {
  static constexpr Index kGates = 4, kSaved = 6;  // i f g o, c, tanh c
  static constexpr bool kSplit = false;

  static void forward(Index h, F* input, const F* recurrent, const F*, const F* before, F* saved,
                      F* hidden) {
    // tanh x = 2 sigmoid(2 x) - 1, so that all gates take one pass.
    for (Index k = 0; k < 4 * h; ++k) input[k] += recurrent[k];
    for (Index k = 2 * h; k < 3 * h; ++k) input[k] *= 2;
    sigmoid_all(input, saved, 4 * h);
    F *i = saved, *f = saved + h, *g = saved + 2 * h, *o = saved + 3 * h, *c = saved + 4 * h;
    for (Index k = 0; k < h; ++k) g[k] = 2 * g[k] - 1;
    if (before != nullptr) {
      const F* old = before + 4 * h;
      for (Index k = 0; k < h; ++k) c[k] = f[k] * old[k] + i[k] * g[k];
    } else {
      for (Index k = 0; k < h; ++k) c[k] = i[k] * g[k];
    }
    tanh_all(c, saved + 5 * h, h);
    for (Index k = 0; k < h; ++k) hidden[k] = o[k] * saved[5 * h + k];
  }

  static void backward(Index h, const F* gradient, F* carry, const F*, const F* saved,
                       const F* before, F* input, F*, F*) {
    const F *i = saved, *f = saved + h, *g = saved + 2 * h, *o = saved + 3 * h,
            *squashed = saved + 5 * h;
    for (Index k = 0; k < h; ++k) {
      const F old = before != nullptr ? before[4 * h + k] : F(0);
      const F cell = carry[k] + gradient[k] * o[k] * (1 - squashed[k] * squashed[k]);
      input[k] = cell * g[k] * i[k] * (1 - i[k]);
      input[h + k] = cell * old * f[k] * (1 - f[k]);
      input[2 * h + k] = cell * i[k] * (1 - g[k] * g[k]);
      input[3 * h + k] = gradient[k] * squashed[k] * o[k] * (1 - o[k]);
      carry[k] = cell * f[k];
    }
  }
};

template <class F>
struct GruCell {
  static constexpr Index kGates = 3, kSaved = 4;  // r z n, hidden side of n
  static constexpr bool kSplit = true;

  static void forward(Index h, F* input, const F* recurrent, const F* previous, const F*, F* saved,
                      F* hidden) {
    F *r = saved, *z = saved + h, *n = saved + 2 * h, *side = saved + 3 * h;
    for (Index k = 0; k < 2 * h; ++k) input[k] += recurrent[k];
    sigmoid_all(input, saved, 2 * h);
    copy(side, recurrent + 2 * h, h);
    for (Index k = 0; k < h; ++k) input[k] = input[2 * h + k] + r[k] * side[k];
    // tanh_all writes whole vectors: into the spent input first.
    tanh_all(input, input, h);
    copy(n, input, h);
    for (Index k = 0; k < h; ++k) {
      const F old = previous != nullptr ? previous[k] : F(0);
      hidden[k] = n[k] + z[k] * (old - n[k]);
    }
  }

  static void backward(Index h, const F* gradient, F*, const F* previous, const F* saved, const F*,
                       F* input, F* recurrent, F* previous_gradient) {
    const F *r = saved, *z = saved + h, *n = saved + 2 * h, *side = saved + 3 * h;
    for (Index k = 0; k < h; ++k) {
      const F old = previous != nullptr ? previous[k] : F(0);
      const F candidate = gradient[k] * (1 - z[k]) * (1 - n[k] * n[k]);
      input[k] = recurrent[k] = candidate * side[k] * r[k] * (1 - r[k]);
      input[h + k] = recurrent[h + k] = gradient[k] * (old - n[k]) * z[k] * (1 - z[k]);
      input[2 * h + k] = candidate;
      recurrent[2 * h + k] = candidate * r[k];
      previous_gradient[k] += gradient[k] * z[k];
    }
  }
};

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
