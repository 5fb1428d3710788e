// A controller with a stack, and perhaps an output layer, in the form of the fused recurrence
// (kernel/scan.h): its sizes, its trainable tensors packed for the kernels, and the gradients of
// these tensors from those of the pre-activations.
//
// Letters as in kernel/scan.h; I inputs of a step besides the reading, V outcomes.
#pragma once
#include <memory>

#include "base/buffer_pool.h"
#include "controller/controller.h"
#include "kernel/dense.h"
#include "kernel/pieces.h"
#include "stack/stack.h"

namespace pushdown {

struct FusedNetwork {
  ScanShape shape;
  std::int64_t inputs = 0, outcomes = 0;
  // For each layer weight_ih, weight_hh, bias_ih, bias_hh; then the action layer's weight and bias,
  // the bottom vector and, if there is an output layer, its weight and bias.
  std::vector<Tensor> tensors;
  std::vector<std::int64_t> row_start;  // shape points here

  const Tensor& layer(std::int64_t l, int which) const { return tensors[4 * l + which]; }
  const Tensor& action(int which) const { return tensors[4 * shape.layers + which]; }
  const Tensor& bottom() const { return tensors[4 * shape.layers + 2]; }
  const Tensor& output(int which) const { return tensors[4 * shape.layers + 3 + which]; }
  bool split_gates() const { return shape.cell == ScanCell::gru; }
};
using FusedNetworkPtr = std::shared_ptr<const FusedNetwork>;

// Null when the fused recurrence does not have this controller, stack or type of number, or
// `steps` is 0. `inputs` must be what the controller was made for, less the reading. The output
// layer is optional: undefined tensors for none.
FusedNetworkPtr fused_network(const Controller& controller, const Stack& stack, std::int64_t inputs,
                              std::int64_t steps, const Tensor& output_weight = {},
                              const Tensor& output_bias = {});

// The trainable tensors as the kernels read them.
template <class F>
struct PackedWeights {
  ScanParameters<F> scan{};
  const F* words = nullptr;  // I x G: the first layer's weight of each input, with the bias
  OutputLayer<F> output{};

  PackedWeights(const FusedNetwork& network, Pieces<F>& pieces);
};

// What the gradients of the tensors are sums over.
template <class F>
struct StepRecord {
  std::int64_t batch = 0;
  F* readings = nullptr;                     // B x T x R
  F* hidden[kMaxScanLayers] = {};            // B x (T+1) x H, h_0 first
  F *input = nullptr, *recurrent = nullptr;  // gradients of pre-activations, L x B x T x G
  F* actions = nullptr;                      // the same, B x T x A
  F* scores = nullptr;                       // of the output layer, B x (T+1) x V
  F* bottom = nullptr;                       // B x m

  StepRecord(const FusedNetwork& network, std::int64_t batch, bool gradients, Pieces<F>& pieces);
  // The part of sequence b; `pre`, `words`, tape and scratch are the caller's.
  ScanSequence<F> sequence(const FusedNetwork& network, std::int64_t b) const;
  ScanGradients<F> gradients(const FusedNetwork& network, std::int64_t b) const;
};

// Gradients of all tensors of the network. `scales`: what the gradients of each sequence are
// multiplied with, null for 1. The first layer read `words` : B x (T+1) ids, the last column
// unused. Independent of the number of threads.
template <class F>
std::vector<Tensor> tensor_gradients(const FusedNetwork& network, const StepRecord<F>& record,
                                     const F* scales, const std::int64_t* words);

}  // namespace pushdown
