// A whole NS-RNN language model, compared with the published code: logits and gradients.
// tests/train checks the Adam updates.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "support/golden.h"

namespace pushdown::golden_test {
namespace {

using namespace testing_support;

TEST(ModelGolden, LogitsLossAndGradients) {
  const Json golden = load_golden("model_ns_Q2_S2");
  LanguageModel model(
      Alphabet({"0", "1", "#"}),
      Json{{"controller", {{"kind", "lstm"}, {"hidden", golden["hidden"]}}},
           {"stack",
            {{"kind", "nondeterministic"}, {"states", golden["Q"]}, {"symbols", golden["S"]}}},
           {"end_symbol", false},
           {"dtype", "float64"}});
  const std::vector<std::pair<std::string, std::string>> names{
      {"controller.weight_ih_l0", "rnn.controller.rnn.weight_ih_l0"},
      {"controller.weight_hh_l0", "rnn.controller.rnn.weight_hh_l0"},
      {"controller.bias_ih_l0", "rnn.controller.rnn.bias_ih_l0"},
      {"controller.bias_hh_l0", "rnn.controller.rnn.bias_hh_l0"},
      {"stack.action_weight", "rnn.operation_layer.weight"},
      {"stack.action_bias", "rnn.operation_layer.bias"},
      {"output.weight", "layer.linear.weight"},
      {"output.bias", "layer.linear.bias"}};
  ASSERT_EQ(model.parameters().size(), names.size());
  {
    at::NoGradGuard guard;
    for (std::size_t i = 0; i < names.size(); ++i) {
      ASSERT_EQ(model.parameters()[i].first, names[i].first);
      model.parameters()[i].second.copy_(golden_tensor(golden["parameters"][names[i].second]));
    }
  }
  const Tensor words = golden_tensor(golden["ids"]).to(at::kLong);
  EXPECT_LT(deviation(model.logits(words), golden_tensor(golden["logits"])), 1e-9);
  const Tensor loss = -model.log_probabilities(words).mean();
  EXPECT_NEAR(loss.item<double>(), golden["losses"][0].get<double>(), 1e-9);
  loss.backward();
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_LT(deviation(model.parameters()[i].second.grad(),
                        golden_tensor(golden["gradients"][names[i].second])),
              1e-9)
        << names[i].first;
}

}  // namespace
}  // namespace pushdown::golden_test
