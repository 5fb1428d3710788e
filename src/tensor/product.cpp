#include "tensor/product.h"

#include <cmath>
#include <vector>

#include "base/stopping.h"

namespace pushdown {
namespace {

constexpr double kMultiplications = 1 << 29;  // per block of rows

// Returns the number of rows of each block of a product with `rows` rows and `all` multiplications.
std::int64_t rows_of_part(std::int64_t rows, double all) {
  const double parts = std::min(std::ceil(all / kMultiplications), static_cast<double>(rows));
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(rows) / parts));
}

template <class One>
Tensor in_parts(const Tensor& rows, std::int64_t each, One one) {
  std::vector<Tensor> made;
  const StopCheck stop;
  for (const Tensor& part : rows.split(each, -2)) {
    stop();
    made.push_back(one(part));
  }
  return at::cat(made, -2);
}

}  // namespace

Tensor product(const Tensor& a, const Tensor& b) {
  if (a.dim() < 2 || b.dim() < 2 || !a.is_cpu() || a.size(-2) < 2) return at::matmul(a, b);
  const double all = static_cast<double>(a.numel()) * static_cast<double>(b.size(-1));
  if (all <= kMultiplications) return at::matmul(a, b);
  return in_parts(a, rows_of_part(a.size(-2), all),
                  [&](const Tensor& part) { return at::matmul(part, b); });
}

Tensor linear_product(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const double all = static_cast<double>(x.numel()) * static_cast<double>(weight.size(0));
  if (x.dim() < 2 || !x.is_cpu() || all <= kMultiplications) return at::linear(x, weight, bias);
  const Tensor rows = x.reshape({-1, x.size(-1)});
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return in_parts(rows, rows_of_part(rows.size(0), all),
                  [&](const Tensor& part) { return at::linear(part, weight, bias); })
      .view(shape);
}

}  // namespace pushdown
