#include "recurrence/execute/step_likelihood.h"

#include "recurrence/execute/step_function.h"
#include "recurrence/execute/step_parts.h"

namespace pushdown {
namespace {

// The output layer in the layout that the kernels read.
template <class F>
OutputLayer<F> packed(const Tensor& weight, const Tensor& bias, Pieces<F>& pieces) {
  const auto outcomes = weight.size(0), hidden = weight.size(1);
  const auto row = padded_size(outcomes), column = padded_size(hidden);
  F *transposed = pieces.take(hidden * row), *straight = pieces.take(outcomes * column),
    *shift = pieces.take(row);
  if (transposed == nullptr) return {};
  std::fill_n(transposed, hidden * row, F(0));
  std::fill_n(straight, outcomes * column, F(0));
  std::fill_n(shift, row, F(0));
  const F *from = weight.data_ptr<F>(), *of_bias = bias.data_ptr<F>();
  for (std::int64_t k = 0; k < outcomes; ++k) {
    shift[k] = of_bias[k];
    for (std::int64_t i = 0; i < hidden; ++i)
      straight[k * column + i] = transposed[i * row + k] = from[k * hidden + i];
  }
  return {transposed, straight, shift, hidden, outcomes};
}

template <class F>
class LikelihoodPass {
 public:
  LikelihoodPass(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                 const Tensor& bias, const std::vector<Tensor>& supplied,
                 const BufferPoolPtr& buffers, bool gradients)
      : plan_(plan),
        targets_(targets.contiguous()),
        skipped_(plan->program()->begin_symbol < 0 ? 1 : 0),
        words_(words_of(targets_, plan->program()->begin_symbol)),
        weight_(weight.contiguous()),
        bias_(bias.contiguous()),
        batch_(targets.size(0)),
        places_(targets.size(1)),
        hidden_(weight.size(1)),
        outcomes_(weight.size(0)),
        gradients_(gradients),
        machine_(plan->program(), batch_, places_ - skipped_, 0, gradients, buffers,
                 {words_.data_ptr<std::int64_t>(), supplied}, StepOrder::blocks) {
    Pieces<F> counted(nullptr);
    lay_out(counted);
    memory_ = Buffer(buffers, counted.bytes());
    Pieces<F> pieces(memory_.as<F>());
    lay_out(pieces);
  }

  Tensor forward() {
    const Tensor result = at::empty({batch_}, weight_.options().requires_grad(false));
    F* values = result.data_ptr<F>();
    machine_.in_blocks([&](std::int64_t b) { values[b] = static_cast<F>(log_likelihood(b)); });
    return result;
  }

  // Gradients of the plan's parameters, of W and of b; undefined where none is wanted.
  std::vector<Tensor> backward(const Tensor& slopes) {
    const F* scales = slopes.data_ptr<F>();
    const auto options = weight_.options().requires_grad(false);
    std::vector<Tensor> all(plan_->parameters().size());
    add_plan_gradients<F>(*plan_, machine_, batch_, scales, [&](const StepPlan::Part& part) {
      Tensor& own = all[part.index];
      if (!own.defined()) own = at::zeros_like(part.parameter, options);
      return own.data_ptr<F>();
    });
    all.push_back(at::zeros({outcomes_, hidden_}, options));
    all.push_back(at::zeros({outcomes_}, options));
    output_gradients(scales, all.end()[-2].template data_ptr<F>(),
                     all.back().template data_ptr<F>());
    return all;
  }
  // Adds `scale` times the gradients of the sum of the results to those of the parameters.
  void add_gradients(const Tensor& weight, const Tensor& bias, double scale) {
    const std::vector<F> scales(static_cast<std::size_t>(batch_), static_cast<F>(scale));
    add_plan_gradients<F>(*plan_, machine_, batch_, scales.data(), [](const StepPlan::Part& part) {
      return gradient_of(part.parameter).template data_ptr<F>();
    });
    std::vector<F> numbers(static_cast<std::size_t>(outcomes_ * (hidden_ + 1)));
    output_gradients(scales.data(), numbers.data(), numbers.data() + outcomes_ * hidden_);
    const F* from = numbers.data();
    for (const Tensor& own : {weight, bias}) {
      F* to = own.requires_grad() ? gradient_of(own).data_ptr<F>() : nullptr;
      for (std::int64_t i = 0; to != nullptr && i < own.numel(); ++i) to[i] += from[i];
      from += own.numel();
    }
  }

