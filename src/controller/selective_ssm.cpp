// Selective state-space cell with a diagonal transition, the core of Mamba (Gu and Dao 2023,
// algorithm 2 and section 3.4). Each of H channels has N numbers s, and what a step writes, keeps
// and reads depends on the input:
//   u = silu(W_u x),   z = silu(W_z x)
//   step = softplus(W_t W_r u + b_t) : H,   B = W_B u : N,   C = W_C u : N
//   a_ij = l + (1 - l) exp(-step_i exp(log_rate_ij))
//   s'_ij = a_ij s_ij + step_i u_i B_j
//   y_i = sum_j s'_ij C_j + skip_i u_i,   h' = W_o (y z)
// where silu(x) = x sigmoid(x). The eigenvalues a are between l, the option `lowest_eigenvalue`,
// and 1: 0 as published, or -1 (Grazzi, Siems, Zela, Franke, Hutter and Pontil 2025). As published,
// log_rate starts at log j, b_t so that the steps are logarithmically uniform in [0.001, 0.1], skip
// at 1, and W_r has the rank ceil(H / 16). The short convolution of the published block is left
// out, and its vectors have H numbers instead of 2H. The step is linear in s and does not read h.
// The state contains h and s of every layer.
#include <cmath>

#include "controller/linear_attention.h"

namespace pushdown {
namespace {

struct SelectiveLayer {
  static constexpr std::size_t kStates = 2;
  static constexpr bool kReadsHidden = false;
  std::int64_t hidden, states, rank;
  double lowest;
  Tensor weight_ih;    // 2H x I: W_u, W_z
  Tensor weight_u;     // (rank + 2N) x H: W_r, W_B, W_C
  Tensor weight_step;  // H x rank: W_t
  Tensor bias_step;    // H: b_t
  Tensor log_rate;     // H x N
  Tensor skip;         // H
  Tensor weight_ho;    // H x H: W_o

  SelectiveLayer(const Json& options, const LayerParameters& make)
      : hidden(make.hidden),
        states(options["state_size"]),
        rank((hidden + 15) / 16),
        lowest(options["lowest_eigenvalue"]),
        weight_ih(make.weight("weight_ih", {2 * hidden, make.input})),
        weight_u(make.weight("weight_u", {rank + 2 * states, hidden})),
        weight_step(make.weight("weight_step", {hidden, rank})),
        bias_step(make.uniform("bias_step", {hidden}, 1)),
        log_rate(make.constant("log_rate", {hidden, states}, 0)),
        skip(make.constant("skip", {hidden}, 1)),
        weight_ho(make.weight("weight_ho", {hidden, hidden})) {
    const at::NoGradGuard guard;
    log_rate.add_(at::arange(1, states + 1, log_rate.options()).log());
    const Tensor steps = (bias_step * std::log(10.0) + std::log(0.01)).exp();
    bias_step.copy_(steps.expm1().log());  // the inverse of softplus
  }

  std::vector<std::int64_t> state_sizes() const { return {hidden, hidden * states}; }

  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V both = silu(pushdown::linear(x, weight_ih)), u = both.narrow(1, 0, hidden);
    const V chosen = pushdown::linear(u, weight_u);
    const V step =
        pushdown::softplus(pushdown::linear(chosen.narrow(1, 0, rank), weight_step, bias_step));
    const V decay = decays(step);
    const V next = (lowest == 0 ? decay : (1 - lowest) * decay + lowest) * old[1] +
                   outer_product(step * u, chosen.narrow(1, rank, states));
    const V read = matrix_vector(next, chosen.narrow(1, rank + states, states)) + skip * u;
    return {pushdown::linear(read * both.narrow(1, hidden, hidden), weight_ho), next};
  }

 private:
  // exp(-step_i exp(log_rate_ij)) : B x HN
  Tensor decays(const Tensor& step) const {
    return matrix_vector(-log_rate.flatten().exp(), step, hidden).exp();
  }
  Traced decays(const Traced& step) const {
    const Traced rate = StepTrace::of(step).constant(log_rate.view({-1}));
    return matrix_vector(-rate.exp(), step, hidden).exp();
  }
};

}  // namespace

ControllerKind selective_ssm_controller() {
  return {
      "selective_ssm", "Selective diagonal state-space cell, as in Mamba (Gu and Dao 2023).",
      cell_options_and({integer_option("state_size", 16, "numbers N of the state of each unit", 1)
                            .between(1, 1 << 20)
                            .in_small(2)
                            .trying(17),
                        lowest_eigenvalue_option()}),
      make_cell<Layered<SelectiveLayer>>};
}

}  // namespace pushdown
