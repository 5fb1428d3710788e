#include "tensor/numbers.h"

namespace pushdown {

std::vector<double> numbers_of(const Tensor& tensor) {
  const Tensor copy = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  return {copy.data_ptr<double>(), copy.data_ptr<double>() + copy.numel()};
}

}  // namespace pushdown
