// Multiply-adds of one training update, computed by formula, and the most that a core can do.
#pragma once
#include <cstdint>
#include <string>

namespace pushdown::bench {

// The sizes that the arithmetic count depends on, besides the shape of the kernel.
struct Workload {
  std::int64_t gates = 4;  // G / H: those of the LSTM
  std::string stack = "none";
  std::int64_t hidden = 20, vocabulary = 3, batch = 10;
  std::int64_t size = 0;        // m of superposition and stratification
  int states = 0, symbols = 0;  // Q, S
  std::int64_t channels = 0;    // m of the vector nondeterministic stack
  std::int64_t window = 0;      // D of the nondeterministic stacks
  bool state_symbol = false;
};

// The multiply-adds that the mathematics of the forward and backward passes need. n is the length
// of the strings: T = n - 1 steps of the cell, U = n - 2 updates of the stack, C = Q S, W = 2 C +
// Q, reading R, rows of the action layer A. A product of weights and a vector counts three times:
// for the forward pass, the gradient of the vector, and the gradient of the weights.
//   cell          3 T G (H + R);   one-hot inputs are looked up
//   action layer  3 U A H;         output layer 3 n V H
//   superposition 9 m sum_u min(u, U + 1 - u): push, pop and no_op of every cell that a later
//                 reading can see, its gradient, and those of the three probabilities
//   stratification 3 sum_u u: one cascade of strengths forward, two backward; the reading, which
//                 stops at thickness 1, is left out
//   nondeterministic, for each node p = 1 .. U that a step starts from,
//                 pop 3 (1 + m) Q C^2 d (d - 1) / 2 and 3 ((1 + m) C + Q) C^2 d for replacements
//                 and pop factors, d being p, or min(p, D - 1) with a window D
// Everything linear in n without a factor H or C^2 (gates, softmax, Adam) is left out.
double multiply_adds(const Workload& work, int length);
// Those of the stack alone.
double stack_multiply_adds(const Workload& work, int length);

// Returns how many numbers of their histories the nondeterministic stacks of a batch read in both
// passes. A step reads P[i -> k] of all pairs of earlier nodes, C^2 d (d - 1) / 2 numbers (letters
// as above), once in the forward pass and twice in the backward pass; together about T^3 C^2 / 2 of
// each sequence.
double history_reads(const Workload& work, int length);

// Returns the multiply-adds per second of a loop that does nothing else, in float32.
double multiply_add_peak();

}  // namespace pushdown::bench
