// The output layer over a vocabulary, on every instruction set, compared with LibTorch.
#include "kernel/dense/vocabulary.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "support/golden.h"

namespace pushdown::vocabulary_test {
namespace {

using namespace testing_support;

template <class F>
class VocabularyLoops : public testing::Test {
 protected:
  static constexpr double kBound = sizeof(F) == 4 ? 2e-5 : 1e-12;
  const at::TensorOptions options = at::TensorOptions(c10::CppTypeToScalarType<F>::value);

  Tensor random(at::IntArrayRef shape, int seed) const {
    Random generator(static_cast<std::uint64_t>(seed));
    Tensor tensor = at::empty(shape, options);
    for (std::int64_t i = 0; i < tensor.numel(); ++i)
      tensor.data_ptr<F>()[i] = static_cast<F>(generator.uniform(-1, 1));
    return tensor;
  }
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(VocabularyLoops, Numbers);

TYPED_TEST(VocabularyLoops, SoftmaxMeansAndSums) {
  using F = TypeParam;
  for (const auto& [all, hidden, outcomes] :
       {std::tuple{1, 1, 1}, {24, 16, 16}, {30, 21, 47}, {49, 40, 300}}) {
    const Tensor weight = this->random({outcomes, hidden}, 1), bias = this->random({outcomes}, 2),
                 x = this->random({all, hidden}, 3);
    const auto vp = padded_size(outcomes), hp = padded_size(hidden), columns = hidden + 1,
               fp = padded_size(columns);
    const Tensor transposed = at::empty({hidden * vp}, this->options),
                 straight = at::empty({outcomes * hp}, this->options),
                 shift = at::constant_pad_nd(bias, {0, vp - outcomes}, -1e30).contiguous();
    pack_transposed_panels(weight.data_ptr<F>(), hidden, outcomes, hidden,
                           transposed.data_ptr<F>());
    pack_panels(weight.data_ptr<F>(), hidden, outcomes, hidden, straight.data_ptr<F>());
    const Tensor ids = at::arange(all).mul(7).remainder(outcomes);
    const Tensor scores = at::linear(x, weight, bias), chances = scores.softmax(1);
    const Tensor factors = at::cat({x, at::ones({all, 1}, this->options)}, 1).contiguous();
    const Tensor panels = at::empty({all * fp}, this->options);
    pack_panels(factors.data_ptr<F>(), columns, all, columns, panels.data_ptr<F>());
    for (const Isa isa : usable_isas()) {
      const auto kernel = kernel_for<VocabularyKernel<F>>(isa);
      const Tensor e = at::full({vocabulary_panels(outcomes, all)}, 7, this->options),
                   totals = at::full({all}, 7, this->options),
                   values = at::full({all}, 7, this->options),
                   means = at::full({all, hp}, 7, this->options);
      for (std::int64_t first = 0; first < all; first += kVocabularyRows) {
        VocabularyRows<F> rows;
        rows.all = all;
        rows.first = first;
        rows.count = std::min<std::int64_t>(kVocabularyRows, all - first);
        rows.hidden = x.data_ptr<F>();
        rows.targets = ids.data_ptr<std::int64_t>();
        rows.exponentials = e.data_ptr<F>();
        rows.totals = totals.data_ptr<F>();
        rows.log_probabilities = values.data_ptr<F>();
        rows.mean_weight = means.data_ptr<F>();
        kernel.rows({transposed.data_ptr<F>(), straight.data_ptr<F>(), shift.data_ptr<F>(), hidden,
                     outcomes},
                    rows);
      }
      const Tensor wanted = scores.log_softmax(1).gather(1, ids.unsqueeze(1)).squeeze(1);
      EXPECT_LT(deviation(values, wanted), this->kBound) << isa_name(isa);
      EXPECT_LT(deviation(means.narrow(1, 0, hidden), at::mm(chances, weight)), this->kBound)
          << isa_name(isa);
      const Tensor out = at::full({outcomes, hidden}, 7, this->options),
                   last = at::full({outcomes}, 7, this->options);
      for (std::int64_t first = 0; first < outcomes; first += 2 * kPanel)
        kernel.sums({all, first, std::min<std::int64_t>(outcomes, first + 2 * kPanel), columns,
                     e.data_ptr<F>(), panels.data_ptr<F>(), out.data_ptr<F>(), last.data_ptr<F>()});
      const Tensor raw = (scores - std::get<0>(scores.max(1, true))).exp();
      EXPECT_LT(deviation(totals, raw.sum(1)), this->kBound * outcomes) << isa_name(isa);
      EXPECT_LT(deviation(out - 7, at::mm(raw.t(), x)), this->kBound * all) << isa_name(isa);
      EXPECT_LT(deviation(last - 7, raw.sum(0)), this->kBound * all) << isa_name(isa);
    }
  }
}

}  // namespace
}  // namespace pushdown::vocabulary_test
