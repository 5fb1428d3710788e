// Step programs: one step of a recurrent network as a list of operations on vectors, run over whole
// sequences of a batch, forward and backward. This makes any cell and any stack fast without a
// kernel of its own. recurrence/trace/step_trace.h records the programs.
//
// Letters: B sequences, T steps. The value of a node at step t = 0 .. T-1 is B rows of `size`
// numbers, each row padded to a multiple of kPadding numbers.
//
// The caller computes the gradients of matrices, which are sums over all steps and sequences of
// results that the backward pass leaves in the nodes. Results therefore depend neither on threads
// nor on how sequences are divided among them.
#pragma once
#include <cstdint>

#include "kernel/array/program.h"
#include "kernel/attention_encoding.h"
#include "kernel/memory/memory_shape.h"
#include "kernel/step/operation_table.h"

namespace pushdown {

struct StepTerm {
  int operand;          // x
  int matrix;           // W, index in the program
  bool lookup = false;  // x is one-hot: W x is a column of W
  int table = -1;       // of a lookup: a column of W E, where E is this matrix

  bool operator==(const StepTerm&) const = default;
};

struct StepNode {
  StepOp op;
  std::int64_t size = 0;
  int a = -1, b = -1, c = -1;
  ArrayFunction function = ArrayFunction::copy;  // of a map
  std::int64_t offset = 0;                       // of a slice; or size or number of the groups
  double factor = 1, shift = 0;
  int first_term = 0, terms = 0;        // of affine, in StepProgram::terms
  int first_operand = 0, operands = 0;  // of affine, concat, array and relative attention, in
                                        // StepProgram::operands
  int array = 0;                        // in StepProgram::arrays
  AttentionEncoding encoding = AttentionEncoding::none;  // of attention
  bool gradient = false;  // whether it depends on anything differentiable
  bool carried = false;   // whether a `previous` node reads it
  bool sliced = false;    // a part of another node's rows
  bool logistic = false;  // of a constant: 1 / (1 + exp(-x)) of the given value
  bool apart = false;     // its values and gradients are stored for all steps,
                          // because it is in no loop or is read outside of it
  // In the backward pass of a step: whether the node sets the gradient of a (of b), because no node
  // before it adds to it; and whether such nodes set all numbers of this node's gradient, which
  // then need not be cleared (recurrence/trace/step_setters.h).
  bool sets_a = false, sets_b = false, set = false;

  bool operator==(const StepNode&) const = default;
};

// Consecutive nodes first .. end-1. The nodes of a loop depend on each other's values one step
// before, and are computed step by step. All others are computed for all steps of one sequence at
// once, and then of the next one.
struct StepSegment {
  int first = 0, end = 0;
  bool loop = true;

  bool operator==(const StepSegment&) const = default;
};

// W of a term, rows x columns, in the layout that kernels read: panels (kernel/dense/panels.h).
template <class F>
struct StepMatrix {
  const F* transposed;  // of W^T: columns x padded rows
  const F* straight;    // of W: rows x padded columns
  const F* by_column;   // of a lookup: the columns (of W E) for the distinct symbols of a run, in
                        // rows of padded size
  std::int64_t rows, columns;
};

// The location of a node's numbers. value : of step t and sequence b at (t + 1) * step + b * row;
// gradient : at ((t + 1) % slots) * gradient_step + b * gradient_row, where slots are 1, 2 or more
// than steps. Slices and `previous` nodes point into their source nodes.
template <class F>
struct StepPlace {
  F* value = nullptr;
  std::int64_t step = 0, row = 0;
  F* gradient = nullptr;
  std::int64_t slots = 1, gradient_step = 0, gradient_row = 0;
  std::int64_t shift = 0;  // -1: the step before

  F* at(std::int64_t t, std::int64_t b) const { return value + (t + 1 + shift) * step + b * row; }
  F* gradient_at(std::int64_t t, std::int64_t b) const {
    const std::int64_t place = t + 1 + shift;
    return gradient +
           (slots == 1   ? 0
            : slots == 2 ? place & 1
                         : place) *
               gradient_step +
           b * gradient_row;
  }
};

template <class F>
struct StepProgram {
  const StepNode* nodes;
  std::int64_t count;
  const StepTerm* terms;
  const int* operands;
  const StepMatrix<F>* matrices;
  const StepPlace<F>* places;
  const ArrayCode<F>* arrays;
  std::int64_t array_count;
  std::int64_t steps, batch;
  std::int64_t widest;          // the largest padded size of a node
  const std::int64_t* symbols;  // B x T, if there is a node `symbols`
  const std::int64_t* rows;     // B x T: the row of each symbol in the tables of lookups
  // In the order of the nodes, all of which they contain. With a window, one loop.
  const StepSegment* segments;
  std::int64_t segment_count;
  // B, 1 to T each, in descending order: the steps of each sequence, which ends there. Null: all T.
  const std::int64_t* lengths;
  // Gradients end after every `window` steps; 0: nowhere. Nodes from `after` on follow a step,
  // above all a stack's move. At a border they belong to the next step, for which all other numbers
  // of this one are constants.
  std::int64_t window, after;
  // The stack, if there is a `memory`: shape.steps = steps, or steps + 1 if the stack also moves at
  // the last step.
  MemoryShape memory;
  bool left_used = false;  // whether the backward pass is given gradients of its final content
  std::int64_t tape_size, memory_scratch_size;  // for each sequence
  // Both passes return early, with meaningless numbers, once it is not 0. Null: they do not.
  const int* stop;
};

// Working memory of a call for consecutive sequences.
template <class F>
struct StepRoom {
  F* scratch;         // step_scratch_size()
  F* tape;            // tape_size each, kept from the forward to the backward pass
  F* memory_scratch;  // memory_scratch_size each
};

// Returns how many numbers of scratch a call needs, for `rows` sequences or, if there is a segment
// that is no loop and they are more, steps.
inline std::int64_t step_scratch_size(std::int64_t rows, std::int64_t widest) {
  return (rows + 1) * (widest + 2 * kPadding);
}

// Both process the sequences first .. end-1 through all steps. The backward pass reads the
// gradients of the outputs from `given`, where the caller put them.
template <class F>
struct StepKernel {
  void (*forward)(const StepProgram<F>&, std::int64_t first, std::int64_t end,
                  const StepRoom<F>& room);
  // output : node; given : its gradient, in rows like those of a value. At the end, the gradients
  // of nodes that are sequences, constants or operands of terms are in their places, up to the end
  // of each sequence.
  void (*backward)(const StepProgram<F>&, std::int64_t first, std::int64_t end,
                   const StepRoom<F>& room, int output, const F* given, std::int64_t given_step,
                   std::int64_t given_row);
  // Return how many numbers of tape and of memory_scratch a memory needs for one sequence; the same
  // for all types and instruction sets.
  std::int64_t (*tape_size)(const MemoryShape& memory);
  std::int64_t (*memory_scratch_size)(const MemoryShape& memory);
};

// Step t of an array program for one sequence. values, slopes: of all buffers except that of
// constants; a slope may be null. In the backward pass, the values of the step's own memory are
// those of forward().
template <class F>
struct ArrayKernel {
  void (*forward)(const ArrayCode<F>&, F* const* values, std::int64_t t);
  void (*backward)(const ArrayCode<F>&, F* const* values, F* const* slopes, std::int64_t t);
};

}  // namespace pushdown
