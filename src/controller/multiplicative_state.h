// The intermediate state of multiplicative networks (Sutskever et al. 2011, Krause et al. 2016):
//   m = (W_mx x) (W_mh h),   F numbers, elementwise product.
#pragma once
#include "controller/layered.h"

namespace pushdown {

struct MultiplicativeState {
  Tensor weight_mx, weight_mh;  // F x I, F x H

  MultiplicativeState(const Json& options, const LayerParameters& make) {
    const std::int64_t given = options["factors"], factors = given == 0 ? make.hidden : given;
    weight_mx = make.weight("weight_mx", {factors, make.input});
    weight_mh = make.weight("weight_mh", {factors, make.hidden});
  }
  std::int64_t factors() const { return weight_mx.size(0); }
  // x : B x I, h : B x H -> B x F
  template <class V>
  V operator()(const V& x, const V& h) const {
    return pushdown::linear(x, weight_mx) * pushdown::linear(h, weight_mh);
  }
};

inline OptionSpec factors_option() {
  return integer_option("factors", 0, "size F of the intermediate state; 0: the hidden size", 0)
      .between(0, 1 << 20)
      .trying(9);
}

}  // namespace pushdown
