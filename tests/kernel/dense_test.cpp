// The matrix products of recorded steps, on every instruction set, compared with LibTorch.
#include "kernel/dense/dense.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernel/dense/panels.h"
#include "kernel/memory/memory_shape.h"
#include "support/golden.h"

namespace pushdown::dense_test {
namespace {

using namespace testing_support;

template <class F>
class Dense : public testing::Test {
 protected:
  static constexpr double kBound = sizeof(F) == 4 ? 2e-5 : 1e-12;
  const at::TensorOptions options =
      at::TensorOptions(c10::CppTypeToScalarType<F>::value).requires_grad(false);

  Tensor random(at::IntArrayRef shape, int seed) const {
    Random generator(static_cast<std::uint64_t>(seed));
    Tensor tensor = at::empty(shape, options);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<F>()[i] = static_cast<F>(generator.uniform(-1, 1));
    return tensor;
  }
  static F* data(const Tensor& tensor) { return tensor.data_ptr<F>(); }
  static Tensor padded(const Tensor& tensor) {
    const auto size = tensor.size(-1);
    return at::constant_pad_nd(tensor, {0, padded_size(size) - size}).contiguous();
  }
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(Dense, Numbers);

TYPED_TEST(Dense, LogLikelihoodAndItsGradients) {
  using F = TypeParam;
  for (const auto& [hidden, outcomes] : {std::pair{1, 1}, {20, 3}, {17, 33}}) {
    constexpr std::int64_t kRows = 37;  // several times as many as are computed together
    const Tensor weight = this->random({outcomes, hidden}, 1).mul(3),
                 bias = this->random({outcomes}, 2);
    const Tensor inputs = this->random({kRows, hidden}, 3).set_requires_grad(true);
    Tensor targets = at::empty({kRows}, at::kLong);
    for (std::int64_t t = 0; t < kRows; ++t) targets.data_ptr<std::int64_t>()[t] = t * 5 % outcomes;
    Tensor scores = at::linear(inputs.detach(), weight, bias).set_requires_grad(true);
    const Tensor wanted = scores.log_softmax(1).gather(1, targets.unsqueeze(1)).sum();
    wanted.backward();
    const Tensor wanted_inputs = at::mm(scores.grad(), weight);
    const Tensor rows = this->padded(weight), columns = this->padded(weight.t()),
                 shift = this->padded(bias);
    const OutputLayer<F> layer{this->data(columns), this->data(rows), this->data(shift), hidden,
                               outcomes};
    for (const Isa isa : usable_isas()) {
      const auto kernel = kernel_for<DenseKernel<F>>(isa);
      const Tensor scratch = at::full({likelihood_scratch(outcomes)}, 7, this->options),
                   slopes = at::full({kRows * outcomes + 2 * kPadding}, 7, this->options),
                   below = at::full({kRows, padded_size(hidden)}, 7, this->options);
      const auto run = [&](F* score_gradients) {
        return kernel.log_likelihood(layer, kRows, this->data(inputs.detach()),
                                     targets.data_ptr<std::int64_t>(), this->data(scratch),
                                     score_gradients, this->data(below));
      };
      EXPECT_NEAR(run(nullptr), wanted.template item<double>(), this->kBound * 10) << isa_name(isa);
      EXPECT_NEAR(run(this->data(slopes)), wanted.template item<double>(), this->kBound * 10);
      EXPECT_LT(
          deviation(slopes.narrow(0, 0, kRows * outcomes).view({kRows, outcomes}), scores.grad()),
          this->kBound);
      EXPECT_LT(deviation(below.narrow(1, 0, hidden), wanted_inputs), this->kBound * 10);
    }
  }
}

// Some rows times a matrix in panels, added to the old values.
TYPED_TEST(Dense, ProductsWithPanels) {
  using F = TypeParam;
  for (const std::int64_t rows : {1, 3, 10, 13, 50, 131})
    for (const auto& [count, columns] :
         {std::pair{1, 1}, {7, 16}, {5, 33}, {300, 40}, {19, 290}, {600, 273}, {513, 256}}) {
      const Tensor x = this->random({rows, count + 3}, 1), w = this->random({count, columns}, 2),
                   before = this->random({rows, padded_size(columns)}, 3);
      const Tensor wanted = before.narrow(1, 0, columns) + at::matmul(x.narrow(1, 0, count), w);
      for (const bool transposed : {false, true}) {
        const Tensor given = transposed ? w.t().contiguous() : w;
        const Tensor panels = at::full({count * padded_size(columns)}, 7, this->options);
        if (transposed)
          pack_transposed_panels(this->data(given), count, columns, count, this->data(panels));
        else
          pack_panels(this->data(given), columns, count, columns, this->data(panels));
        for (const Isa isa : usable_isas()) {
          const Tensor out = before.clone();
          kernel_for<DenseKernel<F>>(isa).add_products(this->data(out), padded_size(columns),
                                                       this->data(x), count + 3, rows, count,
                                                       this->data(panels), padded_size(columns));
          EXPECT_LT(deviation(out.narrow(1, 0, columns), wanted), this->kBound * 10)
              << rows << ' ' << count << ' ' << columns << ' ' << isa_name(isa);
        }
      }
    }
}

TYPED_TEST(Dense, SumsOfOuterProducts) {
  using F = TypeParam;
  constexpr std::int64_t kBatch = 3;
  for (const auto& [steps, rows, columns] : {std::tuple{5, 1, 1},
                                             {5, 16, 2},
                                             {5, 41, 7},
                                             {5, 80, 23},
                                             {300, 41, 53},
                                             {64, 33, 48},
                                             {90, 230, 80}}) {
    const Tensor a = this->random({kBatch * steps * rows + 2 * kPadding}, 1);
    const Tensor c = this->random({kBatch, steps, columns}, 2), scales = this->random({kBatch}, 3);
    const Tensor factors = a.narrow(0, 0, kBatch * steps * rows).view({kBatch, steps, rows});
    const Tensor wanted =
        at::matmul((factors * scales.view({kBatch, 1, 1})).flatten(0, 1).t(), c.flatten(0, 1));
    for (const Isa isa : usable_isas()) {
      // The sums are added to a part of a wider matrix, whose other numbers must not change.
      const Tensor out = at::full({rows, columns + 2}, 0.5, this->options);
      OuterSum<F> sum{kBatch,
                      steps,
                      this->data(a),
                      steps * rows,
                      rows,
                      this->data(c),
                      steps * columns,
                      columns,
                      columns,
                      this->data(scales),
                      this->data(out) + 1,
                      columns + 2,
                      0,
                      0};
      for (sum.first = 0; sum.first < rows; sum.first = sum.end) {
        sum.end = std::min<std::int64_t>(rows, sum.first + 32);
        kernel_for<DenseKernel<F>>(isa).outer_sum(sum);
      }
      EXPECT_LT(deviation(out.narrow(1, 1, columns) - 0.5, wanted), this->kBound) << isa_name(isa);
      EXPECT_TRUE(out.select(1, 0).eq(0.5).all().template item<bool>());
      EXPECT_TRUE(out.select(1, columns + 1).eq(0.5).all().template item<bool>());
    }
  }
}

}  // namespace
}  // namespace pushdown::dense_test