 private:
  // Returns the symbols that the steps read.
  static Tensor words_of(const Tensor& targets, std::int64_t begin_symbol) {
    const Tensor read = targets.narrow(1, 0, targets.size(1) - 1);
    return begin_symbol < 0 ? read.contiguous()
                            : at::constant_pad_nd(read, {1, 0}, static_cast<double>(begin_symbol));
  }
  void lay_out(Pieces<F>& pieces) {
    layer_ = packed<F>(weight_, bias_, pieces);
    hiddens_ = pieces.take(batch_ * places_ * hidden_);
    if (!gradients_) return;
    scores_ = pieces.take(batch_ * places_ * outcomes_);
  }

  // Adds the gradients of W and of b.
  void output_gradients(const F* scales, F* of_weight, F* of_bias) const {
    dense_.outer_sum({batch_, places_, scores_, places_ * outcomes_, outcomes_, hiddens_,
                      places_ * hidden_, hidden_, hidden_, scales, of_weight, hidden_, 0,
                      outcomes_});
    const F one = 1;
    dense_.outer_sum({batch_, places_, scores_, places_ * outcomes_, outcomes_, &one, 0, 0, 1,
                      scales, of_bias, 1, 0, outcomes_});
  }

  // Computes one sequence and passes its slopes to the machine.
  double log_likelihood(std::int64_t b) const {
    F* hiddens = hiddens_ + b * places_ * hidden_;
    if (skipped_ > 0) std::fill_n(hiddens, hidden_, F(0));
    for (std::int64_t t = 0; t + skipped_ < places_; ++t)
      std::copy_n(machine_.output_of(b, t), hidden_, hiddens + (t + skipped_) * hidden_);
    std::vector<F> scratch(static_cast<std::size_t>(likelihood_scratch(outcomes_)));
    // A hidden vector before the first symbol is constant.
    return dense_.log_likelihood(layer_, places_, hiddens,
                                 targets_.data_ptr<std::int64_t>() + b * places_, scratch.data(),
                                 gradients_ ? scores_ + b * places_ * outcomes_ : nullptr,
                                 gradients_ ? machine_.slope_of(b, -skipped_) : nullptr);
  }

  StepPlanPtr plan_;
  Tensor targets_;
  std::int64_t skipped_;  // hidden vectors before the first step: h_0 = 0, unless there is a begin
                          // symbol
  Tensor words_, weight_, bias_;
  std::int64_t batch_, places_, hidden_, outcomes_;
  bool gradients_;
  StepMachine<F> machine_;
  Buffer memory_;
  OutputLayer<F> layer_{};
  F* hiddens_ = nullptr;  // B x (T+1) x H
  F* scores_ = nullptr;   // gradients of the scores, B x (T+1) x V
  DenseKernel<F> dense_ = kernel_for<DenseKernel<F>>(current_isa());
};

template <class F>
Tensor log_likelihoods_of(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                          const Tensor& bias, const std::vector<Tensor>& supplied,
                          const BufferPoolPtr& buffers) {
  variable_list inputs;
  for (const auto& [name, parameter] : plan->parameters()) inputs.push_back(parameter);
  inputs.push_back(weight);
  inputs.push_back(bias);
  return run_function<LikelihoodPass<F>>("LogLikelihoods", inputs, [&](auto& run, bool gradients) {
    run.emplace(plan, targets, weight, bias, supplied, buffers, gradients);
  });
}

template <class F>
Tensor differentiated(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                      const Tensor& bias, const std::vector<Tensor>& supplied,
                      const BufferPoolPtr& buffers, double scale) {
  const at::AutoGradMode no_gradient(false);
  LikelihoodPass<F> run(plan, targets, weight, bias, supplied, buffers, true);
  Tensor values = run.forward();
  run.add_gradients(weight, bias, scale);
  return values;
}

}  // namespace

Tensor differentiate_log_likelihoods(const StepPlanPtr& plan, const Tensor& targets,
                                     const Tensor& weight, const Tensor& bias,
                                     const std::vector<Tensor>& supplied,
                                     const BufferPoolPtr& buffers, double scale) {
  return weight.scalar_type() == at::kFloat
             ? differentiated<float>(plan, targets, weight, bias, supplied, buffers, scale)
             : differentiated<double>(plan, targets, weight, bias, supplied, buffers, scale);
}

Tensor run_log_likelihoods(const StepPlanPtr& plan, const Tensor& targets, const Tensor& weight,
                           const Tensor& bias, std::vector<Tensor> supplied,
                           const BufferPoolPtr& buffers) {
  return weight.scalar_type() == at::kFloat
             ? log_likelihoods_of<float>(plan, targets, weight, bias, supplied, buffers)
             : log_likelihoods_of<double>(plan, targets, weight, bias, supplied, buffers);
}

}  // namespace pushdown
