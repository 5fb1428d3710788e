#include "train/learning/gradient.h"

#include <algorithm>
#include <cmath>

namespace pushdown {
namespace {

// Independent partial sums: the additions overlap, but their order is fixed.
constexpr std::int64_t kLanes = 8;

// The sum of squares of `count` numbers, of which those that are not added are zero. It is the same
// for any such choice: every number has a lane of its own place.
template <class T>
class SumOfSquares {
 public:
  SumOfSquares(const T* values, std::int64_t count)
      : values_(values), whole_(count - count % kLanes) {}

  void add(std::int64_t first, std::int64_t end) {
    const auto middle = std::clamp(whole_, first, end);
    auto i = first;
    for (; i < middle && i % kLanes != 0; ++i) sums_[i % kLanes] += square(i);
    for (; i + kLanes <= middle; i += kLanes)
      for (std::int64_t lane = 0; lane < kLanes; ++lane) sums_[lane] += square(i + lane);
    for (; i < middle; ++i) sums_[i % kLanes] += square(i);
    for (; i < end; ++i) rest_ += square(i);
  }
  double total() const {
    double total = rest_;
    for (const double sum : sums_) total += sum;
    return total;
  }

 private:
  double square(std::int64_t i) const {
    const double value = static_cast<double>(values_[i]);
    return value * value;
  }

  const T* values_;
  std::int64_t whole_;
  double sums_[kLanes] = {}, rest_ = 0;
};

// Calls run(first, end) for the runs of places in memory where a gradient of `count` numbers may
// not be zero.
template <class Run>
void for_each_run(std::int64_t count, const UsedRows::Rows* rows, Run run) {
  if (rows == nullptr) return run(std::int64_t{0}, count);
  for (const std::int64_t row : rows->numbers) run(row * rows->size, (row + 1) * rows->size);
}

template <class T>
double sum_of_squares(const Tensor& values, const UsedRows::Rows* rows) {
  SumOfSquares<T> sum(values.data_ptr<T>(), values.numel());
  for_each_run(values.numel(), rows, [&](auto first, auto end) { sum.add(first, end); });
  return sum.total();
}

double sum_of_squares(const Tensor& gradient, const UsedRows::Rows* rows) {
  const Tensor values = stored(gradient).contiguous();
  if (values.scalar_type() == at::kDouble) return sum_of_squares<double>(values, rows);
  if (values.scalar_type() == at::kFloat) return sum_of_squares<float>(values, rows);
  return sum_of_squares<double>(values.to(at::kDouble), rows);
}

// Calls action(gradient, rows that are used or null).
template <class Action>
void for_each_gradient(const ParameterList& parameters, const UsedRows& used, Action action) {
  at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : parameters)
    if (Tensor gradient = parameter.grad(); gradient.defined())
      action(gradient, used.find(parameter));
}

// Changes every number by change(number), or everything by elsewhere(gradient) if the numbers are
// not contiguous ones of the CPU.
template <class Change, class Elsewhere>
void change_gradients(const ParameterList& parameters, const UsedRows& used, Change change,
                      Elsewhere elsewhere) {
  for_each_gradient(parameters, used, [&](Tensor& gradient, const UsedRows::Rows* rows) {
    // A tensor operation with a scalar costs microseconds; a loop over a few numbers costs less.
    const Tensor values = stored(gradient);
    const auto each = [&](auto* numbers) {
      for_each_run(values.numel(), rows, [&](auto first, auto end) {
        for (auto i = first; i < end; ++i) numbers[i] = change(numbers[i]);
      });
    };
    if (!values.is_cpu() || !values.is_contiguous())
      elsewhere(gradient);
    else if (values.scalar_type() == at::kFloat)
      each(values.data_ptr<float>());
    else if (values.scalar_type() == at::kDouble)
      each(values.data_ptr<double>());
    else
      elsewhere(gradient);
  });
}

}  // namespace

double gradient_norm(const ParameterList& parameters, const UsedRows& used) {
  double total = 0;
  std::vector<Tensor> elsewhere;  // sums on a device, fetched together at the end
  for_each_gradient(parameters, used, [&](const Tensor& gradient, const UsedRows::Rows* rows) {
    if (gradient.is_cpu())
      total += sum_of_squares(gradient, rows);
    else
      elsewhere.push_back(gradient.to(at::kDouble).square().sum());
  });
  if (!elsewhere.empty()) total += at::stack(elsewhere).sum().item<double>();
  return std::sqrt(total);
}

void scale_gradients(const ParameterList& parameters, double factor, const UsedRows& used) {
  change_gradients(
      parameters, used, [=]<class T>(T value) { return value * static_cast<T>(factor); },
      [&](Tensor& gradient) { gradient.mul_(factor); });
}

double norm_clip_factor(double norm, double limit) { return std::min(1.0, limit / (norm + 1e-6)); }

void clip_gradient_norm(const ParameterList& parameters, double norm, double limit,
                        const UsedRows& used) {
  const double factor = norm_clip_factor(norm, limit);
  if (factor < 1) scale_gradients(parameters, factor, used);
}

void clip_gradient_values(const ParameterList& parameters, double limit, const UsedRows& used) {
  change_gradients(
      parameters, used,
      [=]<class T>(T value) {
        return std::clamp(value, static_cast<T>(-limit), static_cast<T>(limit));
      },
      [&](Tensor& gradient) { gradient.clamp_(-limit, limit); });
}

void clear_gradients(const ParameterList& parameters) {
  for (const auto& [name, parameter] : parameters) parameter.mutable_grad() = Tensor();
}

}  // namespace pushdown
