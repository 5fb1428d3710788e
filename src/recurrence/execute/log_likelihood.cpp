#include "recurrence/execute/log_likelihood.h"

#include "base/check.h"
#include "base/parallel.h"
#include "kernel/dense/vocabulary.h"
#include "recurrence/affine.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

constexpr std::int64_t kPartOfSums = 8 * kPanel;  // rows of the weight's gradient per thread

template <class F>
struct VocabularyPass {
  std::int64_t rows = 0, hidden = 0, outcomes = 0;
  Tensor x, targets;  // N x H, N
  Tensor slopes;      // N x H: derivative of log p by x
  Buffer memory;      // e | Z, see kernel/dense/vocabulary.h

  VocabularyPass() = default;
  VocabularyPass(const Tensor& x, const Tensor& targets, std::int64_t outcomes)
      : rows(x.size(0)),
        hidden(x.size(1)),
        outcomes(outcomes),
        x(x.detach().contiguous()),
        targets(targets.contiguous()) {}
  F* exponentials() const { return memory.as<F>(); }
  F* totals() const { return exponentials() + vocabulary_panels(outcomes, rows); }

  Tensor forward(const Tensor& weight, const Tensor& bias, const BufferPoolPtr& buffers,
                 bool gradients) {
    const auto vp = padded_size(outcomes), hp = padded_size(hidden);
    const auto at_once = vocabulary_rows(hidden), parts = (rows + at_once - 1) / at_once;
    // W^T, b and, for gradients, W, with rows padded to whole vectors.
    const auto layer_size = hidden * vp + vp + (gradients ? outcomes * hp : 0) + 4 * kPadding;
    const auto bytes = [](std::int64_t count) { return count * sizeof(F); };
    const Buffer layer_memory(buffers, bytes(layer_size));
    F* transposed = layer_memory.as<F>();
    F* shift = transposed + hidden * vp;
    F* straight = shift + vp;
    const F* own = weight.data_ptr<F>();
    pack_transposed_panels(own, hidden, outcomes, hidden, transposed);
    std::copy_n(bias.data_ptr<F>(), outcomes, shift);
    std::fill(shift + outcomes, shift + vp, F(-1e30));
    if (gradients) pack_panels(own, hidden, outcomes, hidden, straight);
    const VocabularyLayer<F> layer{transposed, straight, shift, hidden, outcomes};

    const auto kernel = kernel_for<VocabularyKernel<F>>(current_isa());
    const Tensor result = at::empty({rows}, x.options());
    Buffer means;  // N x Hp
    if (gradients) {
      memory = Buffer(buffers, bytes(vocabulary_panels(outcomes, rows) + rows + kPadding));
      means = Buffer(buffers, bytes(rows * hp + kPadding));
    }
    parallel_for(parts, [&](std::int64_t part) {
      VocabularyRows<F> own_rows;
      own_rows.first = part * at_once;
      own_rows.count = std::min(rows - own_rows.first, at_once);
      own_rows.hidden = x.data_ptr<F>();
      own_rows.targets = targets.data_ptr<std::int64_t>();
      own_rows.log_probabilities = result.data_ptr<F>();
      Buffer once;  // not kept in an evaluation
      if (gradients) {
        own_rows.all = rows;
        own_rows.exponentials = exponentials();
        own_rows.totals = totals();
        own_rows.mean_weight = means.as<F>();
      } else {
        const auto first = own_rows.first, count = own_rows.count;
        once = Buffer(buffers, bytes(vocabulary_panels(outcomes, count) + count + kPadding));
        own_rows.all = count;
        own_rows.first = 0;
        own_rows.hidden += first * hidden;
        own_rows.targets += first;
        own_rows.log_probabilities += first;
        own_rows.exponentials = once.as<F>();
        own_rows.totals = own_rows.exponentials + vocabulary_panels(outcomes, count);
      }
      kernel.rows(layer, own_rows);
    });
    if (!gradients) return result;
    slopes = at::empty({rows, hidden}, x.options());
    for (std::int64_t r = 0; r < rows; ++r) {
      const auto target = targets.data_ptr<std::int64_t>()[r];
      F* to = slopes.data_ptr<F>() + r * hidden;
      const F* mean = means.as<F>() + r * hp;
      for (std::int64_t i = 0; i < hidden; ++i)
        to[i] = target < 0 ? F(0) : own[target * hidden + i] - mean[i];
    }
    return result;
  }

  // Adds the gradients of W and b, where scales : N are those of the log-likelihoods.
  void add_weight_gradients(const Tensor& scales, F* of_weight, F* of_bias) const {
    const F *scale = scales.data_ptr<F>(), *h = x.data_ptr<F>();
    // -g_r / Z_r (h_r, 1)
    const auto columns = hidden + 1;
    const Tensor factors = at::empty({rows, columns}, x.options()),
                 panels = at::empty({rows * padded_size(columns)}, x.options());
    for (std::int64_t r = 0; r < rows; ++r) {
      const F factor = -scale[r] / totals()[r];
      F* to = factors.data_ptr<F>() + r * columns;
      for (std::int64_t i = 0; i < hidden; ++i) to[i] = factor * h[r * hidden + i];
      to[hidden] = factor;
    }
    pack_panels(factors.data_ptr<F>(), columns, rows, columns, panels.data_ptr<F>());
    const auto kernel = kernel_for<VocabularyKernel<F>>(current_isa());
    parallel_for((outcomes + kPartOfSums - 1) / kPartOfSums, [&](std::int64_t part) {
      const auto first = part * kPartOfSums;
      kernel.sums({rows, first, std::min(outcomes, first + kPartOfSums), columns, exponentials(),
                   panels.data_ptr<F>(), of_weight, of_bias});
    });
    const auto* target = targets.data_ptr<std::int64_t>();
    for (std::int64_t r = 0; r < rows; ++r) {
      if (target[r] < 0) continue;
      F* to = of_weight + target[r] * hidden;
      for (std::int64_t i = 0; i < hidden; ++i) to[i] += scale[r] * h[r * hidden + i];
      of_bias[target[r]] += scale[r];
    }
  }
};

