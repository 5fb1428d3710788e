#include "model/network.h"

#include "base/check.h"
#include "model/network_trace.h"
#include "tensor/backward.h"

namespace pushdown {

std::vector<Tensor> NetworkState::tensors() const {
  fail("model.network", "this network does not support states as lists of tensors");
}

NetworkStatePtr NetworkState::with_tensors(const std::vector<Tensor>&) const {
  fail("model.network", "this network does not support states made from lists of tensors");
}

std::vector<NetworkTrace> traces_of(const Network& network, const PassRequest& request) {
  const auto* traceable = dynamic_cast<const TraceableNetwork*>(&network);
  const at::NoGradGuard guard;
  auto traces = traceable == nullptr ? std::vector<NetworkTrace>() : traceable->traces(request);
  check(!traces.empty(), "model.trace", "this model has no memory to trace: {}", network.line());
  return traces;
}

Tensor carried_passes(const Tensor& hiddens, const Refinement& refinement) {
  const std::int64_t size = hiddens.size(1), first = refinement.carry_first ? 1 : refinement.passes;
  if (refinement.passes == 1) return hiddens;
  return at::cat({hiddens.narrow(1, 0, 1), hiddens.slice(1, first, size, refinement.passes)}, 1);
}

std::vector<Tensor> layers_of(const Network& network, const PassRequest& request) {
  const at::NoGradGuard guard;
  if (const auto* layered = dynamic_cast<const LayeredNetwork*>(&network))
    return layered->layers(request);
  return {carried_passes(network.run(request).hiddens, request.refinement)};
}

Tensor Network::validity(const Tensor&) const {
  fail("model.recognizer", "{} has no measure of validity of its own; use output = 'affine'",
       line());
}

Route Network::route(const PassRequest& request) const {
  if (request.window > 0) return ByPieces();
  return ByTensors();
}

Pass Network::pass(const PassRequest& request, const Route& route) const {
  if (const auto* plan = std::get_if<PlannedBatch>(&route)) return run_plan(*plan);
  const at::AutoGradMode with_gradient(true);
  const Passes made = run(request);
  return {made.hiddens.detach(), made.weights, [hiddens = made.hiddens](const Tensor& slopes) {
            if (hiddens.requires_grad()) run_backward(hiddens, slopes);
          }};
}

StepPlanPtr Network::plan(std::int64_t batch, std::int64_t steps) const {
  const Route found =
      route({.words = at::empty({batch, steps}, at::kLong), .outcomes = 1, .together = true});
  const auto* planned = std::get_if<PlannedBatch>(&found);
  return planned == nullptr ? nullptr : planned->plan;
}

Tensor repeated_words(const Tensor& words, std::int64_t times) {
  return times == 1 ? words : words.repeat_interleave(times, 1);
}

Tensor Network::repeated(const Tensor& words, const Refinement& refinement) const {
  check(refinement.passes == 1 || !refinement.carry_first, "model.network",
        "a {} cannot continue from the first pass of a symbol; use carry = 'last'", line());
  return repeated_words(words, refinement.passes);
}

Passes Network::advance(const Tensor& words, const Refinement& refinement,
                        const NetworkStatePtr& state, Random* noise) const {
  const Tensor repeated = this->repeated(words, refinement);
  // The first hidden vector is from before these symbols; the one after them must still be
  // computed.
  auto [before, given] = read(repeated, state, noise);
  auto [last, next] = peek(given, noise);
  if (repeated.size(1) == 0) return {before, {}, state};
  return {at::cat({before.narrow(1, 1, before.size(1) - 1), last.unsqueeze(1)}, 1), {}, next};
}

}  // namespace pushdown
