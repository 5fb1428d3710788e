// A layer of a transformer: a sublayer that looks back and a feedforward one, each after a
// normalization (transformer.cpp).
#pragma once
#include <string>
#include <utility>

#include "base/registry.h"
#include "model/sublayer.h"
#include "recurrence/trace/step_trace.h"
#include "tensor/product.h"

namespace pushdown {

struct LayerNorm {
  Tensor gain, bias;

  LayerNorm(const std::string& name, const ModuleContext& context, ParameterList& parameters)
      : gain(zero_parameter({context.input}, context)),
        bias(zero_parameter({context.input}, context)) {
    at::NoGradGuard guard;
    gain.fill_(1);
    parameters.emplace_back(name + "_gain", gain);
    parameters.emplace_back(name + "_bias", bias);
  }
  template <class Vector>
  Vector operator()(const Vector& x) const {
    return normalized(x, gain, bias);
  }
};

struct TransformerLayer {
  std::string kind;
  LayerNorm norm;
  SublayerPtr sublayer;
  LayerNorm feedforward_norm;
  Tensor inner_weight, inner_bias, outer_weight, outer_bias;

  TransformerLayer(const std::string& name, const Json& options, std::int64_t inner,
                   const ModuleContext& context, ParameterList& parameters)
      : kind(options["kind"]),
        norm(name + "norm", context, parameters),
        sublayer(find_row("layer", layer_kinds(), options["kind"].get<std::string>())
                     .make(without_kind(options), context)),
        feedforward_norm(name + "feedforward_norm", context, parameters),
        inner_weight(xavier_parameter(inner, context.input, 1.0, context)),
        inner_bias(uniform_parameter({inner}, -0.1, 0.1, context)),
        outer_weight(xavier_parameter(context.input, inner, 1.0, context)),
        outer_bias(uniform_parameter({context.input}, -0.1, 0.1, context)) {
    for (const auto& [own, tensor] : sublayer->parameters())
      parameters.emplace_back(name + own, tensor);
    for (const auto& [own, tensor] : {std::pair{"inner_weight", inner_weight},
                                      {"inner_bias", inner_bias},
                                      {"outer_weight", outer_weight},
                                      {"outer_bias", outer_bias}})
      parameters.emplace_back(name + "feedforward_" + own, tensor);
  }

  static Json without_kind(Json options) {
    options.erase("kind");
    return options;
  }
  Tensor feedforward(const Tensor& x) const {
    return linear_product(linear_product(feedforward_norm(x), inner_weight, inner_bias).relu(),
                          outer_weight, outer_bias);
  }
  Traced feedforward(const Traced& x) const {
    return pushdown::linear(pushdown::linear(feedforward_norm(x), inner_weight, inner_bias).relu(),
                            outer_weight, outer_bias);
  }
};

}  // namespace pushdown
