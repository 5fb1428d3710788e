// Training updates of M language models of one form on a CUDA device, around the passes of their
// recorded step (recurrence/device/program.h): everything of an update that is not the step itself,
// in launches whose number does not depend on M.
//
// The P numbers of a model's parameters are row m of M x P numbers, and so are its gradient and the
// running sums of its optimizer. An update is
//   begin      writes numbers of the step program that are computed from parameters
//   (the forward pass of the step)
//   outputs    log p of each symbol, by softmax(W h + b), and the gradients of the loss by the
//              scores W h + b and by h
//   (the backward pass of the step)
//   gradients  collects the gradient of each parameter, and sums log p and the squares of the
//              gradient of each model
//   and, if these sums are finite, device_optimizer_step().
// Every sum has one order, so that results do not depend on the scheduling of blocks or on M.
//
// Letters: M models, B sequences of each, T steps, H hidden, V outcomes, P numbers. Position t = 0
// .. T of a sequence is the prediction from h_t, where h_0 = 0. All memory belongs to the caller
// and is on the device of the stream.
//
// There are two implementations: device_update.cu with a CUDA toolkit, nocuda.cpp without. A launch
// throws std::runtime_error if there is no device or the launch fails. If it fails later, the next
// CUDA call that waits reports it.
#pragma once
#include "kernel/update/optimizer_rules.h"

namespace pushdown {

// Numbers that begin() writes: rows x columns, contiguous, for each model, and for each sequence
// unless to_sequence is 0.
template <class F>
struct DeviceCopy {
  F* to = nullptr;
  std::int64_t to_model = 0, to_sequence = 0;
  const F* from = nullptr;
  std::int64_t from_model = 0, from_sequence = 0, from_row = 0, from_column = 0;
  std::int64_t rows = 1, columns = 0;
  bool logistic = false;  // the sigmoid of the numbers
};

// Where summands of gradients are: sum_{r < count} numbers[m * model + r * row + i], times s (1 -
// s) for a number s = logistic[m * logistic_model + i] that is a sigmoid of the parameter.
template <class F>
struct DeviceGradientSource {
  const F* numbers = nullptr;
  std::int64_t model = 0, row = 0, count = 1;
  const F* logistic = nullptr;
  std::int64_t logistic_model = 0;
};

// A summand of the gradient of one number: number i of a source, or of W (V x H), of b, or 0.
struct DeviceSummand {
  static constexpr std::int32_t kWeight = -1, kBias = -2, kNone = -3;
  std::int32_t source = kNone, i = 0;
};

// The results of an update for one model.
struct DeviceUpdateSums {
  double log_probability = 0, squares = 0;
};

template <class F>
struct DeviceUpdate {
  std::int64_t models = 1, batch = 0, steps = 0;
  std::int64_t count = 0;         // P
  const F* parameters = nullptr;  // M x P

  const DeviceCopy<F>* copies = nullptr;
  std::int64_t copy_count = 0;

  std::int64_t hidden = 0, outcomes = 0;
  std::int64_t weight = 0, bias = 0;  // places of W and b among the P numbers
  const F* hiddens = nullptr;         // of position 1
  std::int64_t hidden_model = 0, hidden_row = 0, hidden_step = 0;
  // The symbols that are read, M x B x T; how many of them, M x B; and the outcome after them, M x
  // B, -1: there is no such sequence.
  const std::int64_t *symbols = nullptr, *lengths = nullptr, *last = nullptr;
  const double* shares = nullptr;  // M: the loss is the sum of -share log p
  F* likelihoods = nullptr;        // M x B x (T + 1): log p, 0 after the end of a sequence
  F* scores = nullptr;             // M x B x (T + 1) x V: gradients by the scores
  F* slopes = nullptr;             // M x B x T x H: gradients by h_1 .. h_T

  // Summands starts[i] .. starts[i + 1] - 1 give the gradient of number i. A number without any is
  // not trained.
  const std::int32_t* starts = nullptr;
  const DeviceSummand* summands = nullptr;
  const DeviceGradientSource<F>* sources = nullptr;
  F* gradients = nullptr;            // M x P
  double* squares = nullptr;         // M x device_update_blocks()
  DeviceUpdateSums* sums = nullptr;  // M
};

enum class DeviceUpdatePart { begin, outputs, gradients };

// Returns by how many blocks the gradient of a model is collected.
std::int64_t device_update_blocks(std::int64_t count);

// A model that makes a step of its optimizer.
struct DeviceStepMember {
  std::int64_t row = 0;
  // Factors of the gradient, of the step, and of the parameters (decoupled weight decay).
  double clip = 1, rate = 0, keep = 1;
};

template <class F>
struct DeviceOptimizerStep {
  OptimizerMethod method;
  std::int64_t count = 0;                 // P
  const std::int32_t* starts = nullptr;   // as in DeviceUpdate
  F* parameters = nullptr;                // M x P
  const F* gradients = nullptr;           // M x P
  F *first = nullptr, *second = nullptr;  // M x P, null if there are fewer running sums
  const DeviceStepMember* members = nullptr;
  std::int64_t member_count = 0;
};

// Run on the stream (a cudaStream_t; null: the default one) and return immediately.
template <class F>
void device_update(const DeviceUpdate<F>& update, DeviceUpdatePart part, void* stream);
template <class F>
void device_optimizer_step(const DeviceOptimizerStep<F>& step, void* stream);

// Throws std::invalid_argument for updates that the kernels do not support.
template <class F>
void check_device_update(const DeviceUpdate<F>& update);

}  // namespace pushdown
