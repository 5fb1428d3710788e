#include "recurrence/execute/log_likelihood.h"

#include "base/parallel.h"
#include "kernel/dense/vocabulary.h"
#include "recurrence/affine.h"
#include "recurrence/execute/step_function.h"

namespace pushdown {
namespace {

constexpr std::int64_t kPartOfSums = 8 * kPanel;  // rows of the weight's gradient per thread

// The softmax of many vectors, in the graph or with its own gradients.
template <class F>
class VocabularyHead {
 public:
  VocabularyHead(const Tensor& x, const SoftmaxLayer& layer, const Tensor& targets,
                 const BufferPoolPtr& buffers, bool gradients)
      : rows_(x.size(0)),
        hidden_(x.size(1)),
        outcomes_(layer.weight.size(0)),
        x_(x.detach().contiguous()),
        targets_(targets.contiguous()),
        weight_(layer.weight),
        bias_(layer.bias),
        x_trained_(x.requires_grad()),
        buffers_(buffers),
        gradients_(gradients) {}

  Tensor forward() {
    const Tensor weight = weight_.contiguous(), bias = bias_.contiguous();
    const auto vp = padded_size(outcomes_), hp = padded_size(hidden_);
    const auto at_once = vocabulary_rows(hidden_), parts = (rows_ + at_once - 1) / at_once;
    // W^T, b and, for gradients, W, with rows padded to whole vectors.
    const auto layer_size = hidden_ * vp + vp + (gradients_ ? outcomes_ * hp : 0) + 4 * kPadding;
    const auto bytes = [](std::int64_t count) { return count * sizeof(F); };
    const Buffer layer_memory(buffers_, bytes(layer_size));
    F* transposed = layer_memory.as<F>();
    F* shift = transposed + hidden_ * vp;
    F* straight = shift + vp;
    const F* own = weight.data_ptr<F>();
    pack_transposed_panels(own, hidden_, outcomes_, hidden_, transposed);
    std::copy_n(bias.data_ptr<F>(), outcomes_, shift);
    std::fill(shift + outcomes_, shift + vp, F(-1e30));
    if (gradients_) pack_panels(own, hidden_, outcomes_, hidden_, straight);
    const VocabularyLayer<F> layer{transposed, straight, shift, hidden_, outcomes_};

    const auto kernel = kernel_for<VocabularyKernel<F>>(current_isa());
    const Tensor result = at::empty({rows_}, x_.options());
    Buffer means;  // N x Hp
    if (gradients_) {
      memory_ = Buffer(buffers_, bytes(vocabulary_panels(outcomes_, rows_) + rows_ + kPadding));
      means = Buffer(buffers_, bytes(rows_ * hp + kPadding));
    }
    parallel_for(parts, [&](std::int64_t part) {
      VocabularyRows<F> own_rows;
      own_rows.first = part * at_once;
      own_rows.count = std::min(rows_ - own_rows.first, at_once);
      own_rows.hidden = x_.data_ptr<F>();
      own_rows.targets = targets_.data_ptr<std::int64_t>();
      own_rows.log_probabilities = result.data_ptr<F>();
      Buffer once;  // not kept in an evaluation
      if (gradients_) {
        own_rows.all = rows_;
        own_rows.exponentials = exponentials();
        own_rows.totals = totals();
        own_rows.mean_weight = means.as<F>();
      } else {
        const auto first = own_rows.first, count = own_rows.count;
        once = Buffer(buffers_, bytes(vocabulary_panels(outcomes_, count) + count + kPadding));
        own_rows.all = count;
        own_rows.first = 0;
        own_rows.hidden += first * hidden_;
        own_rows.targets += first;
        own_rows.log_probabilities += first;
        own_rows.exponentials = once.as<F>();
        own_rows.totals = own_rows.exponentials + vocabulary_panels(outcomes_, count);
      }
      kernel.rows(layer, own_rows);
    });
    if (!gradients_) return result;
    slopes_ = at::empty({rows_, hidden_}, x_.options());
    for (std::int64_t r = 0; r < rows_; ++r) {
      const auto target = targets_.data_ptr<std::int64_t>()[r];
      F* to = slopes_.data_ptr<F>() + r * hidden_;
      const F* mean = means.as<F>() + r * hp;
      for (std::int64_t i = 0; i < hidden_; ++i)
        to[i] = target < 0 ? F(0) : own[target * hidden_ + i] - mean[i];
    }
    return result;
  }

  // Returns the gradients of x, W and b.
  variable_list backward(const Tensor& given) const {
    const Tensor scales = masked(given);
    variable_list result(3);
    if (x_trained_) result[0] = slopes_ * scales.unsqueeze(1);
    if (weight_.requires_grad() || bias_.requires_grad()) {
      result[1] = at::zeros({outcomes_, hidden_}, scales.options());
      result[2] = at::zeros({outcomes_}, scales.options());
      add_weight_gradients(scales, result[1].data_ptr<F>(), result[2].data_ptr<F>());
    }
    return result;
  }
  // Adds `scale` times the gradients of W and b to theirs, as far as they are trained, and returns
  // `scale` times that of x.
  Tensor differentiate(double scale) {
    const Tensor scales = masked(at::full({rows_}, scale, x_.options()));
    const bool weight = weight_.requires_grad(), bias = bias_.requires_grad();
    const Tensor apart =
        weight && bias ? Tensor() : at::zeros({outcomes_ * (hidden_ + 1)}, x_.options());
    if (weight || bias)
      add_weight_gradients(scales, (weight ? gradient_of(weight_) : apart).template data_ptr<F>(),
                           bias ? gradient_of(bias_).template data_ptr<F>()
                                : apart.data_ptr<F>() + outcomes_ * hidden_);
    return slopes_.mul_(scales.unsqueeze(1));
  }

