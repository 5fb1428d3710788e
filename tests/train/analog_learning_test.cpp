// The learning algorithms on the neural network pushdown automaton, whose state grows with the
// stack.
#include <gtest/gtest.h>

#include "train/gradients.h"

namespace pushdown::analog_learning_test {
namespace {

using namespace testing_support;

Recognizer automaton(Json options) {
  options["architecture"] = "nnpda";
  options["states"] = 2;
  options["output"] = "own";
  options["dtype"] = "float64";
  options["seed"] = 5;
  Recognizer model(Alphabet({"a", "b"}), options);
  // Roughly, a is pushed and b is popped.
  at::NoGradGuard guard;
  for (const auto& [name, parameter] : model.parameters())
    if (name == "action.weight") {
      parameter.select(-1, parameter.size(-1) - (model.end_symbol() ? 3 : 2)).add_(1.5);
      parameter.select(-1, parameter.size(-1) - (model.end_symbol() ? 2 : 1)).sub_(1.5);
    }
  return model;
}
// "aabab", "aabbb", "abbab", "aaabb", valid or not.
StringBatch strings() {
  StringBatch batch;
  batch.words = at::tensor({0, 0, 1, 0, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1, 0, 0, 0, 1, 1}, at::kLong)
                    .view({4, 5});
  batch.labels = at::tensor({1.0, 0.0, 1.0, 0.0}, at::kDouble);
  batch.viable = at::tensor({7, 5, 7, 4}, at::kLong);
  return batch;
}

class AnalogLearning : public testing::TestWithParam<Json> {};

TEST_P(AnalogLearning, RealTimeAndOneWindowAreBackpropagation) {
  for (const Json& objective :
       std::vector<Json>{"state_and_length",
                         {{"kind", "state_and_length"}, {"illegal_underflow", "pop_more"}},
                         {{"kind", "state_and_length"}, {"dead_neuron", 1}, {"legal_weight", 5}}}) {
    const Recognizer model = automaton(GetParam());
    const auto wanted = gradient(model, "bptt", strings(), objective).gradients;
    EXPECT_GT(largest(wanted), 1e-2);
    for (const char* kind : {"rtrl", "tbptt"}) {
      const auto got = gradient(model, kind, strings(), objective).gradients;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT(deviation(got[i], wanted[i]), 1e-10)
            << kind << " " << model.parameters()[i].first << " " << objective;
    }
  }
}

std::vector<Json> cases() {
  std::vector<Json> all;
  for (const char* order : {"second", "third", "full"})
    for (const char* derivative : {"exact", "top_and_bottom"})
      all.push_back({{"order", order},
                     {"stack_derivative", derivative},
                     {"end_symbol", std::string(order) == "third"}});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Orders, AnalogLearning, testing::ValuesIn(cases()));

TEST(AnalogUnbiasedOnlineSlow, IsTheGradientInTheMean) {
  const Recognizer model = automaton({{"order", "third"}});
  expect_unbiased(model, "uoro", strings(), 300, "state_and_length");
}

}  // namespace
}  // namespace pushdown::analog_learning_test
