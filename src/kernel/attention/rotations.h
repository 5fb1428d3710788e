// The rotations of rotary encodings of positions (attention.h). For kernel files only.
#pragma once
#include "kernel/attention/attention.h"
#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {

// to = cosine and sine of the angles of each pair of numbers, side by side : T x D. Each angle is
// the sum of the one before and of that of position 1.
template <class F>
void fill_rotations(const Attention<F>& attention, F* to) {
  for (Index pair = 0; pair < attention.head_size / 2; ++pair) {
    const double frequency = rotary_frequency(pair, attention.head_size);
    const double cosine = __builtin_cos(frequency), sine = __builtin_sin(frequency);
    double x = 1, y = 0;
    F* own = to + 2 * pair;
    for (Index t = 0; t < attention.rows; ++t, own += attention.head_size) {
      own[0] = static_cast<F>(x);
      own[1] = static_cast<F>(y);
      const double next = x * cosine - y * sine;
      y = y * cosine + x * sine;
      x = next;
    }
  }
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
