#include "recurrence/affine.h"

#include <gtest/gtest.h>

#include "base/parallel.h"

namespace pushdown::affine_test {
namespace {

Tensor numbers(at::IntArrayRef shape, at::ScalarType type, double shift) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  return at::sin(at::arange(count, at::kDouble) * 0.7 + shift)
      .view(shape)
      .to(type)
      .set_requires_grad(true);
}

TEST(Affine, IsTheLinearMapInValuesAndGradients) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const auto& [rows, inner, outputs] :
         {std::tuple{1, 1, 1}, {3, 5, 7}, {64, 16, 33}, {130, 20, 257}, {7, 100, 19}}) {
      const double tolerance = type == at::kFloat ? 1e-4 : 1e-11;
      std::vector<Tensor> values;
      std::vector<std::vector<Tensor>> gradients;
      for (const bool ours : {true, false}) {
        const Tensor x = numbers({2, rows, inner}, type, 1), w = numbers({outputs, inner}, type, 2),
                     b = numbers({outputs}, type, 3);
        values.push_back(ours ? affine_by_kernel(x, w, b) : at::linear(x, w, b));
        (values.back() * numbers({2, rows, outputs}, type, 4).detach()).sum().backward();
        gradients.push_back({x.grad(), w.grad(), b.grad()});
      }
      ASSERT_EQ(values[0].sizes(), values[1].sizes());
      EXPECT_TRUE(at::allclose(values[0], values[1], tolerance, tolerance)) << rows;
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_TRUE(at::allclose(gradients[0][i], gradients[1][i], tolerance, tolerance))
            << rows << " " << i;
    }
}

TEST(Affine, TakesPartsOfMatricesAndNoBias) {
  std::vector<Tensor> wanted;
  for (const bool ours : {true, false}) {
    const Tensor x = numbers({6, 5, 40}, at::kDouble, 1), w = numbers({70, 30}, at::kDouble, 2);
    const Tensor part = w.narrow(1, 4, 20), rows = x.transpose(0, 1).narrow(2, 3, 20);
    const Tensor y = ours ? affine_by_kernel(rows, part, {}) : at::linear(rows, part);
    (y * numbers({5, 6, 70}, at::kDouble, 4).detach()).sum().backward();
    const std::vector<Tensor> all{y.detach(), x.grad(), w.grad()};
    if (ours) wanted = all;
    for (std::size_t i = 0; i < all.size(); ++i)
      EXPECT_TRUE(at::allclose(all[i], wanted[i], 1e-11, 1e-11)) << i;
  }
}

TEST(Affine, DoesNotDependOnThreads) {
  at::NoGradGuard no_grad;
  const Tensor x = numbers({300, 64}, at::kFloat, 1), w = numbers({1200, 64}, at::kFloat, 2),
               b = numbers({1200}, at::kFloat, 3);
  const Tensor one = affine(x, w, b);
  set_thread_count(3);
  const Tensor three = affine(x, w, b);
  set_thread_count(1);
  EXPECT_TRUE(at::equal(one, three));
  EXPECT_TRUE(at::allclose(one, at::linear(x, w, b), 1e-4, 1e-4));
  EXPECT_EQ(affine(x.narrow(0, 0, 0), w, b).sizes(), (at::IntArrayRef{0, 1200}));
}

}  // namespace
}  // namespace pushdown::affine_test
