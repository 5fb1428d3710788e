// LSTM with exponential gates and a matrix memory for each head: mLSTM (Beck et al. 2024, xLSTM,
// section 2.3, with the stabilizer m of appendix A). Rows in the order q, k, v, o, i, f, where i
// and f have one number for each head, and d = H / heads:
//   [q k v o i f] = W x + b,   k divided by sqrt(d)
//   m' = max(log_f + m, i),   log_f = log sigmoid(f)   forget_gate = 'sigmoid'
//                                   = f                forget_gate = 'exponential'
//   i' = exp(i - m'),   f' = exp(log_f + m - m')
//   C' = f' C + i' v k^T,   n' = f' n + i' k
//   h' = sigmoid(o) C' q / max(|n'^T q|, exp(-m'))
// m' does not change h' and keeps C' and n' small. It begins at minus infinity, as C = n = 0: the
// first m' is i, whatever f is. The normalization, the convolution and the
// projections around the cell of the published blocks are left out. Gates and keys do not depend on
// h, unlike those of `scalar_lstm`. `mlstm` is another cell, the multiplicative LSTM. The state
// contains h, C, n and m of every layer.
#include <array>
#include <cmath>

#include "controller/linear_attention.h"

namespace pushdown {
namespace {

struct MatrixLstmLayer {
  static constexpr std::size_t kStates = 4;
  static constexpr std::array kStart{0.0, 0.0, 0.0, kNoStabilizer};
  static constexpr bool kReadsHidden = false;
  std::int64_t hidden, heads;
  bool exponential;
  Tensor weight_ih, bias;  // (4H + 2 heads) x I, 4H + 2 heads
  Tensor ones;             // heads
  Tensor least;            // heads: the least m' of which exp(-m') and its inverse are numbers

  MatrixLstmLayer(const Json& options, const LayerParameters& make)
      : hidden(make.hidden),
        heads(parse_heads("matrix_lstm", options)),
        exponential(options["forget_gate"] == "exponential"),
        weight_ih(make.weight("weight_ih", {4 * hidden + 2 * heads, make.input})),
        bias(make.bias("bias", {4 * hidden + 2 * heads})),
        ones(at::ones({heads}, bias.options().requires_grad(false))),
        least(at::full_like(ones, ones.scalar_type() == at::kFloat ? -87.0 : -708.0)) {}

  std::vector<std::int64_t> state_sizes() const {
    return {hidden, hidden * hidden / heads, hidden, heads};
  }

  Tensor at_least(const Tensor& x) const { return greater_of(x, least); }
  Traced at_least(const Traced& x) const { return greater_of(x, StepTrace::of(x).constant(least)); }
  template <class V>
  std::vector<V> step(const V& x, const V* old) const {
    const V all = pushdown::linear(x, weight_ih, bias);
    const auto part = [&](std::int64_t k) { return all.narrow(1, k * hidden, hidden); };
    const V query = part(0), key = part(1) * std::sqrt(static_cast<double>(heads) / hidden);
    const V in_gate = all.narrow(1, 4 * hidden, heads);
    const V forget_gate = all.narrow(1, 4 * hidden + heads, heads);
    const V kept = (exponential ? forget_gate : pushdown::log_sigmoid(forget_gate)) + old[3];
    const V greatest = greater_of(kept, in_gate);
    const V in = (in_gate - greatest).exp(), forget = (kept - greatest).exp();  // B x heads
    const V added = matrix_vector(key, in, heads);                              // B x H: i' k
    const V cell = matrix_vector(old[1], forget, heads) + outer_product(part(2), added, heads);
    const V normalizer = matrix_vector(old[2], forget, heads) + added;
    const V bound =
        greater_of(matrix_vector(normalizer, query, heads).abs(), (-at_least(greatest)).exp());
    const V read = matrix_vector(matrix_vector(cell, query, heads), ones / bound, heads);
    return {part(3).sigmoid() * read, cell, normalizer, greatest};
  }
};

}  // namespace

ControllerKind matrix_lstm_controller() {
  return {"matrix_lstm",
          "LSTM with exponential gates and a matrix memory, mLSTM (Beck et al. 2024).",
          cell_options_and({heads_option("number of matrices, each for an equal part of the units"),
                            text_option("forget_gate", "sigmoid", "function of the forget gate",
                                        {"sigmoid", "exponential"})}),
          make_cell<Layered<MatrixLstmLayer>>};
}

}  // namespace pushdown
