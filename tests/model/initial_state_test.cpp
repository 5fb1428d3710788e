// The learned initial state of a controller: with tensor operations, recorded and in pieces.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/golden.h"
#include "support/gradient.h"

namespace pushdown::initial_state_test {
namespace {

using namespace testing_support;

class LearnedStart : public testing::TestWithParam<Json> {
 protected:
  static StackRnn network(bool coupled = false, const char* stack = "stratification") {
    Random random(3);
    return {GetParam(), {{"kind", stack}},
            4,          at::TensorOptions(at::kDouble),
            random,     {coupled, 0, 0, CarryForward::none, true}};
  }
  static Tensor inputs(std::int64_t batch, std::int64_t steps) {
    return at::arange(batch * steps * 4, at::kDouble).sin().view({batch, steps, 4});
  }
  static Tensor loss(const Tensor& hiddens) {
    return (hiddens * at::arange(hiddens.numel(), at::kDouble).view_as(hiddens).cos()).sum();
  }
  // The tensors initial.*.
  static std::vector<Tensor> starts(const StackRnn& network) {
    std::vector<Tensor> all;
    for (const auto& [name, tensor] : network.parameters())
      if (name.starts_with("initial.")) all.push_back(tensor);
    return all;
  }
  static std::vector<Tensor> gradients(const StackRnn& network, const Tensor& loss) {
    for (const auto& [name, tensor] : network.parameters()) tensor.mutable_grad() = Tensor();
    loss.backward();
    std::vector<Tensor> all;
    for (const auto& [name, tensor] : network.parameters())
      all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
    return all;
  }
};

TEST_P(LearnedStart, HasAVectorForEveryTensorOfTheState) {
  const auto rnn = network();
  const auto state = rnn.controller().initial(1);
  const auto own = starts(rnn);
  ASSERT_EQ(own.size(), state.size());
  const auto begun = rnn.initial(3, 0);
  for (std::size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(own[i].sizes(), state[i][0].sizes());
    EXPECT_GT(own[i].abs().max().item<double>(), 0.01);
    EXPECT_LT(own[i].abs().max().item<double>(), 0.1);
    EXPECT_TRUE(begun.controller[i].equal(own[i].expand_as(begun.controller[i])));
  }
}

TEST_P(LearnedStart, GradientsMatchFiniteDifferences) {
  for (const bool coupled : {false, true}) {
    const auto rnn = network(coupled);
    const Tensor x = inputs(2, 3);
    EXPECT_LT(gradient_error(starts(rnn), [&] { return loss(rnn.run_stepwise(x)); }), 1e-7);
    for (const Tensor& gradient : gradients(rnn, loss(rnn.run_recorded(x, {}))))
      EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    for (const Tensor& start : starts(rnn)) EXPECT_GT(start.grad().abs().max().item<double>(), 0);
  }
}

TEST_P(LearnedStart, RecordedEqualsStepwise) {
  for (const bool coupled : {false, true})
    for (const char* stack : {"none", "stratification"})
      for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 2}, {2, 9}}) {
        const auto rnn = network(coupled, stack);
        const Tensor x = inputs(batch, steps);
        const Tensor recorded = rnn.run_recorded(x, {}), stepwise = rnn.run_stepwise(x);
        ASSERT_TRUE(recorded.defined());
        EXPECT_LT(deviation(recorded, stepwise), 1e-12);
        const auto wanted = gradients(rnn, loss(stepwise)), got = gradients(rnn, loss(recorded));
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_LT(deviation(got[i], wanted[i]), 1e-10) << rnn.parameters()[i].first;
      }
}

// Gradients that end at borders: the initial state belongs to the first window.
TEST_P(LearnedStart, WindowsEqualPieces) {
  const auto rnn = network();
  const Tensor x = inputs(2, 8);
  std::vector<Tensor> pieces{at::zeros({2, 1, rnn.hidden_size()}, at::kDouble)};
  auto state = rnn.initial(2, 0);
  for (std::int64_t first = 0; first < 8; first += 3) {
    auto [hiddens, next] =
        rnn.read(x.narrow(1, first, std::min<std::int64_t>(3, 8 - first)), state);
    pieces.push_back(hiddens);
    state = next.detached();
  }
  const auto wanted = gradients(rnn, loss(at::cat(pieces, 1)));
  const auto got = gradients(rnn, loss(rnn.run_recorded(x, {}, nullptr, 3)));
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LT(deviation(got[i], wanted[i]), 1e-10) << rnn.parameters()[i].first;
}

INSTANTIATE_TEST_SUITE_P(Controllers, LearnedStart,
                         testing::Values(Json{{"kind", "elman"}, {"hidden", 18}},
                                         Json{{"kind", "lstm"}, {"hidden", 5}, {"layers", 2}},
                                         Json{{"kind", "gru"}, {"hidden", 5}},
                                         Json{{"kind", "second_order"}, {"hidden", 4}}));

// Up to the eight layers of the deep networks.
TEST(Layers, RecordedEqualsStepwiseWithEight) {
  for (const std::int64_t layers : {4, 8}) {
    Random random(3);
    const StackRnn rnn({{"kind", "lstm"}, {"hidden", 6}, {"layers", layers}},
                       {{"kind", "stratification_queue"}, {"size", 3}}, 4,
                       at::TensorOptions(at::kDouble), random,
                       {false, 0, 0, CarryForward::none, true});
    const Tensor x = at::arange(2 * 5 * 4, at::kDouble).sin().view({2, 5, 4});
    std::vector<std::vector<Tensor>> all;
    for (const bool recorded : {true, false}) {
      const Tensor hiddens = recorded ? rnn.run_recorded(x, {}) : rnn.run_stepwise(x);
      ASSERT_TRUE(hiddens.defined());
      for (const auto& [name, tensor] : rnn.parameters()) tensor.mutable_grad() = Tensor();
      (hiddens * at::arange(hiddens.numel(), at::kDouble).view_as(hiddens).cos()).sum().backward();
      all.push_back({hiddens.detach()});
      for (const auto& [name, tensor] : rnn.parameters())
        all.back().push_back(tensor.grad().clone());
    }
    for (std::size_t i = 0; i < all[0].size(); ++i)
      EXPECT_LT(deviation(all[0][i], all[1][i]), 1e-11) << i;
  }
}

// Both the program and the definition start from trained vectors.
TEST(LearnedStartOfLanguageModels, IsTheSameWithAndWithoutKernels) {
  const auto model = [](bool kernels) {
    return LanguageModel(Alphabet({"a", "b"}), Json{{"controller", {{"kind", "lstm"}}},
                                                    {"stack", {{"kind", "stratification"}}},
                                                    {"initial_state", "learned"},
                                                    {"kernels", kernels},
                                                    {"seed", 3},
                                                    {"dtype", "float64"}});
  };
  const auto kernels = model(true), stepwise = model(false);
  const Tensor words = at::arange(14, at::kLong).remainder(2).view({2, 7});
  const Tensor got = kernels.log_probabilities(words), wanted = stepwise.log_probabilities(words);
  EXPECT_LT(deviation(got, wanted), 1e-12);
  got.sum().backward();
  wanted.sum().backward();
  for (std::size_t i = 0; i < kernels.parameters().size(); ++i)
    EXPECT_LT(
        deviation(kernels.parameters()[i].second.grad(), stepwise.parameters()[i].second.grad()),
        1e-11)
        << kernels.parameters()[i].first;
}

}  // namespace
}  // namespace pushdown::initial_state_test
