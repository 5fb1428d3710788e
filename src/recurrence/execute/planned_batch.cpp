#include "recurrence/execute/planned_batch.h"

#include "recurrence/execute/log_likelihood.h"
#include "recurrence/execute/step_function.h"
#include "recurrence/execute/step_parts.h"

namespace pushdown {
namespace {

// The softmax layer in the form that the kernels read, with the numbers of all strings.
template <class F>
class SoftmaxHead {
 public:
  SoftmaxHead(const SoftmaxLayer& layer, const Tensor& targets, bool gradients,
              const BufferPoolPtr& buffers)
      : targets_(targets.contiguous()),
        weight_(layer.weight.contiguous()),
        bias_(layer.bias.contiguous()),
        places_(targets.size(1)),
        hidden_(layer.weight.size(1)),
        outcomes_(layer.weight.size(0)),
        gradients_(gradients) {
    Pieces<F> counted(nullptr);
    lay_out(counted);
    memory_ = Buffer(buffers, counted.bytes());
    Pieces<F> pieces(memory_.template as<F>());
    lay_out(pieces);
  }

  // Computes the log-likelihood of string b and the gradients of its outputs. `skipped`: the hidden
  // vectors before the first step, which are 0.
  double operator()(const StepMachine<F>& machine, std::int64_t b, std::int64_t skipped) const {
    F* hiddens = hiddens_ + b * places_ * hidden_;
    if (skipped > 0) std::fill_n(hiddens, hidden_, F(0));
    for (std::int64_t t = 0; t + skipped < places_; ++t)
      std::copy_n(machine.output_of(b, t), hidden_, hiddens + (t + skipped) * hidden_);
    std::vector<F> scratch(static_cast<std::size_t>(likelihood_scratch(outcomes_)));
    // A hidden vector before the first symbol is constant.
    return dense_.log_likelihood(layer_, places_, hiddens,
                                 targets_.data_ptr<std::int64_t>() + b * places_, scratch.data(),
                                 gradients_ ? scores_ + b * places_ * outcomes_ : nullptr,
                                 gradients_ ? machine.slope_of(b, -skipped) : nullptr);
  }

  // Adds the gradients of W and of b, where `scales` are the factors of the strings.
  void add_gradients(const F* scales, F* of_weight, F* of_bias) const {
    const auto batch = targets_.size(0);
    dense_.outer_sum({batch, places_, scores_, places_ * outcomes_, outcomes_, hiddens_,
                      places_ * hidden_, hidden_, hidden_, scales, of_weight, hidden_, 0,
                      outcomes_});
    const F one = 1;
    dense_.outer_sum({batch, places_, scores_, places_ * outcomes_, outcomes_, &one, 0, 0, 1,
                      scales, of_bias, 1, 0, outcomes_});
  }

 private:
  void lay_out(Pieces<F>& pieces) {
    pack(pieces);
    hiddens_ = pieces.take(targets_.size(0) * places_ * hidden_);
    if (gradients_) scores_ = pieces.take(targets_.size(0) * places_ * outcomes_);
  }
  void pack(Pieces<F>& pieces) {
    const auto row = padded_size(outcomes_), column = padded_size(hidden_);
    F *transposed = pieces.take(hidden_ * row), *straight = pieces.take(outcomes_ * column),
      *shift = pieces.take(row);
    if (transposed == nullptr) return;
    std::fill_n(transposed, hidden_ * row, F(0));
    std::fill_n(straight, outcomes_ * column, F(0));
    std::fill_n(shift, row, F(0));
    const F *from = weight_.template data_ptr<F>(), *of_bias = bias_.template data_ptr<F>();
    for (std::int64_t k = 0; k < outcomes_; ++k) {
      shift[k] = of_bias[k];
      for (std::int64_t i = 0; i < hidden_; ++i)
        straight[k * column + i] = transposed[i * row + k] = from[k * hidden_ + i];
    }
    layer_ = {transposed, straight, shift, hidden_, outcomes_};
  }

