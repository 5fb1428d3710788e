#include "model/dropout.h"

namespace pushdown {

Tensor dropout(const Tensor& x, double rate, Random* noise) {
  if (noise == nullptr || rate == 0) return x;
  Tensor mask = at::empty(x.sizes(), at::kDouble);
  auto* values = mask.data_ptr<double>();
  for (std::int64_t i = 0; i < mask.numel(); ++i) values[i] = dropout_number(rate, *noise);
  return x * mask.to(x.options());
}

}  // namespace pushdown
