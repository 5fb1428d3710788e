// The nondeterministic stack (DuSell and Chiang 2020; 2022; 2023): the weighted runs of a pushdown
// automaton with Q states and S stack symbols over all stack contents at once, by Lang's algorithm
// in posterior form. This header is the definition in plain tensor operations; kernel/ contains the
// fast version.
//
// Nodes of the stack automaton: 0 the start, 1 after the initial push of the bottom symbol, j + 1
// after input j. A configuration a, b, c is (state q, top symbol x), numbered q*S + x; C = Q*S.
// Start state 0, bottom symbol 0. Transition weights of a step : B x C x W, W = 2*Q*S + Q, row q*S
// + x, columns  push r*S + y | QS + replace r*S + y | 2QS + pop r.
//
// With u_j[b] the forward weights normalised over b, and
//   P[i->j][a->b] = probability, given top b at node j, that the element below was left at node i
//                   with top a,
// a step from node p to node j = p + 1 computes numerators N and normalises them:
//   push     N[p->j][a->(r,y)]  = u_p[a] w[a, push r y]
//   replace  N[i->j][a->(r,y)] += sum_c P[i->p][a->c] u_p[c] w[c, replace r y]
//   pop      M[k][(t,y)->r]     = sum_c P[k->p][(t,y)->c] u_p[c] w[c, pop r]
//            N[i->j][a->(r,y)] += sum_{i<k<p} sum_t P[i->k][a->(t,y)] M[k][(t,y)->r]
//   z_j[b] = sum_{i,a} N[i->j][a->b],  u_j = z_j / sum z_j,  P[i->j][a->b] = N[i->j][a->b] / z_j[b]
// Every number stays in [0, 1], and a common factor of a step's weights changes nothing. Forward
// weights below 1e-28 (double precision: 1e-270) count as 0. If no transition is possible, the
// forward weights and readings are 0 from then on.
//
// Reading: `symbol`: sum_r u_j[(r, y)], S numbers; `state_symbol`: u_j, Q*S numbers. bottom: with
// `original` (paper of 2020), the initial bottom symbol can never be seen again; with `reexposed`
// (2023), the edge 0 -> 1 exists, so the symbol above the bottom can be popped and the bottom
// replaced. The vector stack (2023) has m additional numbers on every edge. With the vector v of
// each push,
//   V[i->j][a->b] obeys the recurrence of P with v times the push term and V in place of the left
//   factor P (M still comes from P),
// and sum_{i,a} V[i->j][a->b] is the expected vector of the top element given top b at node j.
//
// Limited memory (2022, 2023): with a window D, node j keeps the inner weights only from nodes i >=
// j - D, and gamma[i->j] = 0 for older i, so that
//   alpha_j[b] = sum_{j-D <= i < j, a} alpha_i[a] gamma[i->j][a->b].
// Division by the forward weights telescopes as before: the recurrence above holds with every i and
// k limited to nodes >= j - D, and P sums to one over the nodes that are kept. Stack contents
// deeper than the window are lost, together with the runs that need them. In the numbering of the
// papers, node j is time j - 1, and the initial bottom was pushed at time -1. A step from p needs
// the edges between nodes p+1-D .. p: (D-1)^2 edges are carried along, however long the sequence
// is.
//
// Cost O(Q C^2 n^3) time, O(C^2 n^2) memory for each sequence; with a window, O(Q C^2 D^2) per step
// and O(C^2 D^2).
#pragma once
#include "stack/stack.h"

namespace pushdown {

struct NondeterministicShape {
  std::int64_t states = 2, symbols = 2;
  bool reexposed = false;     // bottom = 'reexposed'
  bool state_symbol = false;  // reading = 'state_symbol'
  std::int64_t vector = 0;    // m of the vector stack
  std::int64_t window = 0;    // D; 0: unlimited

  std::int64_t configurations() const { return states * symbols; }
  std::int64_t actions() const { return 2 * configurations() + states; }
  std::int64_t reading_size() const { return state_symbol ? configurations() : symbols; }
};

// Returns the options states, symbols, reading, bottom, window.
std::vector<OptionSpec> nondeterministic_shape_options();
NondeterministicShape nondeterministic_shape(const Json& options);

// u : B x C -> reading : B x R
Tensor reading_of_forward_weights(const Tensor& forward, const NondeterministicShape& shape);

// The part of the stack automaton that later steps can see, as plain tensors. The nodes that are
// kept are l .. p, where p is the newest.
struct StackAutomaton {
  // [., channel, i, k] is P[l+i -> l+1+k], then V for each number of the vector; zero for i > k.
  Tensor edges;    // B x (1+m) x (p-l) x (p-l) x C x C (a, b)
  Tensor forward;  // u_p : B x C
  Tensor vectors;  // B x m x C, the expected vector of the top element given top b
};

// bottom : B x m, the vector of the initial bottom symbol; only for a vector stack.
StackAutomaton initial_automaton(const NondeterministicShape& shape, std::int64_t batch,
                                 at::TensorOptions options, const Tensor& bottom = {});
// weights : B x C x W, non-negative; vector : B x m, pushed by every push.
StackAutomaton step_automaton(const NondeterministicShape& shape, const StackAutomaton& automaton,
                              const Tensor& weights, const Tensor& vector = {});
// Returns the numerators N of the same step from each of the nodes i = l .. p : B x (1+m) x (p-l+1)
// x C x C.
Tensor step_numerators(const NondeterministicShape& shape, const StackAutomaton& automaton,
                       const Tensor& weights, const Tensor& vector = {});
// Returns, for each top, the probability that a replacement and that a pop is possible : B x C
// each. What they need is an element above the oldest node, and one below that.
std::pair<Tensor, Tensor> possible_shares(const StackAutomaton& automaton);
StackAutomaton detached(const StackAutomaton& automaton);
std::size_t automaton_bytes(const StackAutomaton& automaton);
// Returns the expected vector of the top element for each configuration, times the configuration's
// forward weight : B x C*m. The initial bottom is read at first even if it can never be seen again.
Tensor vector_reading(const StackAutomaton& automaton);
// Returns exp(log_weights) up to a common factor per step, chosen so that the transition that adds
// most to the masses of the step adds 1.
Tensor scaled_exponential(const Tensor& log_weights, const StackAutomaton& automaton);

// Returns the gradients of a step's log weights : B x C x W, 0 for sequences in which they are
// nothing but rounding errors (AutomatonRange::is_noise).
Tensor balanced(const Tensor& gradients);

}  // namespace pushdown