  Tensor targets_, weight_, bias_;
  std::int64_t places_, hidden_, outcomes_;
  bool gradients_;
  Buffer memory_;
  OutputLayer<F> layer_{};
  F* hiddens_ = nullptr;  // B x (n+1) x H
  F* scores_ = nullptr;   // gradients of the scores, B x (n+1) x V
  DenseKernel<F> dense_ = kernel_for<DenseKernel<F>>(current_isa());
};

// The program with its numbers, and with a softmax head or none.
template <class F>
class PlannedRun {
 public:
  PlannedRun(const PlannedBatch& batch, bool gradients, StepOrder order = StepOrder::passes)
      : batch_(batch),
        words_(batch.words.cpu().contiguous()),
        first_(batch.plan->program()->begin_symbol < 0 ? 1 : 0),
        machine_(batch.plan->program(), words_.size(0), words_.size(1), batch.window, gradients,
                 batch.buffers, {words_.data_ptr<std::int64_t>(), batch.supplied}, order) {}
  PlannedRun(const PlannedBatch& batch, bool gradients, const SoftmaxLayer& layer,
             const Tensor& targets)
      : PlannedRun(batch, gradients, StepOrder::blocks) {
    layer_ = layer;
    head_.emplace(layer, targets.cpu(), gradients, batch.buffers);
  }

  // Returns the hidden vectors.
  Tensor hiddens() {
    machine_.forward();
    const Tensor result = at::zeros({words_.size(0), rows(), hidden() + batch_.reading}, options());
    for_each_part(result, [](F* part, F* vector, const F* mask, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i)
        vector[i] = mask == nullptr ? part[i] : part[i] * mask[i];
    });
    return result;
  }
  // Adds to the gradients of the parameters, given those of the hidden vectors.
  void backward_from(const Tensor& slopes) {
    machine_.clear_slopes();
    for_each_part(
        slopes.contiguous(),
        [](F* part, F* vector, const F* mask, std::int64_t count) {
          for (std::int64_t i = 0; i < count; ++i)
            part[i] += mask == nullptr ? vector[i] : vector[i] * mask[i];
        },
        true);
    machine_.backward();
    add_gradients(nullptr, own_gradients());
  }

  // Returns the log-likelihoods of the head's targets.
  Tensor forward() {
    const Tensor result = at::empty({words_.size(0)}, options());
    F* values = result.data_ptr<F>();
    machine_.in_blocks(
        [&](std::int64_t b) { values[b] = static_cast<F>((*head_)(machine_, b, first_)); });
    return result;
  }
  // Returns the gradients of the plan's parameters, of W and of b; undefined where none is wanted.
  std::vector<Tensor> backward(const Tensor& slopes) {
    std::vector<Tensor> all(batch_.plan->parameters().size());
    const F* scales = slopes.data_ptr<F>();
    add_gradients(scales, [&](const StepPlan::Part& part) {
      Tensor& own = all[part.index];
      if (!own.defined()) own = at::zeros_like(part.parameter, options());
      return own.data_ptr<F>();
    });
    const Tensor of_weight = at::zeros(layer_.weight.sizes(), options()),
                 of_bias = at::zeros(layer_.bias.sizes(), options());
    head_->add_gradients(scales, of_weight.data_ptr<F>(), of_bias.data_ptr<F>());
    all.insert(all.end(), {of_weight, of_bias});
    return all;
  }
  // Adds `scale` times the gradients of the sum of the results to those of the parameters.
  void add_gradients(double scale) {
    const std::vector<F> scales(static_cast<std::size_t>(words_.size(0)), static_cast<F>(scale));
    add_gradients(scales.data(), own_gradients());
    const auto count = layer_.weight.numel();
    std::vector<F> numbers(static_cast<std::size_t>(count + layer_.bias.numel()));
    head_->add_gradients(scales.data(), numbers.data(), numbers.data() + count);
    const F* from = numbers.data();
    for (const Tensor& own : {layer_.weight, layer_.bias}) {
      F* to = own.requires_grad() ? gradient_of(own).template data_ptr<F>() : nullptr;
      for (std::int64_t i = 0; to != nullptr && i < own.numel(); ++i) to[i] += from[i];
      from += own.numel();
    }
  }