// The factors of the rows that have a target; 0 for others.
Tensor masked(const Tensor& scales, const Tensor& targets) {
  return at::where(targets >= 0, scales, at::zeros_like(scales)).contiguous();
}

template <class F>
struct LogLikelihoods final : AutogradNode {
  VocabularyPass<F> pass;
  bool freed = false;

  std::string name() const override { return "LogLikelihoods"; }
  void release_variables() override {
    pass = {};
    freed = true;
  }
  variable_list apply(variable_list&& given) override {
    check(!freed, "backward",
          "an earlier backward pass freed the graph; keep it with retain_graph");
    at::AutoGradMode no_gradient(false);
    const Tensor scales = masked(given[0], pass.targets);
    variable_list result(3);
    if (task_should_compute_output(0)) result[0] = pass.slopes * scales.unsqueeze(1);
    if (task_should_compute_output(1) || task_should_compute_output(2)) {
      result[1] = at::zeros({pass.outcomes, pass.hidden}, scales.options());
      result[2] = at::zeros({pass.outcomes}, scales.options());
      pass.add_weight_gradients(scales, result[1].data_ptr<F>(), result[2].data_ptr<F>());
    }
    return result;
  }
};

template <class F>
Tensor by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& targets,
                 const BufferPoolPtr& buffers) {
  const variable_list inputs{x, weight, bias};
  const bool gradients = gradients_wanted(inputs);
  const auto node = make_node<LogLikelihoods<F>>();
  Tensor result;
  {
    at::AutoGradMode no_gradient(false);
    node->pass = VocabularyPass<F>(x, targets, weight.size(0));
    result = node->pass.forward(weight.contiguous(), bias.contiguous(), buffers, gradients);
  }
  if (gradients) connect(node, result, inputs);
  return result;
}

template <class F>
std::pair<Tensor, Tensor> differentiated_rows(const Tensor& x, const Tensor& weight,
                                              const Tensor& bias, const Tensor& targets,
                                              const BufferPoolPtr& buffers, double scale) {
  VocabularyPass<F> pass(x, targets, weight.size(0));
  const Tensor values = pass.forward(weight.contiguous(), bias.contiguous(), buffers, true);
  const Tensor scales = masked(at::full({pass.rows}, scale, x.options()), pass.targets);
  const bool trained = weight.requires_grad() && bias.requires_grad();
  const Tensor apart =
      trained ? Tensor() : at::zeros({pass.outcomes, pass.hidden + 1}, x.options());
  const auto place = [&](const Tensor& parameter, std::int64_t offset) {
    return parameter.requires_grad() ? gradient_of(parameter).data_ptr<F>()
                                     : apart.data_ptr<F>() + offset;
  };
  if (weight.requires_grad() || bias.requires_grad())
    pass.add_weight_gradients(scales, place(weight, 0), place(bias, pass.outcomes * pass.hidden));
  return {values, pass.slopes.mul_(scales.unsqueeze(1))};
}

}  // namespace

std::pair<Tensor, Tensor> differentiate_log_likelihoods(const Tensor& x, const Tensor& weight,
                                                        const Tensor& bias, const Tensor& targets,
                                                        const BufferPoolPtr& buffers,
                                                        double scale) {
  const at::AutoGradMode no_gradient(false);
  const Tensor rows = x.reshape({-1, x.size(-1)}), ids = targets.reshape({-1});
  const auto [values, slopes] =
      x.scalar_type() == at::kFloat
          ? differentiated_rows<float>(rows, weight, bias, ids, buffers, scale)
          : differentiated_rows<double>(rows, weight, bias, ids, buffers, scale);
  return {values.view(targets.sizes()), slopes.view(x.sizes())};
}

Tensor log_likelihoods_composed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                const Tensor& targets) {
  const Tensor scores = at::linear(x, weight, bias).log_softmax(-1);
  const Tensor own = scores.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1);
  return at::where(targets >= 0, own, at::zeros_like(own));
}

Tensor log_likelihoods_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Tensor& targets, const BufferPoolPtr& buffers) {
  const Tensor rows = x.reshape({-1, x.size(-1)}), ids = targets.reshape({-1});
  return (x.scalar_type() == at::kFloat ? by_kernel<float>(rows, weight, bias, ids, buffers)
                                        : by_kernel<double>(rows, weight, bias, ids, buffers))
      .view(targets.sizes());
}

Tensor log_likelihoods(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Tensor& targets, const BufferPoolPtr& buffers) {
  return suits_kernel(x, weight) ? log_likelihoods_by_kernel(x, weight, bias, targets, buffers)
                                 : log_likelihoods_composed(x, weight, bias, targets);
}

}  // namespace pushdown
