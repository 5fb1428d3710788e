// Multiplicative recurrent network (Sutskever, Martens and Hinton 2011): the recurrent matrix
// depends on the input through F factors,
//   m = (W_mx x) (W_mh h),   h' = f(W_ih x + W_hm m + b),   f as in `elman`,
// with an elementwise product. Mali et al. (2021), equations 17-19, print a second recurrent map
// and a second input map after it (z^ = W_zm m + W_zx x; f(U x + R z^)); successive linear maps are
// one map, so their network is equivalent to this one.
#include "controller/activation.h"
#include "controller/controller.h"
#include "controller/multiplicative_state.h"

namespace pushdown {
namespace {

struct MrnnLayer {
  static constexpr std::size_t kStates = 1;
  Activation activation;
  MultiplicativeState state;
  Tensor weight_ih, weight_hm, bias;  // H x I, H x F, H

  MrnnLayer(const Json& options, const LayerParameters& make)
      : activation(parse_activation(options)),
        state(options, make),
        weight_ih(make.weight("weight_ih", {make.hidden, make.input})),
        weight_hm(make.weight("weight_hm", {make.hidden, state.factors()})),
        bias(make.bias("bias", {make.hidden})) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    return {activate(activation, pushdown::linear(x, weight_ih, bias) +
                                     pushdown::linear(state(x, *old), weight_hm))};
  }
};

}  // namespace

ControllerKind mrnn_controller() {
  return {"mrnn", "Multiplicative recurrent network (Sutskever et al. 2011).",
          cell_options_and({factors_option(), activation_option()}), make_cell<Layered<MrnnLayer>>};
}

}  // namespace pushdown
