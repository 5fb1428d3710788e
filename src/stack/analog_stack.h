// The analog stack (Sun, Giles, Chen and Lee 1998): sections of continuous length on top of each
// other, each with a symbol. One number per step, the action A, drives it:
//   A > 0  pushes a section of length A with the given symbol
//   A < 0  pops sections of total length |A| from the top, at most the length of the stack
//   A = 0  does nothing
// It reads a window of length 1 at the top: R_k is the length of symbol k in the window, so that
// sum R = min(1, L), where L is the length of the stack. A symbol is a vector, one-hot or any
// mixture.
//
// With s_i the section lengths, bottom first, and the pop u = max(0, -A):
//   s_i' = max(0, s_i - max(0, u - sum_{j>i} s_j)),   s_new = max(0, A)
//   R    = sum_i min(s_i, max(0, 1 - sum_{j>i} s_j)) v_i
// Autograd through these equations gives the exact derivative (equation A-11): it depends on which
// section borders lie in the window, and is one-sided if a border coincides with the end of the
// window.
//
// Dimension letters: B batch, t sections, V symbols. Cost O(t V) per step and sequence.
#pragma once
#include "stack/stack.h"

namespace pushdown {

struct AnalogStack {
  Tensor vectors;  // B x t x V, bottom first
  Tensor lengths;  // B x t; 0 for a popped section
};

AnalogStack empty_analog_stack(std::int64_t batch, std::int64_t symbols, at::TensorOptions options);
// Returns the stack after one step with action : B and vector : B x V (the symbol that a push puts
// on top). Adds no section if no sequence of the batch pushes.
AnalogStack analog_step(const AnalogStack& stack, const Tensor& action, const Tensor& vector);
// Returns the total length, B.
Tensor analog_length(const AnalogStack& stack);
// Returns the window of length 1 at the top, B x V.
Tensor analog_reading(const AnalogStack& stack);
// Returns delta_{k,r1} - delta_{k,r2}, B x V. r1 is the top symbol of the window, r2 the one at its
// lower end, which moves out of it when more is pushed. The r2 term is absent if the stack is
// shorter than the window, so that nothing moves out; the result is 0 if the stack is empty.
Tensor analog_window_ends(const AnalogStack& stack);
// Returns `value` with the derivative analog_window_ends(stack) dA (equation 20; A-13), in which
// only the latest action counts. B x V
Tensor with_window_derivative(const Tensor& value, const AnalogStack& stack, const Tensor& action);
// Sets actions within the threshold, |A| <= epsilon, to 0.
Tensor active_actions(const Tensor& action, double epsilon);
// R -> R ++ (1 - sum R): the additional number is the part of the window below the bottom.
Tensor with_bottom(const Tensor& reading);

}  // namespace pushdown
