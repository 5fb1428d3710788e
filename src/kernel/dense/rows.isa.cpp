// The loops of rows.h, compiled once for each instruction set.
#include "kernel/dense/rows.h"

#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

using Index = std::int64_t;
constexpr Index kL = kLanes<double>;

void add_multiple(double* y, const double* x, double a, Index count) { add_scaled(y, x, a, count); }

void scale(double* y, double a, Index count) {
  for (Index i = 0; i < count; ++i) y[i] *= a;
}

double square_sum(const double* x, Index count) { return dot(x, x, count); }

void add_product(double* sums, const double* matrix, const double* x, Index columns, Index count) {
  Index i = 0;
  for (; i + kL <= count; i += kL) {
    Vector<double> sum = load(sums + i), other = {};
    Index j = 0;
    for (; j + 2 <= columns; j += 2) {
      sum += x[j] * load(matrix + j * count + i);
      other += x[j + 1] * load(matrix + (j + 1) * count + i);
    }
    if (j < columns) sum += x[j] * load(matrix + j * count + i);
    store(sums + i, sum + other);
  }
  for (; i < count; ++i)
    for (Index j = 0; j < columns; ++j) sums[i] += x[j] * matrix[j * count + i];
}

void add_outer(double* matrix, const double* x, const double* row, Index columns, Index count) {
  for (Index j = 0; j < columns; ++j) add_scaled(matrix + j * count, row, x[j], count);
}

void add_dots(double* sums, const double* matrix, const double* row, Index columns, Index count) {
  for (Index j = 0; j < columns; ++j) sums[j] += dot(matrix + j * count, row, count);
}

}  // namespace

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE

namespace pushdown {

template <>
RowKernel isa_kernel<RowKernel, PUSHDOWN_OWN_ISA>() {
  using namespace PUSHDOWN_ISA_NAMESPACE;
  return {add_multiple, scale, square_sum, add_product, add_outer, add_dots};
}

}  // namespace pushdown
