#include "train/optimizing/optimizer.h"

#include <cmath>

#include "base/check.h"

namespace pushdown {
namespace {

// Calls element(p, g, slots...) for every entry of a contiguous CPU tensor.
template <class T, class Element>
void over_elements(Tensor& parameter, const Tensor& gradient, std::vector<Tensor>& slots,
                   Element element) {
  T* __restrict p = parameter.data_ptr<T>();
  const T* __restrict g = gradient.data_ptr<T>();
  T* __restrict first = slots.empty() ? nullptr : slots[0].data_ptr<T>();
  T* __restrict second = slots.size() < 2 ? nullptr : slots[1].data_ptr<T>();
  const std::int64_t count = parameter.numel();
  T unused = 0;
  if (second != nullptr)
    for (std::int64_t i = 0; i < count; ++i) element(p[i], g[i], first[i], second[i]);
  else if (first != nullptr)
    for (std::int64_t i = 0; i < count; ++i) element(p[i], g[i], first[i], unused);
  else
    for (std::int64_t i = 0; i < count; ++i) element(p[i], g[i], unused, unused);
}

// Calls pass(T{}) with the parameter's number type.
template <class Pass>
void with_number(const Tensor& parameter, Pass pass) {
  if (parameter.scalar_type() == at::kDouble)
    pass(double{});
  else
    pass(float{});
}

class Sgd final : public Optimizer {
 public:
  Sgd(const ParameterList& parameters, const Json& options)
      : Optimizer(parameters, options,
                  options["momentum"] > 0 ? std::vector<std::string>{"momentum"}
                                          : std::vector<std::string>{}),
        momentum_(options["momentum"]),
        nesterov_(options["nesterov"]) {
    check(!nesterov_ || momentum_ > 0, "optimizer sgd", "nesterov needs a momentum above 0");
  }

 private:
  void update(Tensor& parameter, const Tensor& gradient, Slots& slots) override {
    with_number(parameter, [&](auto number) {
      using T = decltype(number);
      const T rate = learning_rate(), momentum = momentum_;
      if (slots.empty())
        over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T&, T&) { p -= rate * g; });
      else if (nesterov_)
        over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T& b, T&) {
          b = momentum * b + g;
          p -= rate * (g + momentum * b);
        });
      else
        over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T& b, T&) {
          b = momentum * b + g;
          p -= rate * b;
        });
    });
  }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    if (slots.empty()) return gradient;
    slots[0].mul_(momentum_).add_(gradient);
    return nesterov_ ? gradient.add(slots[0], momentum_) : slots[0];
  }

  double momentum_;
  bool nesterov_;
};

class RmsProp final : public Optimizer {
 public:
  RmsProp(const ParameterList& parameters, const Json& options)
      : Optimizer(parameters, options,
                  options["momentum"] > 0 ? std::vector<std::string>{"square_average", "momentum"}
                                          : std::vector<std::string>{"square_average"}),
        decay_(options["decay"]),
        epsilon_(options["epsilon"]),
        momentum_(options["momentum"]) {}

 private:
  void update(Tensor& parameter, const Tensor& gradient, Slots& slots) override {
    with_number(parameter, [&](auto number) {
      using T = decltype(number);
      const T rate = learning_rate(), decay = decay_, fresh = 1 - decay_, epsilon = epsilon_;
      const T momentum = momentum_;
      if (slots.size() == 1)
        over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T& s, T&) {
          s = decay * s + fresh * g * g;
          p -= rate * g / (std::sqrt(s) + epsilon);
        });
      else
        over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T& s, T& b) {
          s = decay * s + fresh * g * g;
          b = momentum * b + g / (std::sqrt(s) + epsilon);
          p -= rate * b;
        });
    });
  }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    slots[0].mul_(decay_).addcmul_(gradient, gradient, 1 - decay_);
    const Tensor scale = slots[0].sqrt().add_(epsilon_);
    if (slots.size() == 1) return gradient / scale;
    return slots[1].mul_(momentum_).addcdiv_(gradient, scale);
  }

  double decay_, epsilon_, momentum_;
};

class Adam : public Optimizer {
 public:
  Adam(const ParameterList& parameters, const Json& options, bool decoupled = false)
      : Optimizer(parameters, options, {"first_moment", "second_moment"}, decoupled),
        beta1_(options["beta1"]),
        beta2_(options["beta2"]),
        epsilon_(options["epsilon"]) {}

 private:
  // 1 - beta^t corrects the bias of a running average that started at zero.
  double first_bias() const { return 1 - std::pow(beta1_, static_cast<double>(steps())); }
  double second_bias() const { return 1 - std::pow(beta2_, static_cast<double>(steps())); }

