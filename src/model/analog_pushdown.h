// The neural network pushdown automaton (NNPDA) of Sun, Giles, Chen and Lee (1998): J state neurons
// S, one action neuron A, and an analog stack (stack/analog_stack.h) whose window R is read back.
// With l the symbol that is read, g(v) = 1 / (1 + exp(-v)) and f(u) = 2 g(u) - 1:
//   second  S_i' = g(sum_j S_j (sum_k W_ijk R_k + W_ij,R+l) + b_i),
//           A = f(... with W_jk, and b)                                              (6)
//   third   S_i' = g(sum_jk W_ijkl S_j R_k + b_i),  A = f(... with W_jkl, and b)     (5)
//   full    S as in third;  A = sum_Pk W_Pkl M_P R_k,  W cut to [-1, 1]              (8, 9, 24)
//           M_P = prod_m (S_m where bit m of P is set, 1 - S_m elsewhere),  P = 0 .. 2^J - 1
// Since sum_P M_P = 1 and sum_k R_k <= 1, |A| <= 1 in the full order, too. If weights have left
// [-1, 1], the nearest number inside is used, with the gradient at that number.
//
// The stack takes A after every symbol: A > epsilon pushes the symbol read, A < -epsilon pops. The
// end symbol (ModuleContext::end_symbols) changes the state and not the stack. A pop is refused if
// the stack is empty or contains less than the fraction 1 - tolerance of it. The string then stops:
// state and stack stay as they were before that symbol, whatever follows. Any other pop of more
// than the stack contains empties it; with underflow = 'continue', every pop does.
//
// With bottom_reading, R has one more neuron, 1 - sum R. Without it, if the stack is empty, the
// third and the full order see nothing but the biases.
//
// Hidden vector h = (S_1 .. S_J, L, U), H = J + 2: L is the length of the stack, and U = 0 or,
// after a refused pop, the excess of the pop over L. dU = -(dL + dA): pushing more makes it
// smaller. Measure of validity: S_J - L (the chapter's H), and 0 after a refused pop.
//
// stack_derivative: 'exact', through every section in the window, or 'top_and_bottom', equations 18
// and 20: the reading depends only on the latest action, and L' = L + A.
//
// quantised: an evaluation (a pass without `noise`) rounds A to -1, 0 or 1 with the borders -1/2
// and 1/2, and S to 0 or 1 with the border 1/2; in the full order, the action weights are rounded
// like A (21, 22, 28).
#pragma once
#include "model/network.h"

namespace pushdown {

// Returns the architecture with the options order, states, epsilon, underflow, tolerance,
// bottom_reading, stack_derivative, quantised, range.
NetworkKind analog_pushdown_network();

}  // namespace pushdown
