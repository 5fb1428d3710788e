// The error of state and stack length, case by case: values and the derivatives with respect to S,
// L and U.
#include <gtest/gtest.h>

#include "model/recognizer.h"
#include "support/golden.h"
#include "train/learning/objective.h"

namespace pushdown::state_and_length_test {
namespace {

using namespace testing_support;

struct Expected {
  double loss, by_first, by_state, by_length, by_underflow;
};

// Strings of P passes with two state neurons. The rows before the last pass are noise that must not
// matter.
class StateAndLength : public testing::Test {
 protected:
  struct String {
    double first, state, length, underflow;
    bool legal;
    std::int64_t viable = 100;
  };

  // Sets the values of the string at pass `place` (0 is the first).
  static ObjectiveBatch batch(const std::vector<String>& strings, std::int64_t passes,
                              std::int64_t place) {
    const auto count = static_cast<std::int64_t>(strings.size());
    ObjectiveBatch batch;
    batch.hiddens = at::full({count, passes, 4}, 0.3, at::kDouble);
    batch.hiddens.select(2, 3).zero_();
    batch.labels = at::zeros({count}, at::kDouble);
    batch.viable = at::zeros({count}, at::kLong);
    for (std::int64_t b = 0; b < count; ++b) {
      const auto& string = strings[b];
      batch.hiddens[b][place] =
          at::tensor({string.first, string.state, string.length, string.underflow}, at::kDouble);
      batch.labels[b] = string.legal ? 1.0 : 0.0;
      batch.viable[b] = string.viable;
    }
    batch.hiddens.requires_grad_();
    batch.scores = at::where(batch.hiddens.select(2, 3) > 0, at::zeros({}, at::kDouble),
                             batch.hiddens.select(2, 1) - batch.hiddens.select(2, 2));
    return batch;
  }
  static void expect(const Json& options, const std::vector<String>& strings,
                     const std::vector<Expected>& wanted, std::int64_t place = 2) {
    ObjectiveBatch given = batch(strings, 3, place);
    const Tensor losses = make_objective(options)->losses(given);
    const Tensor slopes = gradients({losses.sum()}, {given.hiddens})[0];
    ASSERT_EQ(losses.size(0), static_cast<std::int64_t>(wanted.size()));
    Tensor all = at::zeros({losses.size(0), 3, 4}, at::kDouble);
    for (std::size_t b = 0; b < wanted.size(); ++b) {
      const auto& row = wanted[b];
      EXPECT_NEAR(losses[b].item<double>(), row.loss, 1e-12) << "string " << b;
      all[b][place] =
          at::tensor({row.by_first, row.by_state, row.by_length, row.by_underflow}, at::kDouble);
    }
    EXPECT_LT(deviation(slopes, all), 1e-12) << slopes;
  }
};

TEST_F(StateAndLength, IsEquation16WithTheGradientOfEquation17) {
  expect("state_and_length",
         {{.9, .8, .5, 0, true},    // v = 1: (1 + .5 - .8)^2
          {.9, 1.0, 0.0, 0, true},  // correct
          {.9, .8, .5, 0, false},   // v = 0: (.5 - .8)^2
          {.9, .2, .7, 0, false},   // v = -.5: no error once L >= S
          {.9, .0, .0, 0, false}},
         {{.49, 0, -1.4, 1.4, 0},
          {0, 0, 0, 0, 0},
          {.09, 0, .6, -.6, 0},
          {0, 0, 0, 0, 0},
          {0, 0, 0, 0, 0}});
}

TEST_F(StateAndLength, ARefusedPopAsksForMoreOnTheStack) {
  const std::vector<String> strings{{.9, .8, .1, .4, true}, {.9, .8, .1, .4, false}};
  expect("state_and_length", strings, {{.4, 0, 0, 0, 1}, {0, 0, 0, 0, 0}});
  expect({{"kind", "state_and_length"}, {"illegal_underflow", "pop_more"}}, strings,
         {{.4, 0, 0, 0, 1}, {0, 0, 0, 0, -1}});
  expect({{"kind", "state_and_length"}, {"legal_weight", 5}, {"dead_neuron", 2}}, strings,
         {{2, 0, 0, 0, 5}, {0, 0, 0, 0, 0}});
}

TEST_F(StateAndLength, TheDeadNeuronFollowsEquation26) {
  const Json options{{"kind", "state_and_length"}, {"dead_neuron", 1}};
  expect(options,
         {{.9, .2, .5, 0, true},     // S* = 1, L* = 0
          {.9, .2, .5, 0, false},    // S* = 1, L* = 1
          {.9, .2, 1.7, 0, false}},  // L* - L = .1
         {{.5 * (.01 + .25), -.1, 0, .5, 0},
          {.5 * (.01 + .25), -.1, 0, -.5, 0},
          {.5 * (.01 + .01), -.1, 0, -.1, 0}});
  // The trap begins with the second of three symbols. A valid string is in no trap.
  expect(options, {{.9, .2, .5, 0, false, 2}}, {{.5 * .81, .9, 0, 0, 0}}, 1);
  expect(options, {{.9, .2, .5, 0, true, 4}}, {{.5 * (.01 + .25), -.1, 0, .5, 0}});
  // After the last symbol: the whole string is in the trap.
  expect(options, {{.9, .2, .5, 0, false, 3}}, {{.5 * .81, .9, 0, 0, 0}});
}

TEST_F(StateAndLength, PiecesAddUpToTheWhole) {
  for (const std::int64_t viable : {1, 2, 3, 4, 5, 9})
    for (const bool legal : {false, true}) {
      const auto objective = make_objective({{"kind", "state_and_length"}, {"dead_neuron", 2}});
      ObjectiveBatch whole = batch({{.9, .6, .5, 0, legal, legal ? 9 : viable}}, 5, 2);
      const double wanted = objective->losses(whole).item<double>();
      EXPECT_GT(wanted, 0);
      double sum = 0;
      for (const auto& [first, size] : {std::pair{0, 2}, {2, 1}, {3, 2}}) {
        ObjectiveBatch piece = whole;
        piece.first = first;
        piece.ends = first + size == 5;
        piece.hiddens = whole.hiddens.narrow(1, first, size);
        piece.scores = whole.scores.narrow(1, first, size);
        sum += objective->losses(piece).item<double>();
      }
      EXPECT_NEAR(sum, wanted, 1e-14) << viable;
    }
}

TEST_F(StateAndLength, RefusesModelsThatItCannotTrain) {
  const auto objective = make_objective("state_and_length");
  ObjectiveBatch other = batch({{.9, .8, .5, 0, true}}, 3, 2);
  other.scores = other.scores + 1;
  EXPECT_THROW(objective->losses(other), std::invalid_argument);
  EXPECT_THROW(make_objective({{"kind", "state_and_length"}, {"dead_neuron", 3}})
                   ->losses(batch({{.9, .8, .5, 0, true}}, 3, 2)),
               std::invalid_argument);
  EXPECT_THROW(make_objective({{"kind", "state_and_length"}, {"illegal_underflow", "push"}}),
               std::invalid_argument);
}

// Equation 17 through a whole network: dE/dW = 2 (v + L - S)(dL/dW - dS/dW).
TEST(StateAndLengthNetwork, TheGradientIsThatOfStateAndLength) {
  const Recognizer model(Alphabet({"a", "b"}), Json{{"architecture", "nnpda"},
                                                    {"output", "own"},
                                                    {"states", 3},
                                                    {"dtype", "float64"},
                                                    {"underflow", "continue"}});
  const Tensor words = at::tensor({0, 0, 1, 0, 1, 1}, at::kLong).view({1, 6});
  {
    at::NoGradGuard guard;
    for (const auto& [name, tensor] : model.parameters())
      if (name == "action.bias") tensor.fill_(1);
  }
  const Recognition said = model.run(words);
  const Tensor last = said.hiddens[0][7];
  ASSERT_GT(last[3].item<double>(), 0) << "an empty stack has no derivative";
  std::vector<Tensor> leaves;
  for (const auto& [name, tensor] : model.parameters()) leaves.push_back(tensor);
  for (const double label : {0.0, 1.0}) {
    ObjectiveBatch batch;
    batch.scores = said.scores;
    batch.hiddens = said.hiddens;
    batch.labels = at::full({1}, label, at::kDouble);
    const auto objective = make_objective("state_and_length");
    const auto slopes =
        gradients({objective->losses(batch).sum()}, leaves, {}, {.keep_graph = true});
    const auto of_state = gradients({last[2]}, leaves, {}, {.keep_graph = true});
    const auto of_length = gradients({last[3]}, leaves, {}, {.keep_graph = true});
    const double s = last[2].item<double>(), l = last[3].item<double>();
    const double v = label > 0 ? 1 : std::min(0.0, s - l);
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      const Tensor length = of_length[i].defined() ? of_length[i] : at::zeros_like(leaves[i]);
      EXPECT_LT(deviation(slopes[i], 2 * (v + l - s) * (length - of_state[i])), 1e-12);
    }
  }
}

}  // namespace
}  // namespace pushdown::state_and_length_test