  void update(Tensor& parameter, const Tensor& gradient, Slots& slots) override {
    with_number(parameter, [&](auto number) {
      using T = decltype(number);
      const T rate = learning_rate() / first_bias(), epsilon = epsilon_;
      const T beta1 = beta1_, beta2 = beta2_, fresh1 = 1 - beta1_, fresh2 = 1 - beta2_;
      const T scale = 1 / std::sqrt(second_bias());
      over_elements<T>(parameter, gradient, slots, [=](T& p, T g, T& m, T& v) {
        m = beta1 * m + fresh1 * g;
        v = beta2 * v + fresh2 * g * g;
        p -= rate * m / (std::sqrt(v) * scale + epsilon);
      });
    });
  }

  Tensor direction(const Tensor& gradient, Slots& slots) override {
    slots[0].mul_(beta1_).add_(gradient, 1 - beta1_);
    slots[1].mul_(beta2_).addcmul_(gradient, gradient, 1 - beta2_);
    const Tensor scale = slots[1].sqrt().div_(std::sqrt(second_bias())).add_(epsilon_);
    return slots[0].div(scale).div_(first_bias());
  }

  double beta1_, beta2_, epsilon_;
};

class AdamW final : public Adam {
 public:
  AdamW(const ParameterList& parameters, const Json& options) : Adam(parameters, options, true) {}
};

template <class Method>
OptimizerPtr make(const ParameterList& parameters, const Json& options) {
  return std::make_unique<Method>(parameters, options);
}

std::vector<OptionSpec> with_shared(double learning_rate, std::vector<OptionSpec> own,
                                    double weight_decay = 0) {
  std::vector<OptionSpec> specs{
      number_option("learning_rate", learning_rate, "initial learning rate", 0)};
  specs.insert(specs.end(), own.begin(), own.end());
  specs.push_back(
      number_option("weight_decay", weight_decay, "factor of the weight decay (L2 penalty)", 0));
  return specs;
}

std::vector<OptionSpec> adam_options(double weight_decay) {
  return with_shared(
      0.005,
      {number_option("beta1", 0.9, "decay rate of the running average of the gradient")
           .between(0, 0.9999999),
       number_option("beta2", 0.999, "decay rate of the running average of the squared gradient")
           .between(0, 0.9999999),
       number_option("epsilon", 1e-8, "added to the root of the averaged squared gradient", 0)},
      weight_decay);
}

}  // namespace

Optimizer::Optimizer(const ParameterList& parameters, const Json& options,
                     std::vector<std::string> slots, bool decoupled)
    : parameters_(parameters),
      slot_names_(std::move(slots)),
      learning_rate_(options["learning_rate"]),
      weight_decay_(options["weight_decay"]),
      decoupled_(decoupled) {
  for (const auto& [name, parameter] : parameters_) {
    check(parameter.is_floating_point() && parameter.is_contiguous(), "optimizer",
          "parameter '{}' must be a contiguous floating-point tensor", name);
    slots_.emplace_back();
    for (std::size_t i = 0; i < slot_names_.size(); ++i)
      slots_.back().push_back(at::zeros_like(parameter).detach());
  }
}

void Optimizer::step(Path path) {
  at::NoGradGuard no_grad;
  ++steps_;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    Tensor& parameter = parameters_[i].second;
    Tensor gradient = parameter.grad();
    if (!gradient.defined()) continue;
    if (weight_decay_ != 0 && decoupled_)
      parameter.detach().mul_(1 - learning_rate() * weight_decay_);
    if (weight_decay_ != 0 && !decoupled_)
      gradient = gradient.add(parameter.detach(), weight_decay_);
    const bool plain = parameter.is_cpu() && (parameter.scalar_type() == at::kFloat ||
                                              parameter.scalar_type() == at::kDouble);
    if (plain && path == Path::fastest)
      update(parameter, gradient.contiguous(), slots_[i]);
    else  // an alias that autograd does not track: the tensor is a leaf that requires a gradient
      parameter.detach().sub_(direction(gradient, slots_[i]), learning_rate());
  }
}

namespace {

// Returns M tensors of one shape as M x ...; from now on, the tensors are views of its rows.
Tensor as_rows(const std::vector<Tensor*>& tensors) {
  const Tensor& first = *tensors.front();
  const auto count = static_cast<std::int64_t>(tensors.size()), size = first.numel();
  std::vector<std::int64_t> sizes{count}, strides{size};
  sizes.insert(sizes.end(), first.sizes().begin(), first.sizes().end());
  strides.insert(strides.end(), first.strides().begin(), first.strides().end());
  bool rows = first.storage_offset() == 0;
  for (std::int64_t m = 0; m < count && rows; ++m) {
    const Tensor& own = *tensors[static_cast<std::size_t>(m)];
    rows = own.is_contiguous() && own.storage_offset() == m * size &&
           own.storage().is_alias_of(first.storage());
  }
  if (rows) return first.detach().as_strided(sizes, strides, 0);
  std::vector<Tensor> parts;
  for (const Tensor* own : tensors) parts.push_back(own->detach());
  const Tensor all = at::stack(parts);
  for (std::int64_t m = 0; m < count; ++m)
    tensors[static_cast<std::size_t>(m)]->set_data(all.select(0, m));
  return all;
}

}  // namespace

