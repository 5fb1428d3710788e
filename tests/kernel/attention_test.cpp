// Causal attention on every instruction set, compared with the definition in LibTorch.
#include "kernel/attention/attention.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "kernel/isa.h"
#include "support/golden.h"

namespace pushdown::attention_test {
namespace {

using testing_support::deviation;

template <class F>
class AttentionTest : public testing::Test {
 protected:
  static constexpr double kBound = sizeof(F) == 4 ? 2e-4 : 1e-12;
  const at::TensorOptions options =
      at::TensorOptions(c10::CppTypeToScalarType<F>::value).requires_grad(false);

  Tensor random(at::IntArrayRef shape, int seed, double greatest) const {
    Random generator(static_cast<std::uint64_t>(seed));
    Tensor tensor = at::empty(shape, options);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<F>()[i] = static_cast<F>(generator.uniform(-greatest, greatest));
    return tensor;
  }
  static AttentionRows<F> rows(const Tensor& tensor) {
    return {tensor.data_ptr<F>(), tensor.stride(0)};
  }
  static AttentionRows<const F> given(const Tensor& tensor) {
    return {tensor.data_ptr<F>(), tensor.stride(0)};
  }
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(AttentionTest, Numbers);

// T x heads D each -> T x heads D
Tensor defined(const Tensor& queries, const Tensor& keys, const Tensor& values,
               std::int64_t heads) {
  const auto split = [&](const Tensor& x) {
    return x.view({x.size(0), heads, -1}).transpose(0, 1).to(at::kDouble);
  };
  const auto length = queries.size(0), size = queries.size(1) / heads;
  const Tensor hidden = at::ones({length, length}, at::kBool).triu(1);
  const Tensor scores = at::matmul(split(queries), split(keys).transpose(1, 2)) /
                        std::sqrt(static_cast<double>(size));
  const Tensor shares =
      scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(2);
  return at::matmul(shares, split(values)).transpose(0, 1).flatten(1);
}

TYPED_TEST(AttentionTest, IsTheDefinitionWithItsGradients) {
  using F = TypeParam;
  for (const std::int64_t length : {1, 7, 65, 150})
    for (const auto& [heads, size] : {std::pair{2, 1}, {3, 3}, {2, 16}, {1, 20}, {2, 64}}) {
      const std::int64_t columns = heads * size, row = columns + 3;
      // Parts of longer rows; great scores.
      const auto matrix = [&](int seed, double greatest) {
        return this->random({length, row}, seed, greatest).narrow(1, 1, columns);
      };
      const Tensor queries = matrix(1, 10), keys = matrix(2, 10), values = matrix(3, 1),
                   slopes = matrix(4, 1);
      std::vector<Tensor> leaves;
      for (const Tensor& x : {queries, keys, values})
        leaves.push_back(x.contiguous().set_requires_grad(true));
      const Tensor wanted = defined(leaves[0], leaves[1], leaves[2], heads);
      wanted.backward(slopes.to(at::kDouble));
      for (const Isa isa : usable_isas()) {
        const auto kernel = kernel_for<AttentionKernel<F>>(isa);
        const auto result = [&](std::int64_t width) {
          return at::full({length, width + 2}, 7, this->options).narrow(1, 1, width);
        };
        const Tensor out = result(columns), log_sums = result(heads),
                     scratch = at::full({attention_scratch(length, size)}, 7, this->options);
        const Attention<F> attention{length,
                                     heads,
                                     size,
                                     this->given(queries),
                                     this->given(keys),
                                     this->given(values),
                                     this->rows(out),
                                     this->rows(log_sums)};
        kernel.forward(attention, scratch.data_ptr<F>());
        const std::string where =
            fmt::format("{} {} x {} x {}", isa_name(isa), length, heads, size);
        EXPECT_LT(deviation(out, wanted.detach()), this->kBound) << where;
        std::vector<Tensor> found;
        for (int k = 0; k < 3; ++k) found.push_back(result(columns));
        AttentionSlopes<F> of{this->given(slopes), this->rows(found[0]), this->rows(found[1]),
                              this->rows(found[2])};
        kernel.backward(attention, of, scratch.data_ptr<F>());
        for (std::size_t k = 0; k < 3; ++k)
          EXPECT_LT(deviation(found[k] - 7, leaves[k].grad()), 10 * this->kBound)
              << where << ", gradient " << k;
        // Nothing is written beside the results.
        for (const Tensor& own : {out, log_sums, found[0], found[1], found[2]})
          for (const std::int64_t beside : {-1L, own.size(1)})
            EXPECT_EQ(own.as_strided({length}, {own.stride(0)}, own.storage_offset() + beside)
                          .eq(7)
                          .all()
                          .template item<bool>(),
                      true)
                << where;
        // Only some gradients.
        const Tensor alone = at::zeros_like(found[1]);
        kernel.backward(attention, {of.out, {}, this->rows(alone), {}}, scratch.data_ptr<F>());
        EXPECT_LT(deviation(alone, leaves[1].grad()), 10 * this->kBound) << where;
      }
    }
}

}  // namespace
}  // namespace pushdown::attention_test
