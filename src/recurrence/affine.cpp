#include "recurrence/affine.h"

#include "base/parallel.h"
#include "kernel/dense/dense.h"
#include "kernel/dense/panels.h"
#include "kernel/memory/memory_shape.h"
#include "tensor/autograd.h"

namespace pushdown {
namespace {

// The smallest number of weights, or multiply-adds, for which the kernel is faster.
constexpr std::int64_t kSmallest = 1 << 16, kLeastWork = 1 << 20;
constexpr std::int64_t kRowsOfAPart = 128;  // a multiple of every vector's length

// Computes A^T C of a : K x M and c : K x N, M x N, in blocks of rows of the result.
template <class F>
Tensor transposed_product(const Tensor& a, const Tensor& c) {
  const auto inner = a.size(0), rows = a.size(1), columns = c.size(1);
  // Rows of `a` are read in whole vectors, up to two paddings past the last one.
  const Tensor memory = at::zeros({inner * rows + 2 * kPadding}, a.options());
  memory.narrow(0, 0, inner * rows).view({inner, rows}).copy_(a);
  const Tensor other = c.contiguous();
  const Tensor out = at::zeros({rows, columns}, a.options());
  const auto kernel = kernel_for<DenseKernel<F>>(current_isa());
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

// Computes x W + bias, x : N x K, where `panels` are those of W with `columns` columns -> N x
// columns.
template <class F>
Tensor panel_products(const Tensor& x, const Tensor& panels, std::int64_t columns,
                      const Tensor& bias) {
  const auto rows = x.size(0), count = x.size(1), padded = padded_size(columns);
  const Tensor out = at::empty({rows, padded}, x.options());
  if (bias.defined())
    out.narrow(1, 0, columns).copy_(bias.expand({rows, columns}));
  else
    out.zero_();
  const auto kernel = kernel_for<DenseKernel<F>>(current_isa());
  parallel_for((rows + kRowsOfAPart - 1) / kRowsOfAPart, [&](std::int64_t part) {
    const auto first = part * kRowsOfAPart, own = std::min(rows - first, kRowsOfAPart);
    kernel.add_products(out.data_ptr<F>() + first * padded, padded, x.data_ptr<F>() + first * count,
                        count, own, count, panels.data_ptr<F>(), padded);
  });
  return padded == columns ? out : out.narrow(1, 0, columns).contiguous();
}

template <class F>
struct Affine : AutogradFunction<Affine<F>> {
  // x : N x H -> N x V
  static Tensor forward(AutogradContext* context, const Tensor& x, const Tensor& weight,
                        const Tensor& bias) {
    context->save_for_backward({x, weight});
    const Tensor own = weight.contiguous();
    const auto rows = own.size(0), columns = own.size(1);
    const Tensor panels = at::empty({columns * padded_size(rows)}, own.options());
    pack_transposed_panels(own.data_ptr<F>(), columns, rows, columns, panels.data_ptr<F>());
    return panel_products<F>(x.contiguous(), panels, rows, bias);
  }
  static variable_list backward(AutogradContext* context, const variable_list& given) {
    const auto saved = context->get_saved_variables();
    const Tensor slopes = given[0].contiguous();  // N x V
    variable_list result(3);
    if (context->needs_input_grad(0)) {
      const Tensor own = saved[1].contiguous();
      const auto rows = own.size(0), columns = own.size(1);
      const Tensor panels = at::empty({rows * padded_size(columns)}, own.options());
      pack_panels(own.data_ptr<F>(), columns, rows, columns, panels.data_ptr<F>());
      result[0] = panel_products<F>(slopes, panels, columns, {});
    }
    if (context->needs_input_grad(1)) result[1] = transposed_product<F>(slopes, saved[0]);
    if (context->needs_input_grad(2)) result[2] = slopes.sum(0);
    return result;
  }
};

}  // namespace

Tensor affine_by_kernel(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  auto shape = x.sizes().vec();
  shape.back() = weight.size(0);
  const Tensor rows = x.reshape({-1, weight.size(1)}),
               shift = bias.defined() ? bias : at::zeros({weight.size(0)}, weight.options());
  return (x.scalar_type() == at::kFloat ? Affine<float>::apply(rows, weight, shift)
                                        : Affine<double>::apply(rows, weight, shift))
      .view(shape);
}

bool suits_kernel(const Tensor& x, const Tensor& weight) {
  const auto type = x.scalar_type();
  return x.is_cpu() && weight.is_cpu() && type == weight.scalar_type() &&
         (type == at::kFloat || type == at::kDouble) && x.numel() > 0 &&
         (weight.numel() >= kSmallest || x.numel() / weight.size(1) * weight.numel() >= kLeastWork);
}

Tensor affine(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return suits_kernel(x, weight) ? affine_by_kernel(x, weight, bias) : at::linear(x, weight, bias);
}

}  // namespace pushdown
