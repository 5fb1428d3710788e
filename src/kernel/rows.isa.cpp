// The loops of rows.h, compiled once for each instruction set.
#include "kernel/rows.h"

#include "kernel/vector.h"

namespace pushdown::PUSHDOWN_ISA_NAMESPACE {
namespace {

using Index = std::int64_t;
constexpr Index kL = kLanes<double>;

void add_multiple(double* y, const double* x, double a, Index count) {
  Index i = 0;
  for (; i + kL <= count; i += kL) store(y + i, load(y + i) + a * load(x + i));
  for (; i < count; ++i) y[i] += a * x[i];
}

void scale(double* y, double a, Index count) {
  Index i = 0;
  for (; i + kL <= count; i += kL) store(y + i, a * load(y + i));
  for (; i < count; ++i) y[i] *= a;
}

// The sums of four vectors, which need not wait for each other.
double dot_of(const double* a, const double* b, Index count) {
  Vector<double> sums[4] = {};
  Index i = 0;
  for (; i + 4 * kL <= count; i += 4 * kL)
    for (int k = 0; k < 4; ++k) sums[k] += load(a + i + k * kL) * load(b + i + k * kL);
  for (; i + kL <= count; i += kL) sums[0] += load(a + i) * load(b + i);
  const Vector<double> all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double sum = 0;
  for (int lane = 0; lane < kL; ++lane) sum += all[lane];
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

double square_sum(const double* x, Index count) { return dot_of(x, x, count); }

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
  for (Index j = 0; j < columns; ++j) add_multiple(matrix + j * count, row, x[j], count);
}

void add_dots(double* sums, const double* matrix, const double* row, Index columns, Index count) {
  for (Index j = 0; j < columns; ++j) sums[j] += dot_of(matrix + j * count, row, count);
}

}  // namespace

RowKernel row_kernel_d() {
  return {add_multiple, scale, square_sum, add_product, add_outer, add_dots};
}

}  // namespace pushdown::PUSHDOWN_ISA_NAMESPACE
