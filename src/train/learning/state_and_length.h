// The error function of the neural network pushdown automaton (Sun, Giles, Chen and Lee 1998). It
// trains the last state neuron S and the length L of the analog stack at the end of a string
// together. It is for model/analog_pushdown.h with its own measure of validity, S - L above 1/2.
//   E = (v + L - S)^2   v = 1 for a valid string, min(0, S - L), a constant, for an invalid one
//   (16)
// The target is thus S = 1 and L = 0 for valid strings, and S = 0 or L >= 1 for invalid ones. The
// chapter's updates (17) omit the factor 2 of the derivative, so a learning rate of the chapter is
// twice one of these.
//
// A string that stopped at a refused pop (U > 0, the third part of the hidden vector) has another
// error instead of E. If it is valid, the error is U, whose derivative is -(dL + dA): push more. If
// it is invalid, there is none, or, with illegal_underflow = 'pop_more', the derivative of -U, with
// the value 0.
//
// dead_neuron = d > 0 (26): neuron d is trained to 0 in the trap state and to 1 elsewhere. An
// invalid string is in the trap after ObjectiveBatch::viable symbols; it stops there.
//   E = (S* - S_d)^2 / 2 + (L* - L)^2 / 2
//   valid    S* = 1, L* = 0
//   trap     S* = 0, no second term
//   invalid  S* = 1, L* = 1, or L + 0.1 (a constant) where L >= 0.9
// If `viable` is not known, no string is in the trap.
//
// legal_weight multiplies the errors of valid strings. The chapter gives them five times the
// learning rate, one after every five invalid ones.
#pragma once
#include "train/learning/objective.h"

namespace pushdown {

// Returns the objective with the options illegal_underflow, dead_neuron, legal_weight.
ObjectiveKind state_and_length_objective();

}  // namespace pushdown
