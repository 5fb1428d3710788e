// Prints the program of a recorded step as CUDA C++: straight code for one network, in which no
// operation is interpreted. Sizes, offsets, strides and lists of terms are constants. What changes
// from run to run (models, batch, steps, lengths, and where numbers lie) are arguments, the
// DeviceStepProgram of the interpreter (kernel/step/device_step.h). Both use the same memory in the
// same way, so that either can run the passes of the other.
//
// The text is complete: it contains the headers that it needs, for NVRTC, nvcc, or a C++ compiler
// with tests/cuda/cuda_runtime.h. It has two kernels, step_forward and step_backward, each with the
// program as its only argument, to be launched with a grid of sequences x models, `threads` threads
// and shared_bytes().
#pragma once
#include <string>

#include "recurrence/trace/step_trace.h"

namespace pushdown {

struct DeviceSourceOptions {
  bool gradients = true;   // keep what a backward pass needs, and print one
  bool windowed = false;   // gradients may end after a number of steps
  bool is_double = false;  // float64
  bool near = true;        // the memory's fast numbers are in shared memory
  int threads = 256;
};

struct DeviceSource {
  std::string text;    // empty if there is none
  std::string reason;  // then: why
  int threads = 0;
  // Numbers in shared memory besides the fast ones of the memory.
  std::int64_t shared = 0;
  int barriers = 0;  // numbered from 0
};

// The text depends on the form of the network only, not on the values of its parameters, and not on
// the batch or the number of steps for which it was recorded.
DeviceSource device_step_source(const TracedProgram& program, const DeviceSourceOptions& options);
// The parts of the text: what all share, and the rest, for which no macro is defined.
std::string device_source_prelude();
DeviceSource device_source_kernels(const TracedProgram& program,
                                   const DeviceSourceOptions& options);

// The bytes of shared memory of a launch, where the memory's fast numbers are in it or not.
std::size_t device_source_bytes(const DeviceSource& source, const MemoryShape& memory, bool near,
                                std::size_t number_size);

}  // namespace pushdown
