#include "tensor/module_context.h"

#include <cmath>

#include "base/stopping.h"

namespace pushdown {
namespace {

Tensor filled(at::IntArrayRef shape, const ModuleContext& context, auto draw) {
  Tensor values = at::empty(shape, at::kDouble);
  auto* data = values.data_ptr<double>();
  const StopCheck stop;
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    stop();
    data[i] = draw();
  }
  return values.to(context.tensor_options).set_requires_grad(true);
}

}  // namespace

Tensor uniform_parameter(at::IntArrayRef shape, double low, double high,
                         const ModuleContext& context) {
  return filled(shape, context, [&] { return context.random->uniform(low, high); });
}

Tensor xavier_parameter(std::int64_t out, std::int64_t in, double gain,
                        const ModuleContext& context) {
  const double bound = gain * std::sqrt(6.0 / static_cast<double>(in + out));
  return uniform_parameter({out, in}, -bound, bound, context);
}

Tensor normal_parameter(at::IntArrayRef shape, double deviation, const ModuleContext& context) {
  return filled(shape, context, [&] { return deviation * context.random->normal(); });
}

Tensor constant_parameter(at::IntArrayRef shape, double value, const ModuleContext& context) {
  return filled(shape, context, [&] { return value; });
}

Tensor zero_parameter(at::IntArrayRef shape, const ModuleContext& context) {
  return constant_parameter(shape, 0, context);
}

}  // namespace pushdown
