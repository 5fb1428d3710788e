// The arguments of the kernels that are printed for a recorded step (recurrence/device/program.h):
// all steps of a batch of sequences, forward and backward in one launch each, for several models of
// one program at once. Letters as in step_program.h; M models, B sequences of each.
//
// A block of threads processes one sequence of one model. After the backward pass, it sums the
// gradients of matrices and constants over its sequence. Results therefore do not depend on the
// scheduling of blocks.
//
// All memory belongs to the caller and is on the device of the stream; nothing is allocated here.
#pragma once
#include "kernel/step/step_program.h"

namespace pushdown {

// W of a term without packing: row after row, with contiguous columns. No matrix belongs to two
// terms.
template <class F>
struct DeviceStepMatrix {
  const F* first = nullptr;
  std::int64_t row = 0;        // stride between rows
  std::int64_t model = 0;      // stride between the matrices of two models
  std::int64_t gradient = -1;  // index among the P gradients of a model; -1: not wanted
};

// The location of a node's numbers, which need no padding. The value of step t is at (t + 1) *
// step, its gradient at (t + 1) % slots * gradient_step, plus `model` and `row` of the sequence;
// slots are 1, 2 or more than steps. Slices and `previous` nodes point into their source nodes, the
// latter with shift -1.
//
// The values of a memory are contiguous: step = size. Symbols that are only used as indices have
// none. The caller fills in the values of constants and sequences, and the initial values of
// `previous` nodes. Values that a backward pass uses have a place for every step, others may have
// step 0. An affine node with a matrix whose gradient is wanted, and a sequence whose gradient is
// wanted, have slots = T + 1. Nodes that are carried have at least 2, and a constant has 1 with its
// place among the P gradients of its sequence.
template <class F>
struct DeviceStepPlace {
  F* value = nullptr;
  std::int64_t model = 0, row = 0, step = 0;
  F* gradient = nullptr;
  std::int64_t gradient_model = 0, gradient_row = 0, gradient_step = 0, slots = 1;
  std::int64_t shift = 0;
};

template <class F>
struct DeviceSteps {
  const DeviceStepMatrix<F>* matrices = nullptr;
  const DeviceStepPlace<F>* places = nullptr;  // by node
  const std::int64_t* symbols = nullptr;       // M x B x T, if there is a node `symbols`
  std::int64_t models = 1, batch = 0, steps = 0;
  // M x B: the number of steps of each sequence, at most `steps`; null: all. Outputs of later steps
  // are not written, and their gradients not read.
  const std::int64_t* lengths = nullptr;
  std::int64_t window = 0;  // see StepProgram
  MemoryShape memory;       // row_start is not read
  F* tape = nullptr;        // M x B x tape, kept between the passes
  F* scratch = nullptr;     // M x B x scratch, any contents
  // The array programs, with tables on the device, and twice the largest memory of one of their
  // steps for each sequence, M x B x 2 x array_memory.
  const ArrayCode<F>* arrays = nullptr;
  F* array_room = nullptr;
  std::int64_t array_memory = 0;

  // For the backward pass.
  bool left_used = false;    // whether gradients of the stack's final content are given
  const F* given = nullptr;  // gradient of the output of step t, at t * given_step
  std::int64_t given_model = 0, given_row = 0, given_step = 0;
  std::int64_t parameters = 0;      // P
  F* sequence_gradients = nullptr;  // M x B x P
};

// Numbers of a memory that each sequence needs.
struct DeviceStepSizes {
  std::int64_t tape = 0;
  // With `fast` and the gradients of the actions at its end, which are in shared memory if they
  // fit.
  std::int64_t scratch = 0;
  std::int64_t fast = 0;
};
DeviceStepSizes device_step_sizes(const MemoryShape& memory);

}  // namespace pushdown
