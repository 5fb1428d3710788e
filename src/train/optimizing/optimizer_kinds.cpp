// The methods of optimizer.h.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "train/optimizing/optimizer.h"

namespace pushdown {
namespace {

// A method that changes each number by itself, by change(run, factors).
template <class Method>
class Elementwise : public Optimizer {
 protected:
  using Optimizer::Optimizer;

  template <class T, class Element>
  static void over(const Run<T>& run, Element element) {
    T* __restrict p = run.parameter;
    const T* __restrict g = run.gradient;
    T* __restrict first = run.slots[0];
    T* __restrict second = run.slots[1];
    T unused = 0;
    if (second != nullptr)
      for (std::int64_t i = 0; i < run.count; ++i) element(p[i], g[i], first[i], second[i]);
    else if (first != nullptr)
      for (std::int64_t i = 0; i < run.count; ++i) element(p[i], g[i], first[i], unused);
    else
      for (std::int64_t i = 0; i < run.count; ++i) element(p[i], g[i], unused, unused);
  }
  template <class T>
  void change_at_rest(const Run<T>& run, std::span<const Factors> steps, std::int64_t) const {
    // As many numbers as stay in the fastest cache from step to step.
    constexpr std::int64_t kPart = 512;
    static const std::array<T, kPart> zeros{};
    for (std::int64_t first = 0; first < run.count; first += kPart) {
      Run<T> part{run.parameter + first, zeros.data(), run.slots,
                  std::min(kPart, run.count - first)};
      for (T*& slot : part.slots)
        if (slot != nullptr) slot += first;
      for (const Factors& of_step : steps) update(part, of_step);
    }
  }

 private:
  void update(const Run<float>& run, const Factors& factors) const final {
    static_cast<const Method*>(this)->change(run, factors);
  }
  void update(const Run<double>& run, const Factors& factors) const final {
    static_cast<const Method*>(this)->change(run, factors);
  }
  void rest(const Run<float>& run, std::span<const Factors> steps,
            std::int64_t falling) const final {
    static_cast<const Method*>(this)->change_at_rest(run, steps, falling);
  }
  void rest(const Run<double>& run, std::span<const Factors> steps,
            std::int64_t falling) const final {
    static_cast<const Method*>(this)->change_at_rest(run, steps, falling);
  }
};

// One of the rules of kernel/update/optimizer_rules.h.
class ByRule : public Elementwise<ByRule> {
 public:
  template <class T>
  void change(const Run<T>& run, const Factors& factors) const {
    with_rule<T>(method(), static_cast<T>(factors.rate),
                 [&](const auto& rule) { over(run, rule); });
  }

 protected:
  using Elementwise::Elementwise;
};

class Sgd final : public ByRule {
 public:
  Sgd(const ParameterList& parameters, const Json& options)
      : ByRule(parameters, options,
               options["momentum"] > 0 ? std::vector<std::string>{"momentum"}
                                       : std::vector<std::string>{}),
        momentum_(options["momentum"]),
        nesterov_(options["nesterov"]) {
    check(!nesterov_ || momentum_ > 0, "optimizer sgd", "nesterov needs a momentum above 0");
  }

 private:
  OptimizerMethod method() const override {
    OptimizerMethod of;
    of.rule = nesterov_       ? OptimizerRule::nesterov
              : momentum_ > 0 ? OptimizerRule::momentum
                              : OptimizerRule::descent;
    of.first = momentum_;
    return of;
  }
  bool rests() const override { return true; }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    if (slots.empty()) return gradient;
    slots[0].mul_(momentum_).add_(gradient);
    return nesterov_ ? gradient.add(slots[0], momentum_) : slots[0];
  }

  double momentum_;
  bool nesterov_;
};

class RmsProp final : public ByRule {
 public:
  RmsProp(const ParameterList& parameters, const Json& options)
      : ByRule(parameters, options,
               options["momentum"] > 0 ? std::vector<std::string>{"square_average", "momentum"}
                                       : std::vector<std::string>{"square_average"}),
        decay_(options["decay"]),
        epsilon_(options["epsilon"]),
        momentum_(options["momentum"]) {}

 private:
  OptimizerMethod method() const override {
    OptimizerMethod of;
    of.rule = momentum_ > 0 ? OptimizerRule::rms_momentum : OptimizerRule::rms;
    of.first = decay_;
    of.second = momentum_;
    of.epsilon = epsilon_;
    return of;
  }
  bool rests() const override { return epsilon_ > 0; }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    slots[0].mul_(decay_).addcmul_(gradient, gradient, 1 - decay_);
    const Tensor scale = slots[0].sqrt().add_(epsilon_);
    if (slots.size() == 1) return gradient / scale;
    return slots[1].mul_(momentum_).addcdiv_(gradient, scale);
  }

  double decay_, epsilon_, momentum_;
};

// `decoupled`: AdamW.
class Adam final : public Elementwise<Adam> {
 public:
  Adam(const ParameterList& parameters, const Json& options, bool decoupled)
      : Elementwise(parameters, options, {"first_moment", "second_moment"}, decoupled),
        beta1_(options["beta1"]),
        beta2_(options["beta2"]),
        epsilon_(options["epsilon"]) {}

  template <class T>
  void change(const Run<T>& run, const Factors& factors) const {
    kernel<T>().step(run.parameter, run.gradient, run.slots[0], run.slots[1], run.count,
                     numbers<T>(), factors);
  }
  template <class T>
  void change_at_rest(const Run<T>& run, std::span<const Factors> steps,
                      std::int64_t falling) const {
    kernel<T>().rest(run.parameter, run.slots[0], run.slots[1], run.count, numbers<T>(),
                     steps.data(), std::ssize(steps), falling);
  }

