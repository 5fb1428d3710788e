// The fused recurrence on a CUDA device: a controller with a stack over whole sequences, forward
// and backward in one launch each, for several models of one shape at once. Twin of scan.h, whose
// letters hold here; M models, B sequences of each, all of T steps.
//
// A block of threads takes one sequence of one model (device_scan_loop.h); behind the backward pass
// it sums the gradients of the parameters over its sequence, and a second launch sums them over the
// sequences of a model, in order. So results do not depend on how blocks are scheduled.
//
// Memory is the caller's, on the device of the stream; nothing is allocated here. Twin files:
// device_scan.cu with a CUDA toolkit, nocuda.cpp without. Launching throws std::runtime_error where
// there is no device or the launch fails; a pass that fails later is reported by the next call of
// CUDA that waits.
#pragma once
#include <cstdint>

#include "kernel/scan.h"

namespace pushdown {

template <class F>
struct DeviceScan {
  ScanShape shape;  // row_start is not read
  std::int64_t models = 1, batch = 0;
  // Of the first model, as for the processor, but only the transposed copies, the biases and the
  // bottom vector are read. The same for the next model lies parameter_stride numbers on.
  ScanParameters<F> parameters{};
  std::int64_t parameter_stride = 0;
  // Rows of the table `pre` (W x + b_ih of each symbol x), and V x G of them a model.
  std::int64_t symbols = 0;
  const F* pre = nullptr;
  std::int64_t pre_stride = 0;
  // The symbol that each step reads, 0 .. V-1 (not checked): rows of T, the first word_stride
  // apart; those of the next model model_word_stride on (0: all models read the same).
  const std::int64_t* words = nullptr;
  std::int64_t word_stride = 0, model_word_stride = 0;

  F* hidden = nullptr;    // M x B x L x T x H
  F* readings = nullptr;  // M x B x T x R
  F* tape = nullptr;      // M x B x tape, kept between the passes
  F* scratch = nullptr;   // M x B x scratch, contents do not matter

  // Of the backward pass. Every part is overwritten.
  const F* hidden_gradient = nullptr;  // M x B x T x H, of the last layer's hidden vectors
  F* input_gradient = nullptr;         // M x B x L x T x G: of the input side of the gates
  F* recurrent_gradient = nullptr;     // the same of the hidden side; not read but for gru
  F* action_gradient = nullptr;        // M x B x T x A; row T-1 is 0
  F* sequence_gradients = nullptr;     // M x B x P, see DeviceGradients
  F* gradients = nullptr;              // M x P
};

// Numbers that each sequence needs.
struct DeviceScanSizes {
  std::int64_t tape = 0, scratch = 0;
  std::int64_t fast = 0;  // of scratch; in shared memory where it fits
};
DeviceScanSizes device_scan_sizes(const ScanShape& shape);

// Where the P gradients of the parameters of a model are.
struct DeviceGradients {
  std::int64_t words = 0;                    // V x G: of the table `pre`
  std::int64_t input[kMaxScanLayers] = {};   // G x D; D = R in layer 0, else H
  std::int64_t hidden[kMaxScanLayers] = {};  // G x H
  std::int64_t input_bias[kMaxScanLayers] = {}, hidden_bias[kMaxScanLayers] = {};  // G
  std::int64_t action = 0, action_bias = 0;                                        // A x H; A
  std::int64_t bottom = 0;                                                         // m
  std::int64_t count = 0;                                                          // P
};
DeviceGradients device_gradients(const ScanShape& shape, std::int64_t symbols);

// On the stream (a cudaStream_t; null: the default one), returning at once.
template <class F>
void device_scan_forward(const DeviceScan<F>& scan, void* stream);
template <class F>
void device_scan_backward(const DeviceScan<F>& scan, void* stream);

// std::invalid_argument for shapes that the kernels do not have.
template <class F>
void check_device_scan(const DeviceScan<F>& scan, bool backward);

}  // namespace pushdown
