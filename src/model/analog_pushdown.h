// The neural network pushdown automaton (NNPDA) of Sun, Giles, Chen and Lee (1998): J state neurons
// S, one action neuron A, and an analog stack (stack/analog_stack.h) whose window R is read back.
// With l the symbol that is read, g(v) = 1 / (1 + exp(-v)) and f(u) = 2 g(u) - 1:
//   second  S_i' = g(sum_j S_j (sum_k W_ijk R_k + W_ij,R+l) + b_i),  A = f(... with W_jk, and b)
//   (6) third   S_i' = g(sum_jk W_ijkl S_j R_k + b_i),                   A = f(... with W_jkl, and
//   b) (5) full    S as in third;  A = sum_Pk W_Pkl M_P R_k,  W cut to [-1, 1] (8, 9, 24)
//           M_P = prod_m (S_m where bit m of P is set, 1 - S_m elsewhere),  P = 0 .. 2^J - 1
// Since sum_P M_P = 1 and sum_k R_k <= 1, |A| <= 1 in the full order too. The weights may have left
// [-1, 1]; what is used is the nearest number inside, and the gradient is the one there.
//
// The stack takes A after every symbol: A > epsilon pushes the symbol read, A < -epsilon pops. The
// end symbol (ModuleContext::end_symbols) moves the state and not the stack. A pop is refused where
// the stack is empty or holds less than the share 1 - tolerance of it; the string then stops: state
// and stack stay as they were before that symbol, whatever follows. Any other pop takes what there
// is, and so does every pop with underflow = 'continue'.
//
// With bottom_reading R has one more neuron, 1 - sum R. Without it, and with an empty stack,
// nothing but the biases is seen in the third and the full order.
//
// Hidden vector h = (S_1 .. S_J, L, U), H = J + 2: L the length of the stack, and U = 0, or, where
// a pop was refused, by how much it was greater than L. dU = -(dL + dA): to push more makes it
// smaller. Measure of validity: S_J - L (the chapter's H), and 0 where a pop was refused.
//
// stack_derivative: 'exact', through every section in the window, or 'top_and_bottom', equations 18
// and 20: the reading depends on the latest action alone and L' = L + A.
//
// quantised: an evaluation (a pass without `noise`) takes -1, 0 or 1 for A with the borders
// -1/2 and 1/2, in the full order so for the action weights too, and 0 or 1 for S with the border
// 1/2 (21, 22, 28).
#pragma once
#include "model/network.h"

namespace pushdown {

// order, states, epsilon, underflow, tolerance, bottom_reading, stack_derivative, quantised, range.
NetworkKind analog_pushdown_network();

}  // namespace pushdown
