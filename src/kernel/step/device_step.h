// Step programs (step_program.h) on a CUDA device: all steps of a batch of sequences, forward and
// backward in one launch each, for several models of one program at once. Letters as there; M
// models, B sequences of each.
//
// A block of threads processes one sequence of one model (device_step_loop.h). After the backward
// pass, it sums the gradients of matrices and constants over its sequence, and a second launch sums
// them over the sequences of a model, in order. Results therefore do not depend on the scheduling
// of blocks.
//
// All memory, including the tables of the program, belongs to the caller and is on the device of
// the stream; nothing is allocated here. There are two implementations: device_step.cu with a CUDA
// toolkit, nocuda.cpp without. A launch throws std::runtime_error if there is no device or the
// launch fails. If a pass fails later, the next CUDA call that waits reports it.
#pragma once
#include "kernel/step/step_program.h"

namespace pushdown {

// W of a term without packing: row after row, with contiguous columns. No matrix belongs to two
// terms.
template <class F>
struct DeviceStepMatrix {
  const F* first = nullptr;
  std::int64_t rows = 0, columns = 0;
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
// `previous` nodes. Values that a backward pass uses (see StepLoop) have a place for every step,
// others may have step 0. An affine node with a matrix whose gradient is wanted, and a sequence
// whose gradient is wanted, have slots = T + 1. Nodes that are carried have at least 2, and a
// constant has 1 with its place among the P gradients of its sequence.
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

struct DeviceStepCode;

template <class F>
struct DeviceStepProgram {
  // Kernels of its own (device_step_code.h), for the host; null: the program is interpreted.
  DeviceStepCode* code = nullptr;
  // The nodes, terms, operands and waits are within these bytes, a multiple of 4; blocks make a
  // copy, with places and matrices of their own (device_step_numbers.h).
  const std::uint8_t* tables = nullptr;
  std::int64_t table_bytes = 0;
  const StepNode* nodes = nullptr;
  std::int64_t count = 0;
  const StepTerm* terms = nullptr;
  const int* operands = nullptr;
  // By node: whether a thread needs results that other threads computed in this step, and so waits
  // for them before the node is computed, before its gradient is passed on, or also between its
  // operands.
  const std::uint8_t* waits = nullptr;
  const DeviceStepMatrix<F>* matrices = nullptr;
  std::int64_t matrix_count = 0;
  const DeviceStepPlace<F>* places = nullptr;
  const std::int64_t* symbols = nullptr;  // M x B x T, if there is a node `symbols`
  std::int64_t models = 1, batch = 0, steps = 0;
  // M x B: the number of steps of each sequence, at most `steps`; null: all. Outputs of later steps
  // are not written, and their gradients not read.
  const std::int64_t* lengths = nullptr;
  std::int64_t window = 0, after = 0;  // see StepProgram
  // The node of the stack, -1: none; and of its initial content, -1: none; see StepProgram.
  // memory.actions and memory.reading must be the sizes of its actions and of its reading.
  int memory_node = -1, bottom_node = -1;
  int left_node = -1;    // node of its final content, -1: none
  MemoryShape memory;    // row_start is not read
  F* tape = nullptr;     // M x B x tape, kept between the passes
  F* scratch = nullptr;  // M x B x scratch, any contents
  // The array programs, with tables on the device, and twice the largest memory of one of their
  // steps for each sequence, M x B x 2 x array_memory.
  const ArrayCode<F>* arrays = nullptr;
  F* array_room = nullptr;
  std::int64_t array_memory = 0;
  // Whether there are array programs, or functions that call the library of mathematical functions:
  // both take registers, so they have kernels of their own.
  bool has_long_code = false;

  // For the backward pass.
  int output = -1;
  bool left_used = false;    // whether gradients of the stack's final content are given
  const F* given = nullptr;  // gradient of the output of step t, at t * given_step
  std::int64_t given_model = 0, given_row = 0, given_step = 0;
  std::int64_t parameters = 0;      // P
  F* sequence_gradients = nullptr;  // M x B x P
  F* gradients = nullptr;           // M x P
};

// From this many sequences on, a device is full whatever the size of a block, and half the threads
// repeat half of what every thread does alone: which operation is next, and where its numbers are.
inline constexpr std::int64_t kManyDeviceSequences = 400;
// Up to this many sequences, each has a multiprocessor of a large device.
inline constexpr std::int64_t kFewDeviceSequences = 100;
// The shared memory that every device gives a block by default.
inline constexpr std::size_t kDeviceSharedBytes = 48 * 1024;

// Numbers needed by each sequence.
struct DeviceStepSizes {
  std::int64_t tape = 0, scratch = 0;
  std::int64_t fast = 0;  // part of scratch; in shared memory if it fits
};
DeviceStepSizes device_step_sizes(const MemoryShape& memory);

// Run on the stream (a cudaStream_t; null: the default one) and return immediately.
template <class F>
void device_step_forward(const DeviceStepProgram<F>& program, void* stream);
template <class F>
void device_step_backward(const DeviceStepProgram<F>& program, void* stream);

// Throws std::invalid_argument for programs that the kernels do not support.
template <class F>
void check_device_step(const DeviceStepProgram<F>& program, bool backward);

}  // namespace pushdown