 private:
  template <class T>
  static AdamKernel<T> kernel() {
    return kernel_for<AdamKernel<T>>(current_isa());
  }
  template <class T>
  AdamNumbers<T> numbers() const {
    return adam_numbers<T>(method());
  }
  OptimizerMethod method() const override {
    OptimizerMethod of;
    of.rule = OptimizerRule::adam;
    of.first = beta1_;
    of.second = beta2_;
    of.epsilon = epsilon_;
    return of;
  }
  // 1 - beta^t corrects the bias of a running average that started at zero.
  double first_bias() const { return 1 - std::pow(beta1_, static_cast<double>(steps())); }
  double second_bias() const { return 1 - std::pow(beta2_, static_cast<double>(steps())); }

  Factors factors(double learning_rate) const override {
    return {learning_rate / first_bias(), 1 / std::sqrt(second_bias())};
  }
  bool rests() const override { return epsilon_ > 0; }
  // A change is proportional to rate m / (sqrt(v) scale + epsilon), where m is multiplied by beta1
  // and v by beta2. The margins are for rounding, and for a v that becomes 0.
  bool falls(const Factors& first, const Factors& second) const override {
    const double divisor = std::min(1.0, std::sqrt(beta2_) * second.scale / first.scale);
    return epsilon_ > 1e-12 && second.rate * beta1_ < 0.999 * first.rate * divisor;
  }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    slots[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    slots[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const Tensor scale = slots[1].sqrt().div_(std::sqrt(second_bias())).add_(epsilon_);
    return slots[0].div(scale).div_(first_bias());
  }

  double beta1_, beta2_, epsilon_;
};

template <class Method, auto... kOptions>
OptimizerPtr make(const ParameterList& parameters, const Json& options) {
  return std::make_unique<Method>(parameters, options, kOptions...);
}

std::vector<OptionSpec> with_shared(double learning_rate, std::vector<OptionSpec> own,
                                    double weight_decay = 0) {
  std::vector<OptionSpec> specs{
      number_option("learning_rate", learning_rate, "initial learning rate", 0).trying(0.02)};
  specs.insert(specs.end(), own.begin(), own.end());
  specs.push_back(
      number_option("weight_decay", weight_decay, "factor of the weight decay (L2 penalty)", 0)
          .trying(0.1));
  return specs;
}

std::vector<OptionSpec> adam_options(double weight_decay) {
  return with_shared(
      0.005,
      {number_option("beta1", 0.9, "decay rate of the running average of the gradient")
           .between(0, 0.9999999)
           .trying(0.5),
       number_option("beta2", 0.999, "decay rate of the running average of the squared gradient")
           .between(0, 0.9999999)
           .trying(0.9),
       number_option("epsilon", 1e-8, "added to the root of the averaged squared gradient", 0)
           .trying(0.1)},
      weight_decay);
}

}  // namespace

OptimizerKind adam_optimizer() {
  return {"adam", "Adam: running averages of the gradient and its square (Kingma and Ba, 2015)",
          adam_options(0), make<Adam, false>};
}

OptimizerKind adamw_optimizer() {
  return {"adamw", "Adam with decoupled weight decay (Loshchilov and Hutter, 2019)",
          adam_options(0.01), make<Adam, true>};
}

OptimizerKind rmsprop_optimizer() {
  return {
      "rmsprop",
      "RMSProp: gradient divided by the root of its running mean square (Tieleman and Hinton, "
      "2012)",
      with_shared(
          0.005,
          {number_option("decay", 0.99, "decay rate of the running average of the squared gradient")
               .between(0, 1)
               .trying(0.9),
           number_option("epsilon", 1e-8, "added to the root of the averaged squared gradient", 0)
               .trying(0.1),
           number_option("momentum", 0.0, "momentum: fraction of the last step that is kept", 0)
               .trying(0.9)}),
      make<RmsProp>};
}

OptimizerKind sgd_optimizer() {
  return {"sgd", "stochastic gradient descent, optionally with momentum",
          with_shared(0.1, {number_option("momentum", 0.0,
                                          "momentum: fraction of the last step that is kept", 0)
                                .trying(0.9),
                            boolean_option("nesterov", false, "use Nesterov momentum")
                                .trying(true, {{"momentum", 0.9}})}),
          make<Sgd>};
}

PUSHDOWN_REGISTRY(OptimizerKind, optimizer_kinds, adam_optimizer(), adamw_optimizer(),
                  rmsprop_optimizer(), sgd_optimizer())

Json resolve_optimizer(const Json& options) {
  return with_defaults("optimizer", optimizer_kinds(), with_kind(options, "adam"));
}

void check_number(std::string_view where, const std::string& option, double value,
                  const ParameterList& parameters) {
  for (const auto& [name, parameter] : parameters) {
    if (parameter.scalar_type() != at::kFloat || value == 0) continue;
    using Limits = std::numeric_limits<float>;
    check(value >= Limits::min() && value <= Limits::max(), where,
          "option '{}' must be 0 or between 1.2e-38 and 3.4e38, because parameters of float32 take "
          "smaller numbers for 0 and greater ones for infinite, got {}",
          option, value);
  }
}

OptimizerPtr make_optimizer(const ParameterList& parameters, const Json& options) {
  const auto [row, rest] = resolve_kind("optimizer", optimizer_kinds(), resolve_optimizer(options));
  for (const auto& [name, value] : rest.items())
    if (value.is_number_float()) check_number("optimizer " + row.name, name, value, parameters);
  return row.make(parameters, rest);
}

}  // namespace pushdown
