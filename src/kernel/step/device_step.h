// Step programs (step_program.h) on a CUDA device: all steps of a batch of sequences, forward and
// backward in one launch each, for several models of one program at once. Letters as there; M
// models, B sequences of each.
//
// A block of threads takes one sequence of one model (device_step_loop.h). Behind the backward pass
// it sums the gradients of matrices and constants over its sequence, and a second launch sums them
// over the sequences of a model, in order. So results do not depend on how blocks are scheduled.
//
// Memory is the caller's, on the device of the stream, the tables of the program included; nothing
// is allocated here. Twin files: device_step.cu with a CUDA toolkit, nocuda.cpp without. Launching
// throws std::runtime_error where there is no device or the launch fails; a pass that fails later
// is reported by the next call of CUDA that waits.
#pragma once
#include "kernel/step/step_program.h"

namespace pushdown {

// W of a term, as it is: row after row, columns one behind the other. No matrix has two terms.
template <class F>
struct DeviceStepMatrix {
  const F* first = nullptr;
  std::int64_t rows = 0, columns = 0;
  std::int64_t row = 0;        // numbers from one row to the next one
  std::int64_t model = 0;      // and from one model's matrix to the next one's
  std::int64_t gradient = -1;  // place among the P gradients of a model; -1: none is wanted
};

// Where a node's numbers lie; no padding is asked for. Value of step t : at (t + 1) * step, that of
// gradients at (t + 1) % slots * gradient_step, after `model` and `row` of the sequence; slots are
// 1, 2 or more than steps. Slices and `previous` point into the nodes that they look at; the latter
// with shift -1.
//
// The values of a memory are behind each other: step = size. Symbols that are only looked up have
// none. Those of constants and sequences, and
// what `previous` nodes see at first, are the caller's to fill. Values that a backward pass looks
// at (see StepLoop) have a place for every step, others may have step 0. An affine node with a
// matrix whose gradient is wanted, and a sequence whose gradient is wanted, have slots = T + 1;
// nodes that are carried at least 2; a constant 1 with its place among the P gradients of its
// sequence.
template <class F>
struct DeviceStepPlace {
  F* value = nullptr;
  std::int64_t model = 0, row = 0, step = 0;
  F* gradient = nullptr;
  std::int64_t gradient_model = 0, gradient_row = 0, gradient_step = 0, slots = 1;
  std::int64_t shift = 0;
};

// Bits of DeviceStepProgram::waits.
inline constexpr std::uint8_t kWaitsForward = 1, kWaitsBackward = 2, kWaitsWithin = 4;

template <class F>
struct DeviceStepProgram {
  // The tables, from here to `waits`, lie among these bytes, a multiple of 4; blocks make a copy.
  const std::uint8_t* tables = nullptr;
  std::int64_t table_bytes = 0;
  const StepNode* nodes = nullptr;
  std::int64_t count = 0;
  const StepTerm* terms = nullptr;
  const int* operands = nullptr;
  const DeviceStepMatrix<F>* matrices = nullptr;
  std::int64_t matrix_count = 0;
  const DeviceStepPlace<F>* places = nullptr;
  // By node: whether a thread needs there what others have computed in this step, and so waits for
  // them before it is computed, before its gradient is passed on, or also between its operands.
  const std::uint8_t* waits = nullptr;
  const std::int64_t* symbols = nullptr;  // M x B x T, where there is a node `symbols`
  std::int64_t models = 1, batch = 0, steps = 0;
  // M x B: how many steps each sequence takes, at most `steps`; null: all of them. Outputs of later
  // ones are not written, and their gradients not read.
  const std::int64_t* lengths = nullptr;
  std::int64_t window = 0, after = 0;  // see StepProgram
  // The node of the stack, -1 for none; what it starts with, -1 for nothing; see StepProgram.
  // memory.actions and memory.reading must be the sizes of its actions and of its reading.
  int memory_node = -1, bottom_node = -1;
  int left_node = -1;    // what it leaves, -1 for nothing
  MemoryShape memory;    // row_start is not read
  F* tape = nullptr;     // M x B x tape, kept between the passes
  F* scratch = nullptr;  // M x B x scratch, contents do not matter

  // Of the backward pass.
  int output = -1;
  const F* given = nullptr;  // gradient of the output of step t, at t * given_step
  std::int64_t given_model = 0, given_row = 0, given_step = 0;
  std::int64_t parameters = 0;      // P
  F* sequence_gradients = nullptr;  // M x B x P
  F* gradients = nullptr;           // M x P
};

// Numbers that each sequence needs.
struct DeviceStepSizes {
  std::int64_t tape = 0, scratch = 0;
  std::int64_t fast = 0;  // of scratch; in shared memory where it fits
};
DeviceStepSizes device_step_sizes(const MemoryShape& memory);

// On the stream (a cudaStream_t; null: the default one), returning at once.
template <class F>
void device_step_forward(const DeviceStepProgram<F>& program, void* stream);
template <class F>
void device_step_backward(const DeviceStepProgram<F>& program, void* stream);

// std::invalid_argument for what the kernels do not have.
template <class F>
void check_device_step(const DeviceStepProgram<F>& program, bool backward);

}  // namespace pushdown
