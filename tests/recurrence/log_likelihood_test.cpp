#include "recurrence/execute/log_likelihood.h"

#include <gtest/gtest.h>

#include "base/parallel.h"
#include "support/gradient.h"
#include "support/wavy_numbers.h"

namespace pushdown::log_likelihood_test {
namespace {

using testing_support::wavy_numbers;

const BufferPoolPtr& pool() {
  static const BufferPoolPtr buffers = std::make_shared<BufferPool>();
  return buffers;
}

// Some rows have none.
Tensor targets(at::IntArrayRef shape, std::int64_t outcomes) {
  const Tensor ids = at::arange(shape[0] * shape[1]).mul(7919).remainder(outcomes + 1);
  return at::where(ids == outcomes, at::full_like(ids, -100), ids).view(shape);
}

TEST(LogLikelihoods, AreThoseOfTheSoftmaxInValuesAndGradients) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const auto& [rows, hidden, outcomes] : {std::tuple{1, 1, 1},
                                                 {3, 5, 7},
                                                 {12, 16, 32},
                                                 {25, 15, 33},
                                                 {24, 33, 64},
                                                 {50, 31, 1003},
                                                 {13, 100, 257}})
      for (const double scale : {1.0, 30.0}) {
        const double tolerance = type == at::kFloat ? 3e-4 : 1e-11;
        std::vector<Tensor> values;
        std::vector<std::vector<Tensor>> gradients;
        const Tensor ids = targets({2, rows}, outcomes);
        for (const bool ours : {true, false}) {
          const Tensor x = wavy_numbers({2, rows, hidden}, type, 1),
                       w = wavy_numbers({outcomes, hidden}, type, 2, scale),
                       b = wavy_numbers({outcomes}, type, 3);
          values.push_back(ours ? log_likelihoods_by_kernel(x, w, b, ids, pool())
                                : log_likelihoods_composed(x, w, b, ids));
          // The gradient of each row gets another weight.
          (values.back() * wavy_numbers({2, rows}, type, 4).detach()).sum().backward();
          gradients.push_back({x.grad(), w.grad(), b.grad()});
        }
        ASSERT_EQ(values[0].sizes(), values[1].sizes());
        EXPECT_TRUE(at::allclose(values[0], values[1], tolerance, tolerance)) << rows;
        EXPECT_TRUE(values[0].masked_select(ids < 0).eq(0).all().item<bool>());
        for (std::size_t i = 0; i < 3; ++i)
          EXPECT_TRUE(at::allclose(gradients[0][i], gradients[1][i], tolerance, tolerance * scale))
              << rows << " x " << outcomes << ", " << i;
        const at::NoGradGuard guard;
        const Tensor x = wavy_numbers({2, rows, hidden}, type, 1),
                     w = wavy_numbers({outcomes, hidden}, type, 2, scale),
                     b = wavy_numbers({outcomes}, type, 3);
        EXPECT_TRUE(at::equal(log_likelihoods_by_kernel(x, w, b, ids, pool()), values[0].detach()))
            << "an evaluation";
      }
}

TEST(LogLikelihoods, GradientsMatchFiniteDifferences) {
  const Tensor x = wavy_numbers({2, 9, 6}, at::kDouble, 1),
               w = wavy_numbers({40, 6}, at::kDouble, 2), b = wavy_numbers({40}, at::kDouble, 3),
               share = wavy_numbers({2, 9}, at::kDouble, 5).detach();
  const Tensor ids = targets({2, 9}, 40);
  const auto loss = [&] { return (log_likelihoods_by_kernel(x, w, b, ids, pool()) * share).sum(); };
  EXPECT_LT(testing_support::gradient_error({x, w, b}, loss), 1e-7);
}

// Scores that would overflow, and a score far from all others.
TEST(LogLikelihoods, LargeScoresAreNoTrouble) {
  const Tensor x = at::ones({1, 1}), w = at::full({50, 1}, 3e4).set_requires_grad(true);
  const Tensor ids = at::zeros({1}, at::kLong);
  for (const double far : {0.0, -500.0, 500.0}) {
    const Tensor b = at::zeros({50});
    b[0].fill_(far);
    const Tensor value = log_likelihoods_by_kernel(x, w, b, ids, pool());
    EXPECT_NEAR(value.item<float>(),
                far == 0  ? -std::log(50.0)
                : far < 0 ? -500 - std::log(49)
                          : 0,
                0.01);
  }
  const Tensor lost = at::full({50, 1}, NAN);
  EXPECT_TRUE(
      std::isnan(log_likelihoods_by_kernel(x, lost, at::zeros({50}), ids, pool()).item<float>()));
}

TEST(LogLikelihoods, DoNotDependOnThreads) {
  std::vector<std::vector<Tensor>> all;
  const Tensor ids = targets({5, 60}, 700);
  for (const int threads : {1, 3}) {
    set_thread_count(threads);
    const Tensor x = wavy_numbers({5, 60, 100}, at::kFloat, 1),
                 w = wavy_numbers({700, 100}, at::kFloat, 2),
                 b = wavy_numbers({700}, at::kFloat, 3);
    const Tensor values = log_likelihoods(x, w, b, ids, pool());
    values.sum().backward();
    all.push_back({values, x.grad(), w.grad(), b.grad()});
  }
  set_thread_count(1);
  for (std::size_t i = 0; i < all[0].size(); ++i) EXPECT_TRUE(at::equal(all[0][i], all[1][i]));
}

TEST(LogLikelihoods, TheGraphIsKeptOnRequestAndElseFreed) {
  const Tensor x = wavy_numbers({1, 4, 6}, at::kFloat, 1), w = wavy_numbers({40, 6}, at::kFloat, 2),
               b = wavy_numbers({40}, at::kFloat, 3), ids = targets({1, 4}, 40);
  const Tensor loss = log_likelihoods_by_kernel(x, w, b, ids, pool()).sum();
  loss.backward({}, true);
  const Tensor once = w.grad().clone();
  loss.backward();
  EXPECT_TRUE(at::allclose(w.grad(), once * 2));
  EXPECT_ANY_THROW(loss.backward());
  // Only the requested results.
  const Tensor fixed = x.detach();
  log_likelihoods_by_kernel(fixed, w, b, ids, pool()).sum().backward();
  EXPECT_FALSE(fixed.grad().defined());
  EXPECT_EQ(log_likelihoods(x.narrow(1, 0, 0), w, b, ids.narrow(1, 0, 0), pool()).sizes(),
            (at::IntArrayRef{1, 0}));
}

}  // namespace
}  // namespace pushdown::log_likelihood_test
