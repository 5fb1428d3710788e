// Networks by the kernels of CUDA devices (kernel/device_scan.h): hidden vectors of whole sequences
// and log-probabilities of strings as functions that autograd knows, for several networks of one
// shape at once, which then are blocks of one launch. What follows the hidden vectors (output
// layer, softmax, loss) is made of LibTorch's operations.
//
// Letters: M networks, B sequences of each, T steps, H hidden, V outcomes.
#pragma once
#include "model/device_runner.h"
#include "model/fused_network.h"

namespace pushdown {

// What a forward and, with `gradients`, a backward pass need of the device's memory.
struct DevicePassBytes {
  std::size_t tape = 0, scratch = 0, other = 0;
  std::size_t total() const { return tape + scratch + other; }
};
DevicePassBytes device_pass_bytes(const FusedNetwork& network, std::int64_t models,
                                  std::int64_t batch, bool gradients);

// Whether two networks differ in the values of their parameters alone.
bool same_form(const FusedNetwork& first, const FusedNetwork& second);

// h_1 .. h_T of the last layer: M x B x T x H, differentiable in the tensors of the networks,
// which are of one form and on one device. words : M x B x T ids (int64) on that device, below the
// networks' inputs. std::runtime_error where the runner's memory does not do: it says what is
// needed, what is free and what would take less.
Tensor device_hiddens(const std::vector<FusedNetworkPtr>& networks, const Tensor& words,
                      const DeviceRunnerPtr& runner);

// log p of each string, M x B, as fused_log_probabilities (model/fused.h). targets : M x B x (T+1)
// (int64) on the device; negative where a string has ended: nothing is predicted there.
Tensor device_log_probabilities(const std::vector<FusedNetworkPtr>& networks, const Tensor& targets,
                                const DeviceRunnerPtr& runner);

}  // namespace pushdown
