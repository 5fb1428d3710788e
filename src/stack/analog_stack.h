// The analog stack (Sun, Giles, Chen and Lee 1998): sections of continuous length, one above the
// other, each with a symbol. It is driven by one number a step, the action A:
//   A > 0  a section of length A with the given symbol is put on top
//   A < 0  sections of total length |A| are taken off the top; what is not there cannot be taken
//   A = 0  nothing
// and reads a window of length 1 at the top: R_k is the length of symbol k in the window, so that
// sum R = min(1, L), L the length of the stack. A symbol is a vector, one-hot or any mixture.
//
// With s_i the section lengths, bottom first, and the pop u = max(0, -A):
//   s_i' = max(0, s_i - max(0, u - sum_{j>i} s_j)),   s_new = max(0, A)
//   R    = sum_i min(s_i, max(0, 1 - sum_{j>i} s_j)) v_i
// Autograd through these lines is the exact derivative (equation A-11): it depends on which borders
// of sections lie in the window, and is one-sided where a border lies on the window's end.
//
// Dimension letters: B batch, t sections, V symbols. Cost O(t V) a step and sequence.
#pragma once
#include "stack/stack.h"

namespace pushdown {

struct AnalogStack {
  Tensor vectors;  // B x t x V, bottom first
  Tensor lengths;  // B x t; 0 where a section was taken off
};

AnalogStack empty_analog_stack(std::int64_t batch, std::int64_t symbols, at::TensorOptions options);
// The stack after one step with action : B and vector : B x V (what a push puts on top). No section
// is added when no sequence of the batch pushes.
AnalogStack analog_step(const AnalogStack& stack, const Tensor& action, const Tensor& vector);
// The total length, B.
Tensor analog_length(const AnalogStack& stack);
// The window of length 1 at the top, B x V.
Tensor analog_reading(const AnalogStack& stack);
// delta_{k,r1} - delta_{k,r2}, B x V: r1 the top symbol of the window and r2 the one at its lower
// end, which the next piece pushed moves out of it. Without r2 where the stack is shorter than the
// window and nothing moves out, 0 where it is empty.
Tensor analog_window_ends(const AnalogStack& stack);
// `value` with the derivative analog_window_ends(stack) dA (equation 20; A-13): only the latest
// action counts. B x V
Tensor with_window_derivative(const Tensor& value, const AnalogStack& stack, const Tensor& action);
// Actions within the threshold, |A| <= epsilon, are none.
Tensor active_actions(const Tensor& action, double epsilon);
// R -> R ++ (1 - sum R): one more number, which says how much of the window is below the bottom.
Tensor with_bottom(const Tensor& reading);

}  // namespace pushdown
