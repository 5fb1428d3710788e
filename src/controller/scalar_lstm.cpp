// LSTM with exponential gates and a scalar memory for each unit: sLSTM (Beck et al. 2024, xLSTM,
// section 2.2, with the stabilizer m of equations 15 to 17). Gate rows in the order z, i, f, o:
//   [z i f o] = W x + R h + b
//   m' = max(log_f + m, i),   log_f = log sigmoid(f)   forget_gate = 'sigmoid'
//                                   = f                forget_gate = 'exponential'
//   i' = exp(i - m'),   f' = exp(log_f + m - m')
//   c' = f' c + i' tanh(z),   n' = f' n + i',   h' = sigmoid(o) c' / n'
// m' does not change c' / n' and keeps both small. It begins at minus infinity, as c = n = 0: the
// first m' is i, whatever f is. With several heads, R is block-diagonal: a unit
// reads only the part of h of its head. The normalization and the projections around the cell of
// the published blocks are left out. The state contains h, c, n and m of every layer.
#include <array>

#include "controller/linear_attention.h"

namespace pushdown {
namespace {

struct ScalarLstmLayer {
  static constexpr std::size_t kStates = 4;
  static constexpr std::array kStart{0.0, 0.0, 0.0, kNoStabilizer};
  std::int64_t hidden, heads;
  bool exponential;
  Tensor weight_ih, weight_hh, bias;  // 4H x I, 4H x H / heads, 4H

  ScalarLstmLayer(const Json& options, const LayerParameters& make)
      : hidden(make.hidden),
        heads(parse_heads("scalar_lstm", options)),
        exponential(options["forget_gate"] == "exponential"),
        weight_ih(make.weight("weight_ih", {4 * hidden, make.input})),
        weight_hh(make.weight("weight_hh", {4 * hidden, hidden / heads})),
        bias(make.bias("bias", {4 * hidden})) {}

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const auto gates = (pushdown::linear(x, weight_ih, bias) + recurrent(old[0])).chunk(4, 1);
    const V kept = (exponential ? gates[2] : pushdown::log_sigmoid(gates[2])) + old[3];
    const V greatest = greater_of(kept, gates[1]);
    const V in = (gates[1] - greatest).exp(), forget = (kept - greatest).exp();
    const V cell = forget * old[1] + in * gates[0].tanh(), normalizer = forget * old[2] + in;
    return {gates[3].sigmoid() * (cell / normalizer), cell, normalizer, greatest};
  }

 private:
  template <class V>
  V recurrent(const V& h) const {
    if (heads == 1) return pushdown::linear(h, weight_hh);
    const auto size = hidden / heads;
    std::vector<V> parts;
    for (std::int64_t first = 0; first < 4 * hidden; first += size)
      parts.push_back(
          pushdown::linear(h.narrow(1, first % hidden, size), weight_hh.narrow(0, first, size)));
    return joined(parts);
  }
};

}  // namespace

ControllerKind scalar_lstm_controller() {
  return {"scalar_lstm", "LSTM with exponential gates, sLSTM (Beck et al. 2024).",
          cell_options_and({heads_option("equal parts of the units that do not read each other"),
                            text_option("forget_gate", "sigmoid", "function of the forget gate",
                                        {"sigmoid", "exponential"})}),
          make_cell<Layered<ScalarLstmLayer>>};
}

}  // namespace pushdown
