#include "model/dropout.h"

namespace pushdown {

void draw_mask(double* numbers, std::int64_t count, double rate, Random& random) {
  const double kept = 1 / (1 - rate);
  Random own = random;  // in registers
  for (std::int64_t i = 0; i < count; ++i) numbers[i] = own.uniform() < rate ? 0 : kept;
  random = own;
}

Tensor dropout(const Tensor& x, double rate, Random* noise) {
  if (noise == nullptr || rate == 0) return x;
  const Tensor mask = at::empty(x.sizes(), at::kDouble);
  draw_mask(mask.data_ptr<double>(), mask.numel(), rate, *noise);
  return x * mask.to(x.options());
}

}  // namespace pushdown
