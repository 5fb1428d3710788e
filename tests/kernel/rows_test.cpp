// Loops over rows, compared with plain loops, for every instruction set.
#include "kernel/dense/rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace pushdown::rows_test {
namespace {

using Numbers = std::vector<double>;

Numbers wavy(std::int64_t count, double shift) {
  Numbers values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(1.7 * static_cast<double>(i) + shift));
  return values;
}

double difference(const Numbers& a, const Numbers& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(Rows, EqualPlainLoops) {
  for (const Isa isa : usable_isas())
    for (const std::int64_t count : {1, 7, 8, 9, 24, 37, 64, 100})
      for (const std::int64_t columns : {1, 2, 5}) {
        const RowKernel rows = kernel_for<RowKernel>(isa);
        const Numbers x = wavy(count, 0.3), matrix = wavy(columns * count, 0.9),
                      factors = wavy(columns, 0.1);
        Numbers y = wavy(count, 0.5), wanted = y;
        rows.add_multiple(y.data(), x.data(), 0.7, count);
        for (std::int64_t i = 0; i < count; ++i) wanted[i] += 0.7 * x[i];
        EXPECT_LT(difference(y, wanted), 1e-14) << isa_name(isa) << ' ' << count;
        rows.scale(y.data(), -1.3, count);
        for (double& value : wanted) value *= -1.3;
        EXPECT_LT(difference(y, wanted), 1e-14);
        double squares = 0;
        for (const double value : x) squares += value * value;
        EXPECT_NEAR(rows.square_sum(x.data(), count), squares, 1e-12);
        rows.add_product(y.data(), matrix.data(), factors.data(), columns, count);
        for (std::int64_t i = 0; i < count; ++i)
          for (std::int64_t j = 0; j < columns; ++j)
            wanted[i] += factors[j] * matrix[j * count + i];
        EXPECT_LT(difference(y, wanted), 1e-13);
        Numbers outer = matrix, wanted_outer = matrix, dots = factors, wanted_dots = factors;
        rows.add_outer(outer.data(), factors.data(), x.data(), columns, count);
        rows.add_dots(dots.data(), matrix.data(), x.data(), columns, count);
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = 0; i < count; ++i) {
            wanted_outer[j * count + i] += factors[j] * x[i];
            wanted_dots[j] += matrix[j * count + i] * x[i];
          }
        EXPECT_LT(difference(outer, wanted_outer), 1e-14);
        EXPECT_LT(difference(dots, wanted_dots), 1e-12);
      }
}

}  // namespace
}  // namespace pushdown::rows_test
