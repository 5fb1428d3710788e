#include "model/pushdown_attention.h"

#include "tensor/product.h"

namespace pushdown {

PushdownAttention::PushdownAttention(const Json& options, const ModuleContext& context)
    : SelfAttention(options, context),
      vectors_(uniform_parameter({options["depths"].get<std::int64_t>(), context.input}, -0.1, 0.1,
                                 context)) {
  parameters_.emplace_back("depth_embedding", vectors_);
}

std::pair<Tensor, NetworkStatePtr> PushdownAttention::read(const Tensor& x,
                                                           const NetworkStatePtr& state) const {
  const auto length = x.size(1), before = positions_of(*state);
  return read(x, at::zeros({x.size(0), length, before + length}, at::kLong), state);
}

std::pair<Tensor, NetworkStatePtr> PushdownAttention::read(const Tensor& x, const Tensor& depths,
                                                           const NetworkStatePtr& state) const {
  return attend(x, state, [&](const Tensor& queries) {
    // A query's product with the vector of every depth, and from these that of every position.
    const Tensor vectors = heads(vectors_.unsqueeze(0), kKeyWeight);    // 1 x heads x D x d/heads
    const Tensor by_depth = product(queries, vectors.transpose(2, 3));  // B x heads x c x D
    const Tensor places =
        depths.to(x.device()).clamp_max(vectors_.size(0) - 1).unsqueeze(1);  // B x 1 x c x (t + c)
    return by_depth.gather(3,
                           places.expand({x.size(0), queries.size(1), x.size(1), places.size(3)}));
  });
}

LayerKind pushdown_attention_layer() {
  auto options = attention_options();
  options.push_back(integer_option("depths", 16,
                                   "number of depths with a vector of their own, the last for all "
                                   "greater ones; 2: whether a symbol is part of a larger "
                                   "constituent",
                                   2)
                        .between(2, 1 << 16)
                        .in_small(3)
                        .trying(2));
  return {"pushdown_attention",
          "Causal self-attention that sees the depths of a parse (Murty et al. 2023).", options,
          [](const Json& given, const ModuleContext& context) -> SublayerPtr {
            return std::make_shared<PushdownAttention>(given, context);
          }};
}

}  // namespace pushdown
