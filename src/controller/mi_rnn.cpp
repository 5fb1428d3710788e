// Simple recurrent network with multiplicative integration (Wu et al. 2016):
//   h' = f(alpha (W x) (U h) + beta_hidden (U h) + beta_input (W x) + b),   f as in `elman`.
// With alpha = 1, beta = 0 and no bias this is equation 25 of Mali et al. (2021).
#include "controller/activation.h"
#include "controller/controller.h"
#include "controller/multiplicative_integration.h"

namespace pushdown {
namespace {

struct MiRnnLayer {
  static constexpr std::size_t kStates = 1;
  Activation activation;
  MultiplicativeIntegration sum;

  MiRnnLayer(const Json& options, const LayerParameters& make)
      : activation(parse_activation(options)), sum(make.hidden, options, make) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    return {activate(activation, sum(pushdown::linear(x, sum.weight_ih),
                                     pushdown::linear(*old, sum.weight_hh)))};
  }
};

}  // namespace

ControllerKind mi_rnn_controller() {
  auto options = cell_options_and(multiplicative_integration_options());
  options.push_back(activation_option());
  return {"mi_rnn", "Simple recurrent network with multiplicative integration (Wu et al. 2016).",
          options, make_cell<Layered<MiRnnLayer>>};
}

}  // namespace pushdown
