#include "model/self_attention.h"

#include <cmath>
#include <limits>

#include "base/check.h"
#include "recurrence/trace/step_trace.h"
#include "tensor/product.h"

namespace pushdown {
namespace {

struct AttentionState : NetworkState {
  Tensor keys, values;  // B x heads x t x d/heads

  NetworkStatePtr detached() const override {
    auto copy = std::make_shared<AttentionState>();
    copy->keys = keys.detach();
    copy->values = values.detach();
    return copy;
  }
  std::size_t bytes() const override { return tensor_bytes(keys) + tensor_bytes(values); }
};

}  // namespace

SelfAttention::SelfAttention(const Json& options, const ModuleContext& context)
    : size_(context.input),
      heads_(options["heads"]),
      options_(context.tensor_options),
      encoding_(attention_encoding(options["positions"])),
      distances_(size_, 1, options_) {
  check(size_ % heads_ == 0, "model.transformer",
        "'hidden' must be a multiple of 'heads', got {} and {}", size_, heads_);
  check(encoding_ != AttentionEncoding::rotary || size_ / heads_ % 2 == 0, "model.transformer",
        "positions = 'rotary' rotates pairs of numbers: 'hidden' divided by 'heads' must be even, "
        "got {} / {}",
        size_, heads_);
  for (const char* name : {"query_weight", "key_weight", "value_weight", "output_weight"})
    parameters_.emplace_back(name, xavier_parameter(size_, size_, 1.0, context));
  if (!reads_distances()) return;
  parameters_.emplace_back("distance_weight", xavier_parameter(size_, size_, 1.0, context));
  for (const char* name : {"content_bias", "distance_bias"})
    parameters_.emplace_back(name, uniform_parameter({size_}, -0.1, 0.1, context));
}

NetworkStatePtr SelfAttention::initial(std::int64_t batch, std::int64_t) const {
  auto state = std::make_shared<AttentionState>();
  state->keys = state->values = at::empty({batch, heads_, 0, size_ / heads_}, options_);
  return state;
}

std::int64_t SelfAttention::positions_of(const NetworkState& state) {
  return static_cast<const AttentionState&>(state).keys.size(2);
}

std::pair<Tensor, NetworkStatePtr> SelfAttention::attend(const Tensor& x,
                                                         const NetworkStatePtr& state,
                                                         const MoreScores& more) const {
  const auto& old = static_cast<const AttentionState&>(*state);
  const auto length = x.size(1), before = old.keys.size(2);
  const bool rotates = encoding_ == AttentionEncoding::rotary;
  Tensor queries = heads(x, kQueryWeight), keys = heads(x, kKeyWeight);
  const Tensor added = more ? more(reads_distances() ? queries + bias(5) : queries) : Tensor();
  if (rotates) {
    queries = rotated(queries, before);
    keys = rotated(keys, before);
  }
  auto next = std::make_shared<AttentionState>();
  next->keys = at::cat({old.keys, keys}, 2);
  next->values = at::cat({old.values, heads(x, kValueWeight)}, 2);
  // Position `before + t` attends to itself and all earlier ones : c x (before + c)
  const Tensor hidden =
      at::ones({length, before + length}, options_.dtype(at::kBool)).triu(before + 1);
  const double norm = std::sqrt(static_cast<double>(size_) / static_cast<double>(heads_));
  // B x heads x c x (before + c)
  Tensor scores;
  if (reads_distances()) {
    const Tensor of = linear_product(distances_.rows(0, before + length), parameters_[4].second)
                          .view({before + length, heads_, -1})
                          .permute({1, 2, 0});  // heads x d/heads x (before + c)
    scores = (product(queries + bias(5), next->keys.transpose(2, 3)) +
              scores_of_distances(product(queries + bias(6), of), before)) /
             norm;
  } else {
    scores = product(queries, next->keys.transpose(2, 3)) / norm;
  }
  if (added.defined()) scores = scores + added / norm;
  if (encoding_ == AttentionEncoding::alibi)
    scores = scores + alibi_scores(heads_, before, before + length, options_);
  const Tensor shares =
      scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(3);
  const Tensor joined = product(shares, next->values).transpose(1, 2).flatten(2, 3);
  return {linear_product(joined, parameters_[3].second), next};
}

Traced SelfAttention::record(const Traced& x, const Traced& distances) const {
  const auto mapped = [&](const Traced& from, std::size_t weight) {
    return pushdown::linear(from, parameters_[weight].second);
  };
  StepTrace& trace = StepTrace::of(x);
  std::vector<Traced> relative;
  if (reads_distances())
    relative = {mapped(distances, 4), trace.constant(parameters_[5].second),
                trace.constant(parameters_[6].second)};
  return mapped(
      trace.attention(mapped(x, 0), mapped(x, 1), mapped(x, 2), heads_, encoding_, relative), 3);
}

Tensor SelfAttention::heads(const Tensor& x, std::size_t weight) const {
  return linear_product(x, parameters_[weight].second)
      .view({x.size(0), x.size(1), heads_, -1})
      .transpose(1, 2);
}

std::vector<OptionSpec> attention_options() {
  return {integer_option("heads", 4, "number of attention heads; absent: the model's heads", 1)
              .between(1, 1 << 16)
              .in_small(2)
              .trying(1),
          text_option("positions", "none",
                      "how attention reads positions: none, rotary, alibi or relative; absent: "
                      "as the model's positions say",
                      attention_positions())};
}

LayerKind attention_layer() {
  return {"attention", "Causal self-attention (Vaswani et al. 2017).", attention_options(),
          [](const Json& options, const ModuleContext& context) -> SublayerPtr {
            return std::make_shared<SelfAttention>(options, context);
          }};
}

}  // namespace pushdown
