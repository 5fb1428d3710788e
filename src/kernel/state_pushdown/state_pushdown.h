// The neural state pushdown automaton of model/state_pushdown.h on raw memory: reads strings one by
// one, and computes the gradient of their validity losses by three learning algorithms. The step is
// written once; a learning algorithm observes every pass.
//   bptt  keeps the passes of the string and goes back over them
//   rtrl  carries the derivatives of the state by all weights (Williams and Zipser 1989)
//   uoro  carries a random rank-one matrix whose mean they are (Tallec and Ollivier 2017)
// All three differentiate the surrogate defined in the model's header. rtrl and uoro store nothing
// about the past.
//
// Letters: J states, V string symbols and action neurons, I inputs, R = V + 1 read neurons, K
// passes, P passes made over a string; N = J + V rows (state neurons, then action neurons), padded
// to Np. Sums over inputs have one term, those over states only the active ones.
//
// Multiply-adds of a pass with M active neurons, C <= 2 action neurons that the reading depends on
// (V with action_reading), D = R columns per neuron (second order: R + 1), T = Np J R I + Np
// weights:
//   forward  Np M D
//   bptt     Np D (2 M + J): forward, gradients of weights, gradients of z and r
//   uoro     Np D (4 M + J): forward, tangent, and inner product, sum and change of theta~
//   rtrl     (J + C)^2 T + J T, over the symbols seen so far
// Passes 2 .. K compute only the state rows.
#pragma once
#include <cstdint>

#include "kernel/isa.h"
#include "kernel/memory/memory_shape.h"

namespace pushdown {

struct StatePushdownShape {
  bool third_order = true, action_reading = false, carry_first = false;
  std::int64_t states = 0, symbols = 0, inputs = 0, passes = 1;
};

// Weights of both kinds and the biases in one array, rows last:
//   third order   I x J x R x Np, then Np biases
//   second order  J x R x Np (reading), I x J x Np (input), then Np biases
// Padding is 0. Gradients have the same layout.
std::int64_t state_pushdown_weight_size(const StatePushdownShape& shape);

// The tensors of the model: state_weight J x J x R x I or J x J x (R+I), action_weight V x ..
template <class F>
struct StatePushdownTensors {
  F *state_weight, *state_bias, *action_weight, *action_bias;
};
template <class F>
void pack_state_pushdown(const StatePushdownShape& shape, const StatePushdownTensors<const F>& from,
                         F* packed);
// to += packed
template <class F>
void add_packed_state_pushdown(const StatePushdownShape& shape, const F* packed,
                               const StatePushdownTensors<F>& to);

template <class F>
struct StatePushdownParameters {
  const F* packed;
  F other, top, popped;             // alpha_1, alpha_2, alpha_3
  F push_threshold, pop_threshold;  // of pre-activations
  const bool* hints = nullptr;      // J x R x I; null: none
};

// A string and its initial state, which is replaced by the final state.
template <class F>
struct StatePushdownString {
  const std::int64_t* words;
  std::int64_t length = 0;
  F* neurons;           // J
  F* reading;           // R
  std::int64_t* stack;  // room for depth + length symbols, the top last
  std::int64_t depth = 0;
  F* hiddens = nullptr;  // P x J, the hidden vector after each pass; null if not wanted
  F* weights = nullptr;  // P, 1 for a pass that was made; null if not wanted
};

// Sum over the passes made (every_step) or the last one of log(1 + e^s) - y s, s = W h + b; for an
// empty string, that of the initial state.
template <class F>
struct StatePushdownLoss {
  F label;
  bool every_step = true;
  F scale;                  // of the gradients, which are added
  const F* output;          // W : J
  F output_bias;            // b
  F* gradient;              // laid out as the packed weights
  F* output_gradient;       // J
  F* output_bias_gradient;  // 1
  // uoro: random bits, state_pushdown_sign_words for each pass; read only
  const std::uint64_t* signs = nullptr;
  double loss = 0, score = 0;  // results: the loss, and s after the last pass
};
std::int64_t state_pushdown_sign_words(const StatePushdownShape& shape);

enum class StatePushdownTask { forward, bptt, rtrl, uoro };

// For one shape and task: kernel_for<StatePushdownKernel<F>>(isa, shape, task).
template <class F>
struct StatePushdownKernel {
  // `loss` is for the learning algorithms, which return no hiddens and weights.
  void (*run)(const StatePushdownShape&, const StatePushdownParameters<F>&, StatePushdownString<F>&,
              StatePushdownLoss<F>* loss, void* scratch);
  // Returns the size of scratch in bytes for a string of `length`, aligned to 64, with any
  // contents.
  std::int64_t (*scratch_bytes)(const StatePushdownShape&, std::int64_t length);
};

}  // namespace pushdown
