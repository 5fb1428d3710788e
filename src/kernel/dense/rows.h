// Loops over rows of doubles, for kernels that are not themselves compiled for each instruction
// set. Rows need no padding; sums are computed in a fixed order.
#pragma once
#include <cstdint>

#include "kernel/isa.h"

namespace pushdown {

struct RowKernel {
  // y += a x
  void (*add_multiple)(double* y, const double* x, double a, std::int64_t count);
  // y = a y
  void (*scale)(double* y, double a, std::int64_t count);
  double (*square_sum)(const double* x, std::int64_t count);
  // sums += sum_j x_j matrix_j, `columns` rows matrix_j of `count` numbers each
  void (*add_product)(double* sums, const double* matrix, const double* x, std::int64_t columns,
                      std::int64_t count);
  // matrix_j += x_j row, for the same rows
  void (*add_outer)(double* matrix, const double* x, const double* row, std::int64_t columns,
                    std::int64_t count);
  // sums_j += matrix_j . row
  void (*add_dots)(double* sums, const double* matrix, const double* row, std::int64_t columns,
                   std::int64_t count);
};

}  // namespace pushdown
