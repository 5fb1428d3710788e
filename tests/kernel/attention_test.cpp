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

// x_2i + i x_2i+1 times exp(i t 10000^(-2i/D)) : heads x T x D
Tensor turned(const Tensor& x) {
  const Tensor angles =
      at::outer(at::arange(x.size(1), at::kDouble),
                at::pow(10000, -at::arange(0, x.size(2), 2, at::kDouble) / x.size(2)));
  return at::view_as_real(
             at::view_as_complex(x.unflatten(2, {-1, 2}).clone(at::MemoryFormat::Contiguous)) *
             at::polar(at::ones_like(angles), angles))
      .flatten(2);
}

// The slopes of ALiBi: 1/2, 1/4 .. 1/256 of 8 heads.
const std::map<std::int64_t, std::vector<double>> kAlibi{
    {1, {1.0 / 256}}, {2, {1.0 / 16, 1.0 / 256}}, {3, {1.0 / 16, 1.0 / 256, 1.0 / 4}}};

// Queries, keys and values, and of relative encodings r, u and w: T x heads D or heads D each -> T
// x heads D
Tensor defined(const std::vector<Tensor>& given, std::int64_t heads, AttentionEncoding encoding) {
  const auto split = [&](const Tensor& x) {
    return x.view({-1, heads, x.size(-1) / heads}).transpose(0, 1).to(at::kDouble);
  };
  const Tensor values = given[2];
  Tensor queries = split(given[0]), keys = split(given[1]);
  const auto length = values.size(0), size = values.size(1) / heads;
  const Tensor hidden = at::ones({length, length}, at::kBool).triu(1);
  if (encoding == AttentionEncoding::rotary) {
    queries = turned(queries);
    keys = turned(keys);
  }
  const bool relative = encoding == AttentionEncoding::relative;
  Tensor scores = at::matmul(relative ? queries + split(given[4]) : queries, keys.transpose(1, 2));
  const Tensor distances =
      at::arange(length).unsqueeze(1) - at::arange(length).unsqueeze(0);  // t - s
  if (relative) {
    const Tensor of = split(given[3]).index_select(1, distances.clamp_min(0).flatten());
    scores =
        scores +
        ((queries + split(given[5])).unsqueeze(2) * of.view({heads, length, length, size})).sum(3);
  }
  scores = scores / std::sqrt(static_cast<double>(size));
  if (encoding == AttentionEncoding::alibi)
    scores = scores - at::tensor(kAlibi.at(heads), at::kDouble).view({-1, 1, 1}) * distances;
  const Tensor shares =
      scores.masked_fill(hidden, -std::numeric_limits<double>::infinity()).softmax(2);
  return at::matmul(shares, split(values)).transpose(0, 1).flatten(1);
}

TYPED_TEST(AttentionTest, IsTheDefinitionWithItsGradients) {
  using F = TypeParam;
  using enum AttentionEncoding;
  for (const AttentionEncoding encoding : {none, rotary, alibi, relative})
    for (const std::int64_t length : {1, 7, 65, 150})
      for (const auto& [heads, size] :
           {std::pair{2, 1}, {3, 3}, {2, 16}, {1, 20}, {3, 6}, {2, 64}}) {
        if (encoding == rotary && size % 2 != 0) continue;
        const std::int64_t columns = heads * size, row = columns + 3;
        // Parts of longer rows; great scores.
        const auto matrix = [&](int seed, double greatest, std::int64_t rows) {
          return this->random({rows, row}, seed, greatest).narrow(1, 1, columns);
        };
        std::vector<Tensor> given{matrix(1, 10, length), matrix(2, 10, length),
                                  matrix(3, 1, length)};
        if (encoding == relative)
          for (const std::int64_t rows : {length, std::int64_t{1}, std::int64_t{1}})
            given.push_back(matrix(4 + static_cast<int>(given.size()), 2, rows));
        const Tensor slopes = matrix(4, 1, length);
        std::vector<Tensor> leaves;
        for (const Tensor& x : given) leaves.push_back(x.contiguous().set_requires_grad(true));
        const Tensor wanted = defined(leaves, heads, encoding);
        wanted.backward(slopes.to(at::kDouble));
        for (const Isa isa : usable_isas()) {
          const auto kernel = kernel_for<AttentionKernel<F>>(isa);
          const auto result = [&](std::int64_t width, std::int64_t rows) {
            return at::full({rows, width + 2}, 7, this->options).narrow(1, 1, width);
          };
          const Tensor out = result(columns, length), log_sums = result(heads, length),
                       scratch =
                           at::full({attention_scratch(length, size, encoding)}, 7, this->options);
          Attention<F> attention{length,
                                 heads,
                                 size,
                                 this->given(given[0]),
                                 this->given(given[1]),
                                 this->given(given[2]),
                                 this->rows(out),
                                 this->rows(log_sums),
                                 nullptr,
                                 encoding};
          if (encoding == relative) {
            attention.distances = this->given(given[3]);
            attention.content_bias = given[4].data_ptr<F>();
            attention.distance_bias = given[5].data_ptr<F>();
          }
          kernel.forward(attention, scratch.data_ptr<F>());
          const std::string where = fmt::format("{}, encoding {}, {} x {} x {}", isa_name(isa),
                                                static_cast<int>(encoding), length, heads, size);
          EXPECT_LT(deviation(out, wanted.detach()), this->kBound) << where;
          std::vector<Tensor> found;
          for (const Tensor& x : given) found.push_back(result(columns, x.size(0)));
          AttentionSlopes<F> of{this->given(slopes), this->rows(found[0]), this->rows(found[1]),
                                this->rows(found[2])};
          if (encoding == relative) {
            of.distances = this->rows(found[3]);
            of.content_bias = found[4].data_ptr<F>();
            of.distance_bias = found[5].data_ptr<F>();
          }
          kernel.backward(attention, of, scratch.data_ptr<F>());
          for (std::size_t k = 0; k < given.size(); ++k)
            EXPECT_LT(deviation(found[k] - 7, leaves[k].grad()), 10 * this->kBound)
                << where << ", gradient " << k;
          // Nothing is written beside the results.
          std::vector<Tensor> written = found;
          written.insert(written.end(), {out, log_sums});
          for (const Tensor& own : written)
            for (const std::int64_t beside : {-1L, own.size(1)})
              EXPECT_EQ(
                  own.as_strided({own.size(0)}, {own.stride(0)}, own.storage_offset() + beside)
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