 private:
  // The factors of the rows that have a target; 0 for others.
  Tensor masked(const Tensor& scales) const {
    return at::where(targets_ >= 0, scales, at::zeros_like(scales)).contiguous();
  }
  // Adds the gradients of W and b, where scales : N are those of the log-likelihoods.
  void add_weight_gradients(const Tensor& scales, F* of_weight, F* of_bias) const {
    const F *scale = scales.data_ptr<F>(), *h = x_.data_ptr<F>();
    // -g_r / Z_r (h_r, 1)
    const auto columns = hidden_ + 1;
    const Tensor factors = at::empty({rows_, columns}, x_.options()),
                 panels = at::empty({rows_ * padded_size(columns)}, x_.options());
    for (std::int64_t r = 0; r < rows_; ++r) {
      const F factor = -scale[r] / totals()[r];
      F* to = factors.data_ptr<F>() + r * columns;
      for (std::int64_t i = 0; i < hidden_; ++i) to[i] = factor * h[r * hidden_ + i];
      to[hidden_] = factor;
    }
    pack_panels(factors.data_ptr<F>(), columns, rows_, columns, panels.data_ptr<F>());
    const auto kernel = kernel_for<VocabularyKernel<F>>(current_isa());
    parallel_for((outcomes_ + kPartOfSums - 1) / kPartOfSums, [&](std::int64_t part) {
      const auto first = part * kPartOfSums;
      kernel.sums({rows_, first, std::min(outcomes_, first + kPartOfSums), columns, exponentials(),
                   panels.data_ptr<F>(), of_weight, of_bias});
    });
    const auto* target = targets_.data_ptr<std::int64_t>();
    for (std::int64_t r = 0; r < rows_; ++r) {
      if (target[r] < 0) continue;
      F* to = of_weight + target[r] * hidden_;
      for (std::int64_t i = 0; i < hidden_; ++i) to[i] += scale[r] * h[r * hidden_ + i];
      of_bias[target[r]] += scale[r];
    }
  }

  F* exponentials() const { return memory_.as<F>(); }
  F* totals() const { return exponentials() + vocabulary_panels(outcomes_, rows_); }

  std::int64_t rows_, hidden_, outcomes_;
  Tensor x_, targets_;  // N x H, N
  Tensor weight_, bias_;
  bool x_trained_;
  BufferPoolPtr buffers_;
  bool gradients_;
  Tensor slopes_;  // N x H: derivative of log p by x
  Buffer memory_;  // e | Z, see kernel/dense/vocabulary.h
};

// Calls of.operator()<F>() with the vectors of x and the targets as rows.
template <class Of>
auto with_rows(const Tensor& x, const Tensor& targets, const Of& of) {
  const Tensor rows = x.reshape({-1, x.size(-1)}), ids = targets.reshape({-1});
  return x.scalar_type() == at::kFloat ? of.template operator()<float>(rows, ids)
                                       : of.template operator()<double>(rows, ids);
}

}  // namespace

std::pair<Tensor, Tensor> log_likelihood_gradients(const Tensor& x, const SoftmaxLayer& layer,
                                                   const Tensor& targets,
                                                   const BufferPoolPtr& buffers, double scale) {
  const at::AutoGradMode no_gradient(false);
  return with_rows(x, targets, [&]<class F>(const Tensor& rows, const Tensor& ids) {
    VocabularyHead<F> head(rows, layer, ids, buffers, true);
    const Tensor values = head.forward();
    return std::pair{values.view(targets.sizes()), head.differentiate(scale).view(x.sizes())};
  });
}

Tensor log_likelihoods_composed(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                const Tensor& targets) {
  const Tensor scores = at::linear(x, weight, bias).log_softmax(-1);
  const Tensor own = scores.gather(-1, targets.clamp_min(0).unsqueeze(-1)).squeeze(-1);
  return at::where(targets >= 0, own, at::zeros_like(own));
}

Tensor log_likelihoods_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias,
                                 const Tensor& targets, const BufferPoolPtr& buffers) {
  return with_rows(x, targets, [&]<class F>(const Tensor& rows, const Tensor& ids) {
    return run_function<VocabularyHead<F>>(
               "LogLikelihoods", {rows, weight, bias},
               [&](auto& head, bool gradients) {
                 head.emplace(rows, SoftmaxLayer{weight, bias}, ids, buffers, gradients);
               })
        .view(targets.sizes());
  });
}

Tensor log_likelihoods(const Tensor& x, const Tensor& weight, const Tensor& bias,
                       const Tensor& targets, const BufferPoolPtr& buffers) {
  return suits_kernel(x, weight) ? log_likelihoods_by_kernel(x, weight, bias, targets, buffers)
                                 : log_likelihoods_composed(x, weight, bias, targets);
}

}  // namespace pushdown
