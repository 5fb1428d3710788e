// Multiplicative integration (Wu et al. 2016): the sum of the maps of the input and of the state,
// plus their product,
//   s = alpha (W x) (U h) + beta_hidden (U h) + beta_input (W x) + b,   elementwise products.
#pragma once
#include "controller/layered.h"

namespace pushdown {

struct MultiplicativeIntegration {
  Tensor weight_ih;                             // rows x I: W
  Tensor weight_hh;                             // rows x H: U
  Tensor alpha, beta_hidden, beta_input, bias;  // rows

  // W, U and b as in every cell; the initial values of alpha and both beta are the options of these
  // names.
  MultiplicativeIntegration(std::int64_t rows, const Json& options, const LayerParameters& make);

  // from_input = W x, from_hidden = U h : B x rows
  template <class V>
  V operator()(const V& from_input, const V& from_hidden) const {
    return rows(0, bias.size(0), from_input, from_hidden);
  }
  // The same for `count` rows from `first` on.
  template <class V>
  V rows(std::int64_t first, std::int64_t count, const V& from_input, const V& from_hidden) const {
    const auto part = [&](const Tensor& all) { return all.narrow(0, first, count); };
    return part(alpha) * from_input * from_hidden + part(beta_hidden) * from_hidden +
           part(beta_input) * from_input + part(bias);
  }
};

// Returns the options alpha, beta.
std::vector<OptionSpec> multiplicative_integration_options();

}  // namespace pushdown
