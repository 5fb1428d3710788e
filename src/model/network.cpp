#include "model/network.h"

#include "base/check.h"

namespace pushdown {

std::vector<Tensor> NetworkState::tensors() const {
  fail("model.network", "this network's state cannot be had as a list of tensors");
}

NetworkStatePtr NetworkState::with_tensors(const std::vector<Tensor>&) const {
  fail("model.network", "this network's state cannot be made from a list of tensors");
}

Passes Network::run_passes(const Tensor& words, std::int64_t passes, Random* noise) const {
  return {run(passes == 1 ? words : words.repeat_interleave(passes, 1), noise), {}, nullptr};
}

Passes Network::advance(const Tensor& words, std::int64_t passes, const NetworkStatePtr& state,
                        Random* noise) const {
  const Tensor repeated = passes == 1 ? words : words.repeat_interleave(passes, 1);
  // The first hidden vector is that before these symbols, the one after them is still to be made.
  auto [before, given] = read(repeated, state, noise);
  auto [last, next] = peek(given, noise);
  if (repeated.size(1) == 0) return {before, {}, state};
  return {at::cat({before.narrow(1, 1, before.size(1) - 1), last.unsqueeze(1)}, 1), {}, next};
}

}  // namespace pushdown
