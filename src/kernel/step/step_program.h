// Step programs: one step of a recurrent network written down as operations on vectors, run over
// whole sequences of a batch, forward and backward. Any cell and any stack becomes fast this way
// without a kernel of its own; programs are recorded by recurrence/step_trace.h.
//
// Letters: B sequences, T steps. The value of a node at step t = 0 .. T-1 is B rows of `size`
// numbers, each row padded to a multiple of kPadding numbers.
//
// Gradients of matrices are sums over all steps and sequences of what the backward pass leaves in
// the nodes, taken by the caller. So results depend neither on threads nor on how sequences are
// divided among them.
#pragma once
#include <cstdint>

#include "kernel/array/program.h"
#include "kernel/memory/memory_shape.h"

namespace pushdown {

enum class StepOp : std::uint8_t {
  sequence,  // given for every step
  constant,  // given once, the same at all steps and for all sequences
  symbols,   // one-hot vectors of what StepProgram::symbols says
  previous,  // a, one step before; before the first step what is given
  held,      // given once for each sequence: what a memory takes over from an earlier run
  slice,     // numbers offset .. offset + size - 1 of a
  concat,    // its operands one after the other
  affine,    // the sum of its terms W x and of its operands
  add,       // a + b
  subtract,  // a - b
  multiply,  // a b, by component
  scale,     // factor a + shift
  sigmoid,
  tanh,
  relu,
  softmax,   // of each `offset` numbers in a row
  greatest,  // 1 at the greatest of each `offset` numbers, else 0; no gradient flows
  greater,   // 1 where a > b, else 0; no gradient flows
  outer,     // a_i b_j, row i after row i - 1
  mix,       // c a + (1 - c) b, c one number
  array,     // an array program (kernel/array/program.h) over its operands
  memory,    // a stack; a: its actions, b: what it starts with or -1. Value: the reading
  left,      // what the memory a leaves to a later run: one value, after the last step
};

struct StepTerm {
  int operand;          // x
  int matrix;           // W, numbered in the program
  bool lookup = false;  // x is one-hot: W x is a column of W

  bool operator==(const StepTerm&) const = default;
};

struct StepNode {
  StepOp op;
  std::int64_t size = 0;
  int a = -1, b = -1, c = -1;
  std::int64_t offset = 0;  // of a slice; size of the groups
  double factor = 1, shift = 0;
  int first_term = 0, terms = 0;        // of affine, in StepProgram::terms
  int first_operand = 0, operands = 0;  // of affine, concat and array, in StepProgram::operands
  int array = 0;                        // in StepProgram::arrays
  bool gradient = false;                // whether anything differentiable is behind it
  bool carried = false;                 // whether a `previous` looks at it
  bool sliced = false;                  // a part of another node's rows
  bool logistic = false;                // of a constant: 1 / (1 + exp(-x)) of what is given

  bool operator==(const StepNode&) const = default;
};

// W of a term, rows x columns, as the kernels read it: in panels (kernel/dense/panels.h).
template <class F>
struct StepMatrix {
  const F* transposed;  // of W^T: columns x padded rows
  const F* straight;    // of W: rows x padded columns
  const F* by_column;   // where a lookup needs it: W^T without panels, columns x padded rows
  std::int64_t rows, columns;
};

// Where a node's numbers lie. value : of step t and sequence b at (t + 1) * step + b * row;
// gradient : at ((t + 1) % slots) * gradient_step + b * gradient_row, slots being 1, 2 or more than
// steps. Slices and `previous` point into the nodes that they look at.
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
  const std::int64_t* symbols;  // B x T, where there is a node `symbols`
  // Gradients end behind every `window` steps; 0: nowhere. Nodes from `after` on are what follows a
  // step, a stack's move above all: at a border they belong to the next step, which sees all other
  // numbers of this one as constants.
  std::int64_t window, after;
  // The stack, if there is a `memory`: shape.steps = steps, or, where the stack moves at the last
  // step too, steps + 1.
  MemoryShape memory;
  std::int64_t tape_size, memory_scratch_size;  // of each sequence
  // Both passes return early, with numbers that mean nothing, once it is not 0. Null: they do not.
  const int* stop;
};

// Working memory of a call for some sequences, one after the other.
template <class F>
struct StepRoom {
  F* scratch;         // step_scratch_size()
  F* tape;            // tape_size each, kept from the forward to the backward pass
  F* memory_scratch;  // memory_scratch_size each
};

// Numbers of scratch that a call for `rows` sequences needs.
inline std::int64_t step_scratch_size(std::int64_t rows, std::int64_t widest) {
  return (rows + 1) * (widest + 2 * kPadding);
}

// Both take the sequences first .. end-1 through all steps. The backward pass takes the gradients
// of the outputs from where the caller put them, see `given`.
template <class F>
struct StepKernel {
  void (*forward)(const StepProgram<F>&, std::int64_t first, std::int64_t end,
                  const StepRoom<F>& room);
  // output : node; given : its gradient, rows like those of a value. At the end the gradients of
  // nodes that are sequences, constants or operands of terms are in their places.
  void (*backward)(const StepProgram<F>&, std::int64_t first, std::int64_t end,
                   const StepRoom<F>& room, int output, const F* given, std::int64_t given_step,
                   std::int64_t given_row);
  // Numbers of tape and of memory_scratch that a memory needs for one sequence; the same for all
  // types and instruction sets.
  std::int64_t (*tape_size)(const MemoryShape& memory);
  std::int64_t (*memory_scratch_size)(const MemoryShape& memory);
};

// Step t of an array program for one sequence. values, slopes: of all buffers but that of
// constants; a slope may be null. Backward, the values of the step's own memory are those of
// forward().
template <class F>
struct ArrayKernel {
  void (*forward)(const ArrayCode<F>&, F* const* values, std::int64_t t);
  void (*backward)(const ArrayCode<F>&, F* const* values, F* const* slopes, std::int64_t t);
};

}  // namespace pushdown
