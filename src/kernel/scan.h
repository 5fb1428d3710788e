// The fused recurrence: a controller with a stack over a whole sequence, forward and backward, one
// sequence a call, on raw memory. Composed from the step functions of the cells (scan_cells.h) and
// of the stacks (scan_stacks.h); the definition is the loop of model/stack_rnn.cpp over the
// composite cells and stacks.
//
// Letters: T steps, L layers, H hidden, G = gates * H rows of a layer, R reading, A rows of the
// action layer. Step t = 0 .. T-1 reads the reading after t stack updates; there are T - 1 updates.
// Padded sizes (…p) are multiples of kScanPadding numbers.
//
// Only gradients of pre-activations leave the backward pass; those of the parameters are matrix
// products over all steps and sequences, taken by the caller. So results do not depend on threads.
#pragma once
#include <cstdint>

#include "kernel/isa.h"
#include "kernel/nondeterministic.h"

namespace pushdown {

inline constexpr std::int64_t kScanPadding = 16;
[[gnu::always_inline]] constexpr std::int64_t scan_padded(std::int64_t count) {
  return (count + kScanPadding - 1) / kScanPadding * kScanPadding;
}

enum class ScanCell { elman_tanh, elman_sigmoid, lstm, gru };
enum class ScanStack { none, superposition, stratification, nondeterministic, shifted, analog };
// Memories whose cells become mixtures of their neighbours, see kernel/shifted_scan.h.
enum class ShiftedKind { stack, list, tape };
// Where memories of sections with strengths are cut, pushed and read, see stack/stratification.h.
enum class SectionEnds { stack, queue, deque };
// How their strengths come about, see stack/strength_layer.h.
enum class StrengthKind { sigmoid, expectation, fixed };
// Rows of the action layer for one strength whose greatest value is `greatest`.
[[gnu::always_inline]] constexpr std::int64_t strength_rows(StrengthKind kind,
                                                            std::int64_t greatest) {
  return kind == StrengthKind::sigmoid ? 1 : kind == StrengthKind::expectation ? greatest + 1 : 0;
}

struct ScanShape {
  ScanCell cell;
  ScanStack stack;
  std::int64_t steps = 0, layers = 1, hidden = 0, gates = 0, reading = 0, actions = 0;
  std::int64_t size = 0;                  // m of the vector stacks
  SectionEnds ends = SectionEnds::stack;  // of stratification
  std::int64_t memories = 1;              // the same: side by side
  // The same: strengths of pushes, pops and readings.
  StrengthKind strengths[3] = {StrengthKind::sigmoid, StrengthKind::sigmoid, StrengthKind::fixed};
  std::int64_t max_strength = 1;
  NondeterministicSize automaton;           // of the nondeterministic stacks, steps = T - 1
  const std::int64_t* row_start = nullptr;  // see NondeterministicMemory
  bool reexposed = false, state_symbol = false, normalized = true;
  // Of shifted memories.
  ShiftedKind shifted = ShiftedKind::stack;
  bool shared = false;     // one set of weights for all `size` numbers of a cell
  bool no_op = false;      // one action more
  bool worn = false;       // of a stack: no_op keeps the top cell alone
  std::int64_t reach = 1;  // how many cells of a stack, or to both sides of a head, are read
  std::int64_t limit = 0;  // cells of a tape, or of a stack that has an end; 0: none
  bool taped = true;       // kept for a backward pass
  double empty = 0;        // what was never written
  // Of the analog stack, see model/analog_pushdown.h.
  double epsilon = 0, tolerance = 0;
  bool stops = false;
};

inline constexpr int kMaxScanLayers = 8;

// Layer l reads D = R (l = 0) or H numbers besides what `pre` holds. The transposed copies are for
// the forward pass, the others for the backward pass.
template <class F>
struct ScanLayer {
  const F* input_t;      // D x Gp
  const F* input;        // G x Dp
  const F* hidden_t;     // H x Gp
  const F* hidden;       // G x Hp
  const F* input_bias;   // Gp; null for layer 0, where `pre` holds it
  const F* hidden_bias;  // Gp
};

template <class F>
struct ScanParameters {
  ScanLayer<F> layers[kMaxScanLayers];
  const F* action_t;     // H x Ap
  const F* action;       // A x Hp
  const F* action_bias;  // Ap
  const F* bottom;       // m, of the vector nondeterministic stack
};

// One sequence. The caller keeps all of it between the passes, but for `scratch`.
template <class F>
struct ScanSequence {
  const F* pre;               // rows of G numbers: W x_t + b_ih of layer 0
  const std::int64_t* words;  // the row of `pre` that each step reads
  F* hidden[kMaxScanLayers];  // T x H for each layer
  F* readings;                // T x R
  F* tape;                    // scan_tape_size numbers
  F* scratch;                 // scan_scratch_size numbers, contents do not matter
};

template <class F>
struct ScanGradients {
  const F* hidden;  // T x H, of the last layer's hidden vectors
  F* input;         // L x T x G, gradients of the input side of the gates; layer 0: of `pre`
  F* recurrent;     // L x T x G, of the hidden side; the same as input but for gru
  std::int64_t layer_stride;
  F* actions;  // T x A; row T-1 is 0
  F* bottom;   // m
};

std::int64_t scan_gates(ScanCell cell);  // G / H
std::int64_t scan_tape_size(const ScanShape& shape);
std::int64_t scan_scratch_size(const ScanShape& shape);

template <class F>
struct ScanKernel {
  void (*forward)(const ScanShape&, const ScanParameters<F>&, const ScanSequence<F>&);
  void (*backward)(const ScanShape&, const ScanParameters<F>&, const ScanSequence<F>&,
                   const ScanGradients<F>&);
};

template <class F>
ScanKernel<F> scan_kernel(Isa isa, const ScanShape& shape);

}  // namespace pushdown
