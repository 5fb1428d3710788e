// Multiplicative integration (Wu et al. 2016): the sum of what comes from the input and from the
// state, with their product added,
//   s = alpha (W x) (U h) + beta_hidden (U h) + beta_input (W x) + b,   products by component.
#pragma once
#include "controller/layered.h"

namespace pushdown {

struct MultiplicativeIntegration {
  Tensor weight_ih;                             // rows x I: W
  Tensor weight_hh;                             // rows x H: U
  Tensor alpha, beta_hidden, beta_input, bias;  // rows

  // W, U and b as in every cell; alpha and both beta start at the options of these names.
  MultiplicativeIntegration(std::int64_t rows, const Json& options, const LayerParameters& make);

  // from_input = W x, from_hidden = U h : B x rows
  Tensor operator()(const Tensor& from_input, const Tensor& from_hidden) const {
    return rows(0, bias.size(0), from_input, from_hidden);
  }
  // The same of `count` rows from `first` on.
  Tensor rows(std::int64_t first, std::int64_t count, const Tensor& from_input,
              const Tensor& from_hidden) const;
};

// alpha, beta.
std::vector<OptionSpec> multiplicative_integration_options();

}  // namespace pushdown
