// DeltaNet: linear attention with the delta rule (Schlag, Irie and Schmidhuber 2021; in the form of
// Yang, Wang, Zhang, Shen and Kim 2024). Each head has a matrix S, d x d with d = H / heads, which
// maps keys to values and which a step corrects for one key:
//   q = unit(silu(W_q x)),   k = unit(silu(W_k x)),   v = silu(W_v x)
//   beta = (1 - l) sigmoid(W_beta x)                     one number for each head
//   S' = S (I - beta k k^T) + beta v k^T = S + beta (v - S k) k^T
//   h' = W_o rms(S' q)
// where silu(x) = x sigmoid(x); unit(x) = x / sqrt(|x|^2 + 1e-6) and rms(x) = gain x /
// sqrt(|x|^2 / d + 1e-5) for each head. The transition I - beta k k^T has the eigenvalue 1 - beta
// in the direction of k, which is between l and 1, and 1 in all others. l is the option
// `lowest_eigenvalue`: 0 as published, or -1, with which the cell can represent reflections, and
// products of them (Grazzi, Siems, Zela, Franke, Hutter and Pontil 2025). The short convolutions of
// the published layers are left out. The step is linear in S and does not read h. The state
// contains h and S of every layer.
#include "controller/linear_attention.h"

namespace pushdown {
namespace {

struct DeltaNetLayer {
  static constexpr std::size_t kStates = 2;
  static constexpr bool kReadsHidden = false;
  std::int64_t hidden, heads;
  double lowest;
  Tensor weight_ih;  // (3H + heads) x I: W_q, W_k, W_v, W_beta
  Tensor gain;       // H
  Tensor weight_ho;  // H x H: W_o
  Tensor ones;       // heads

  DeltaNetLayer(const Json& options, const LayerParameters& make)
      : hidden(make.hidden),
        heads(parse_heads("deltanet", options)),
        lowest(options["lowest_eigenvalue"]),
        weight_ih(make.weight("weight_ih", {3 * hidden + heads, make.input})),
        gain(make.constant("gain", {hidden}, 1)),
        weight_ho(make.weight("weight_ho", {hidden, hidden})),
        ones(at::ones({heads}, weight_ih.options().requires_grad(false))) {}

  std::vector<std::int64_t> state_sizes() const { return {hidden, hidden * hidden / heads}; }

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V &map = old[1], all = pushdown::linear(x, weight_ih);
    const V parts = silu(all.narrow(1, 0, 3 * hidden));
    const V query = scaled_parts(parts.narrow(1, 0, hidden), 1, 1e-6, ones);
    const V key = scaled_parts(parts.narrow(1, hidden, hidden), 1, 1e-6, ones);
    const V rate = (1 - lowest) * all.narrow(1, 3 * hidden, heads).sigmoid();
    const V error = parts.narrow(1, 2 * hidden, hidden) - matrix_vector(map, key, heads);
    const V next = map + outer_product(matrix_vector(error, rate, heads), key, heads);
    const V read = matrix_vector(next, query, heads);
    const V normal = gain * scaled_parts(read, static_cast<double>(heads) / hidden, 1e-5, ones);
    return {pushdown::linear(normal, weight_ho), next};
  }
};

}  // namespace

ControllerKind deltanet_controller() {
  return {"deltanet", "DeltaNet, linear attention with the delta rule (Yang et al. 2024).",
          cell_options_and({heads_option("number of matrices, each for an equal part of the units"),
                            lowest_eigenvalue_option()}),
          make_cell<Layered<DeltaNetLayer>>};
}

}  // namespace pushdown
