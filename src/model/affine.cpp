#include "model/affine.h"

#include "base/parallel.h"
#include "kernel/dense.h"
#include "kernel/scan.h"

namespace pushdown {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr std::int64_t kSmallest = 1 << 16;  // weights, below which nothing is gained
constexpr std::int64_t kRowsOfAPart = 128;   // a multiple of every vector's length

// A^T C of a : K x M and c : K x N, M x N, in parts of rows of the result.
template <class F>
Tensor transposed_product(const Tensor& a, const Tensor& c) {
  const auto inner = a.size(0), rows = a.size(1), columns = c.size(1);
  // Rows of `a` are read by whole vectors, up to two paddings behind the last one.
  const Tensor memory = at::zeros({inner * rows + 2 * kScanPadding}, a.options());
  memory.narrow(0, 0, inner * rows).view({inner, rows}).copy_(a);
  const Tensor other = c.contiguous();
  const Tensor out = at::empty({rows, columns}, a.options());
  const auto kernel = dense_kernel<F>(current_isa());
  parallel_for((rows + kRowsOfAPart - 1) / kRowsOfAPart, [&](std::int64_t part) {
    OuterSum<F> sum{};
    sum.sequences = 1;
    sum.steps = inner;
    sum.a = memory.data_ptr<F>();
    sum.a_step = rows;
    sum.c = other.data_ptr<F>();
    sum.c_step = sum.columns = columns;
    sum.out = out.data_ptr<F>();
    sum.out_row = columns;
    sum.first = part * kRowsOfAPart;
    sum.end = std::min(rows, sum.first + kRowsOfAPart);
    kernel.outer_sum(sum);
  });
  return out;
}

Tensor product(const Tensor& a, const Tensor& c) {
  return a.scalar_type() == at::kFloat ? transposed_product<float>(a, c)
                                       : transposed_product<double>(a, c);
}

struct Affine : torch::autograd::Function<Affine> {
  // x : N x H -> N x V
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    context->save_for_backward({x, weight});
    return product(x.t(), weight.t()).add_(bias);
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    const auto saved = context->get_saved_variables();
    const Tensor slopes = given[0].contiguous();  // N x V
    return {product(slopes.t(), saved[1]), product(slopes, saved[0]), slopes.sum(0)};
  }
};

}  // namespace

Tensor affine_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return Affine::apply(x.reshape({-1, weight.size(1)}), weight, bias).view(shape);
}

Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  const auto type = x.scalar_type();
  const bool ours = x.is_cpu() && weight.is_cpu() && type == weight.scalar_type() &&
                    (type == at::kFloat || type == at::kDouble) && x.numel() > 0 &&
                    weight.numel() >= kSmallest;
  return ours ? affine_by_kernel(x, weight, bias) : at::linear(x, weight, bias);
}

}  // namespace pushdown
