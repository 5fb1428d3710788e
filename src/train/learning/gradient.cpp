#include "train/learning/gradient.h"

#include <algorithm>
#include <cmath>

namespace pushdown {
namespace {

template <class T>
double sum_of_squares(const T* values, std::int64_t count) {
  // Independent partial sums: the additions overlap, but their order is fixed.
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int lane = 0; lane < kLanes; ++lane) {
      const double value = static_cast<double>(values[i + lane]);
      sums[lane] += value * value;
    }
  double total = 0;
  for (; i < count; ++i) total += static_cast<double>(values[i]) * static_cast<double>(values[i]);
  for (const double sum : sums) total += sum;
  return total;
}

double sum_of_squares(const Tensor& gradient) {
  const Tensor values = gradient.contiguous();
  if (values.scalar_type() == at::kDouble)
    return sum_of_squares(values.data_ptr<double>(), values.numel());
  if (values.scalar_type() == at::kFloat)
    return sum_of_squares(values.data_ptr<float>(), values.numel());
  return sum_of_squares(values.to(at::kDouble));
}

template <class T>
void multiply(T* values, std::int64_t count, T factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
}

template <class T>
void clip(T* values, std::int64_t count, T limit) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = std::clamp(values[i], -limit, limit);
}

template <class Action>
void for_each_gradient(const ParameterList& parameters, Action action) {
  at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters)
    if (Tensor gradient = parameter.grad(); gradient.defined()) action(gradient);
}

}  // namespace

double gradient_norm(const ParameterList& parameters) {
  double total = 0;
  std::vector<Tensor> elsewhere;  // sums on a device, fetched together at the end
  for_each_gradient(parameters, [&](const Tensor& gradient) {
    if (gradient.is_cpu())
      total += sum_of_squares(gradient);
    else
      elsewhere.push_back(gradient.to(at::kDouble).square().sum());
  });
  if (!elsewhere.empty()) total += at::stack(elsewhere).sum().item<double>();
  return std::sqrt(total);
}

void scale_gradients(const ParameterList& parameters, double factor) {
  for_each_gradient(parameters, [&](Tensor& gradient) {
    // A tensor operation with a scalar costs microseconds; a loop over a few numbers costs less.
    if (!gradient.is_cpu() || !gradient.is_contiguous())
      gradient.mul_(factor);
    else if (gradient.scalar_type() == at::kFloat)
      multiply(gradient.data_ptr<float>(), gradient.numel(), static_cast<float>(factor));
    else if (gradient.scalar_type() == at::kDouble)
      multiply(gradient.data_ptr<double>(), gradient.numel(), factor);
    else
      gradient.mul_(factor);
  });
}

double norm_clip_factor(double norm, double limit) { return std::min(1.0, limit / (norm + 1e-6)); }

void clip_gradient_norm(const ParameterList& parameters, double norm, double limit) {
  const double factor = norm_clip_factor(norm, limit);
  if (factor < 1) scale_gradients(parameters, factor);
}

void clip_gradient_values(const ParameterList& parameters, double limit) {
  for_each_gradient(parameters, [&](Tensor& gradient) {
    if (!gradient.is_cpu() || !gradient.is_contiguous())
      gradient.clamp_(-limit, limit);
    else if (gradient.scalar_type() == at::kFloat)
      clip(gradient.data_ptr<float>(), gradient.numel(), static_cast<float>(limit));
    else if (gradient.scalar_type() == at::kDouble)
      clip(gradient.data_ptr<double>(), gradient.numel(), limit);
    else
      gradient.clamp_(-limit, limit);
  });
}

void clear_gradients(const ParameterList& parameters) {
  for (const auto& [name, parameter] : parameters) parameter.mutable_grad() = Tensor();
}

}  // namespace pushdown