 private:
  static at::TensorOptions options() {
    return at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value);
  }
  static auto own_gradients() {
    return [](const StepPlan::Part& part) {
      return gradient_of(part.parameter).template data_ptr<F>();
    };
  }
  template <class Gradient>
  void add_gradients(const F* scales, const Gradient& gradient) const {
    add_plan_gradients<F>(*batch_.plan, machine_, words_.size(0), scales, gradient);
  }
  std::int64_t hidden() const { return (machine_.output_size() - batch_.reading) / batch_.passes; }
  // Returns P + 1.
  std::int64_t rows() const {
    return first_ + (words_.size(1) - (batch_.reading > 0 ? 1 : 0)) * batch_.passes;
  }
  // Calls visit(numbers of the program's output or of its slopes, numbers of a hidden vector of
  // `hiddens`, their factors or null, their number).
  template <class Visit>
  void for_each_part(const Tensor& hiddens, const Visit& visit, bool slopes = false) const {
    const auto count = rows(), size = hidden(), passes = batch_.passes, reading = batch_.reading;
    const Tensor masks =
        batch_.reading_mask.defined() ? batch_.reading_mask.contiguous() : Tensor();
    F* vector = hiddens.data_ptr<F>();
    for (std::int64_t b = 0; b < words_.size(0); ++b)
      for (std::int64_t row = 0; row < count; ++row, vector += size + reading) {
        const auto part = [&](std::int64_t t) {
          return slopes ? machine_.slope_of(b, t) : const_cast<F*>(machine_.output_of(b, t));
        };
        const auto made = row - first_;  // the number of the pass, from 0
        if (made >= 0) visit(part(made / passes) + made % passes * size, vector, nullptr, size);
        if (reading == 0) continue;
        const auto t = made < 0 ? 0 : made / passes + 1;
        const F* mask = made < 0 || !masks.defined()
                            ? nullptr
                            : masks.data_ptr<F>() + ((t - 1) * words_.size(0) + b) * reading;
        visit(part(t) + passes * size, vector + size, mask, reading);
      }
  }

  PlannedBatch batch_;
  Tensor words_;
  std::int64_t first_;  // hidden vectors before the first step
  StepMachine<F> machine_;
  SoftmaxLayer layer_;
  std::optional<SoftmaxHead<F>> head_;
};

template <class Of>
auto with_type(const PlannedBatch& batch, const Of& of) {
  return batch.plan->program()->matrices.front().scalar_type() == at::kFloat
             ? of.template operator()<float>()
             : of.template operator()<double>();
}

}  // namespace

Pass run_plan(const PlannedBatch& batch) {
  return with_type(batch, [&]<class F>() {
    const auto run = std::make_shared<PlannedRun<F>>(batch, true);
    return Pass{run->hiddens(), {}, [run](const Tensor& slopes) { run->backward_from(slopes); }};
  });
}

Tensor log_likelihoods(const PlannedBatch& batch, const SoftmaxLayer& layer,
                       const Tensor& targets) {
  variable_list inputs;
  for (const auto& [name, parameter] : batch.plan->parameters()) inputs.push_back(parameter);
  inputs.insert(inputs.end(), {layer.weight, layer.bias});
  return with_type(batch, [&]<class F>() {
    return run_function<PlannedRun<F>>("LogLikelihoods", inputs, [&](auto& run, bool gradients) {
      run.emplace(batch, gradients, layer, targets);
    });
  });
}

Tensor differentiate_log_likelihoods(const PlannedBatch& batch, const SoftmaxLayer& layer,
                                     const Tensor& targets, double scale) {
  const at::AutoGradMode no_gradient(false);
  return with_type(batch, [&]<class F>() {
    if (layer.weight.size(0) <= kMostOutcomes && batch.reading == 0) {
      PlannedRun<F> run(batch, true, layer, targets);
      Tensor values = run.forward();
      run.add_gradients(scale);
      return values;
    }
    PlannedRun<F> run(batch, true);
    const auto [values, slopes] =
        log_likelihood_gradients(run.hiddens(), layer, targets.cpu(), batch.buffers, scale);
    run.backward_from(slopes);
    return values.sum(1);
  });
}

}  // namespace pushdown