void Optimizer::step_together(const std::vector<Optimizer*>& optimizers,
                              const std::vector<Tensor>& gradients,
                              const std::vector<double>& rates) {
  at::NoGradGuard no_grad;
  Optimizer& first = *optimizers.front();
  for (Optimizer* optimizer : optimizers) ++optimizer->steps_;
  const Tensor all_rates =
      at::tensor(rates, at::kDouble).to(first.parameters_.front().second.options());
  for (std::size_t i = 0; i < first.parameters_.size(); ++i) {
    std::vector<Tensor*> own;
    for (Optimizer* optimizer : optimizers) own.push_back(&optimizer->parameters_[i].second);
    Tensor parameter = as_rows(own);
    Slots slots;
    for (std::size_t j = 0; j < first.slot_names_.size(); ++j) {
      own.clear();
      for (Optimizer* optimizer : optimizers) own.push_back(&optimizer->slots_[i][j]);
      slots.push_back(as_rows(own));
    }
    Tensor gradient = gradients[i];
    std::vector<std::int64_t> shape(static_cast<std::size_t>(parameter.dim()), 1);
    shape[0] = parameter.size(0);
    const Tensor own_rates = all_rates.view(shape);
    if (first.weight_decay_ != 0 && first.decoupled_)
      parameter.mul_(1 - own_rates * first.weight_decay_);
    if (first.weight_decay_ != 0 && !first.decoupled_)
      gradient = gradient.add(parameter, first.weight_decay_);
    parameter.sub_(first.direction(gradient, slots) * own_rates);
  }
}

ParameterList Optimizer::state() const {
  ParameterList state{{"steps", at::scalar_tensor(steps_, at::kLong)}};
  for (std::size_t i = 0; i < parameters_.size(); ++i)
    for (std::size_t j = 0; j < slot_names_.size(); ++j)
      state.emplace_back(slot_names_[j] + "." + parameters_[i].first, slots_[i][j]);
  return state;
}

void Optimizer::set_state(const ParameterList& given) {
  constexpr const char* kOptimizerPlace = "optimizer.set_state";
  ParameterList own = state();
  check(given.size() == own.size(), kOptimizerPlace, "expected {} tensors, got {}", own.size(),
        given.size());
  // Everything is checked before anything changes.
  std::vector<Tensor> found;
  for (const auto& [name, tensor] : own) {
    const auto same = [&](const auto& entry) { return entry.first == name; };
    const auto at = std::find_if(given.begin(), given.end(), same);
    check(at != given.end(), kOptimizerPlace, "the tensor '{}' is missing", name);
    check(at->second.sizes() == tensor.sizes() && at->second.scalar_type() == tensor.scalar_type(),
          kOptimizerPlace, "'{}' must be {} of {}, got {} of {}", name, shape_text(tensor),
          dtype_name(tensor.scalar_type()), shape_text(at->second),
          dtype_name(at->second.scalar_type()));
    found.push_back(at->second);
  }
  at::NoGradGuard no_grad;
  steps_ = found[0].item<std::int64_t>();
  for (std::size_t i = 1; i < own.size(); ++i) own[i].second.copy_(found[i]);
}

const std::vector<OptimizerKind>& optimizer_kinds() {
  static const std::vector<OptimizerKind> kinds{
      {"adam", "Adam: running averages of the gradient and its square (Kingma and Ba, 2015)",
       adam_options(0), make<Adam>},
      {"adamw", "Adam with decoupled weight decay (Loshchilov and Hutter, 2019)",
       adam_options(0.01), make<AdamW>},
      {"rmsprop",
       "RMSProp: gradient divided by the root of its running mean square (Tieleman and Hinton, "
       "2012)",
       with_shared(
           0.005,
           {number_option("decay", 0.99,
                          "decay rate of the running average of the squared gradient")
                .between(0, 1),
            number_option("epsilon", 1e-8, "added to the root of the averaged squared gradient", 0),
            number_option("momentum", 0.0, "momentum: fraction of the last step that is kept", 0)}),
       make<RmsProp>},
      {"sgd", "stochastic gradient descent, optionally with momentum",
       with_shared(0.1, {number_option("momentum", 0.0,
                                       "momentum: fraction of the last step that is kept", 0),
                         boolean_option("nesterov", false, "use Nesterov momentum")}),
       make<Sgd>},
  };
  return kinds;
}

Json resolve_optimizer(const Json& options) {
  Json given = options;
  if ((given.is_object() || given.is_null()) && !given.contains("kind")) given["kind"] = "adam";
  const auto [row, rest] = resolve_kind("optimizer", optimizer_kinds(), given);
  Json resolved{{"kind", row.name}};
  resolved.update(rest);
  return resolved;
}

OptimizerPtr make_optimizer(const ParameterList& parameters, const Json& options) {
  const auto [row, rest] = resolve_kind("optimizer", optimizer_kinds(), resolve_optimizer(options));
  return row.make(parameters, rest);
}

}  // namespace pushdown
