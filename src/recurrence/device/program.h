// A recorded step as a program of a device: where its numbers lie, and its kernels as CUDA C++.
//
// The text is straight code for one network. Sizes, offsets, strides and lists of terms are
// constants. What changes from run to run (models, batch, steps, lengths, and where numbers lie)
// are arguments, DeviceSteps (kernel/step/device_step.h). It has two kernels, step_forward and
// step_backward, each with these arguments as its only one, to be launched with a grid of sequences
// x models. It is complete: it contains the headers that it needs, for NVRTC, nvcc, or a C++
// compiler with tests/cuda/cuda_runtime.h.
#pragma once
#include <string>

#include "recurrence/device/device.h"
#include "recurrence/program/step_needs.h"

namespace pushdown {

struct DeviceForm {
  bool gradients = true;   // keep what a backward pass needs, and print one
  bool windowed = false;   // gradients may end after a number of steps
  bool is_double = false;  // float64
  bool near = true;        // the memory's fast numbers are in shared memory
  int threads = 256;
};

// The numbers of one step and sequence are one record, and the records of a sequence follow each
// other.
struct DeviceLayout {
  // By node: the offset in the record; -1: not there. Nodes that look into others have none.
  std::vector<std::int64_t> value, slope;
  std::int64_t values = 0, slopes = 0;  // sizes of the records
};

class DeviceProgram {
 public:
  // Throws std::invalid_argument if the step has no kernels.
  DeviceProgram(std::shared_ptr<const TracedProgram> traced, const DeviceForm& form);
  // Chooses the form for a run of so many sequences on a device.
  DeviceProgram(const std::shared_ptr<const TracedProgram>& traced, const DeviceForm& form,
                std::int64_t sequences, const Device& device);

  // Returns why there are no kernels, which LibTorch's operations then replace, or "".
  static std::string refusal(const TracedProgram& program);

  const TracedProgram& traced() const { return *traced_; }
  const DeviceForm& form() const { return form_; }
  const StepNeeds& needs() const { return needs_; }
  const DeviceLayout& layout() const { return layout_; }
  // Returns the kernels, which depend on the form of the network only: not on the values of its
  // parameters, and not on the batch or the number of steps for which it was recorded.
  const std::string& kernels() const { return kernels_; }
  std::string source() const;                 // with the headers
  static std::string headers();               // for which no macro is defined
  std::size_t shared_bytes() const;           // of a launch
  int barriers() const { return barriers_; }  // numbered from 0

 private:
  void print();

  std::shared_ptr<const TracedProgram> traced_;
  DeviceForm form_;
  StepNeeds needs_;
  DeviceLayout layout_;
  std::string kernels_;
  // Numbers in shared memory besides the fast ones of the memory.
  std::int64_t shared_ = 0;
  int barriers_ = 0;
};

}  // namespace pushdown
