// The learning algorithms: gradients that are approximations or estimates, and what they refuse.
// Those that are exact are compared in tests/contract.
// label: long
#include "train/learning/learning.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/golden.h"
#include "train/gradients.h"
#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::learning_test {
namespace {

using namespace testing_support;

Recognizer recognizer(Json options) {
  options["dtype"] = "float64";
  options["seed"] = 7;
  return Recognizer(Alphabet({"a", "b"}), options);
}
Json pair_of(const Json& controller, const Json& stack) {
  return {{"controller", controller}, {"stack", stack}};
}

StringBatch strings(std::int64_t batch, std::int64_t length) {
  return random_strings(batch, length, 2, 3);
}

Recognizer small(const Json& more = Json::object()) {
  Json options =
      pair_of({{"kind", "elman"}, {"hidden", 3}}, {{"kind", "superposition"}, {"size", 2}});
  options.update(more);
  return recognizer(options);
}

TEST(TruncatedBackpropagation, SumsThePiecesFromConstantStates) {
  const auto model = small({{"passes", 2}});
  const auto batch = strings(2, 6);
  const Tensor words = model.input(batch.words);  // seven symbols: pieces of 3, 3 and 1
  const auto got = gradient(model, Json{{"kind", "tbptt"}, {"window", 3}}, batch);
  for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad() = Tensor();
  double loss = 0;
  for (const std::int64_t first : {0, 3, 6}) {
    NetworkStatePtr state;
    {
      at::NoGradGuard guard;
      state = model.network().initial(2, 7);
      if (first > 0)
        state = model.network().advance(words.narrow(1, 0, first), 2, state, nullptr).state;
    }
    const auto count = std::min<std::int64_t>(3, 7 - first);
    const auto made = model.network().advance(words.narrow(1, first, count), 2, state, nullptr);
    const Tensor scores = model.scores(made.hiddens);
    const Tensor losses = -(batch.labels.unsqueeze(1) * scores.sigmoid().log() +
                            (1 - batch.labels).unsqueeze(1) * (1 - scores.sigmoid()).log());
    (losses.sum() / 2).backward();
    loss += losses.sum().item<double>();
  }
  for (std::size_t i = 0; i < got.gradients.size(); ++i)
    EXPECT_LT(deviation(got.gradients[i], model.parameters()[i].second.grad()), 1e-11);
  EXPECT_NEAR(got.values.losses[0] + got.values.losses[1], loss, 1e-11);
  // This gradient differs from that of the whole string.
  const auto whole = gradient(model, "bptt", batch);
  double difference = 0;
  for (std::size_t i = 0; i < got.gradients.size(); ++i)
    difference = std::max(difference, deviation(got.gradients[i], whole.gradients[i]));
  EXPECT_GT(difference, 1e-4);
}

TEST(UnbiasedOnline, IsExactForOneSymbol) {
  const auto model = small({{"end_symbol", false}});
  const auto batch = strings(3, 1);
  const auto wanted = gradient(model, "bptt", batch);
  for (const std::uint64_t seed : {1, 2, 3})
    expect_same(model, gradient(model, "uoro", batch, "stepwise", seed), wanted, 1e-12);
}

TEST(UnbiasedOnline, IsAFunctionOfOnlyItsStream) {
  const auto model = small();
  const auto batch = strings(2, 4);
  for (const char* estimate : {"string", "batch"}) {
    const Json uoro{{"kind", "uoro"}, {"estimate", estimate}};
    const auto a = gradient(model, uoro, batch, "stepwise", 5),
               b = gradient(model, uoro, batch, "stepwise", 5);
    EXPECT_TRUE(same(a.gradients, b.gradients));
    EXPECT_FALSE(same(a.gradients, gradient(model, uoro, batch, "stepwise", 6).gradients));
  }
}

TEST(UnbiasedOnline, IsTheGradientInTheMeanOfASecondOrderNetwork) {
  expect_unbiased(
      recognizer(pair_of({{"kind", "second_order"}, {"hidden", 3}}, {{"kind", "none"}})), "uoro",
      strings(1, 3), 600);
}

// Iterative refinement, with which the experiments train networks of higher order.
TEST(UnbiasedOnline, IsTheGradientInTheMeanWithFurtherPasses) {
  Json second = pair_of({{"kind", "second_order"}, {"hidden", 3}}, {{"kind", "none"}});
  Json analog{{"architecture", "nnpda"}, {"states", 2}};
  for (Json* options : {&second, &analog}) {
    options->update({{"passes", 3}, {"carry", "first"}});
    const auto model = recognizer(*options);
    expect_same(model, gradient(model, "rtrl", strings(2, 3)),
                gradient(model, "bptt", strings(2, 3)));
    expect_unbiased(model, Json{{"kind", "uoro"}, {"estimate", "batch"}}, strings(1, 3), 600);
  }
}

TEST(UnbiasedOnline, IsTheGradientInTheMeanWithAStack) {
  // With larger weights, more gradient flows from step to step.
  const auto model = small();
  {
    at::NoGradGuard guard;
    for (const auto& [name, parameter] : model.parameters()) parameter.mul_(3);
  }
  expect_unbiased(model, Json{{"kind", "uoro"}, {"estimate", "batch"}}, strings(2, 3), 600);
  expect_unbiased(model, Json{{"kind", "uoro"}, {"truncation", 2}}, strings(1, 5), 300);
}

// Pieces of a network without a stack run with kernels, which cannot be differentiated twice.
TEST(UnbiasedOnline, IsTheGradientInTheMeanOfLongerPieces) {
  const auto model =
      recognizer(pair_of({{"kind", "second_order"}, {"hidden", 3}}, {{"kind", "none"}}));
  {
    at::NoGradGuard guard;
    for (const auto& [name, parameter] : model.parameters()) parameter.mul_(2);
  }
  expect_unbiased(model, Json{{"kind", "uoro"}, {"truncation", 2}}, strings(1, 5), 600);
}

TEST(UnbiasedOnline, KnowsThatTheFirstStateCanDependOnParameters) {
  // The vector of the bottom symbol is learned, and read before any step.
  expect_unbiased(
      recognizer(pair_of(
          {{"kind", "elman"}, {"hidden", 2}},
          {{"kind", "vector_nondeterministic"}, {"fast", false}, {"states", 1}, {"size", 1}})),
      "uoro", strings(1, 2), 200);
}

TEST(UnbiasedOnline, IsTheGradientInTheMeanOfAnAnalogPushdownNetwork) {
  expect_unbiased(recognizer({{"architecture", "nnpda"}, {"states", 2}}), "uoro", strings(1, 3),
                  400);
}

// The error of state and length, of strings that push and pop.
TEST(UnbiasedOnlineSlow, IsTheGradientInTheMeanOfStateAndLength) {
  const auto model = recognizer({{"architecture", "nnpda"}, {"states", 2}, {"output", "own"}});
  {
    const at::NoGradGuard guard;
    for (const auto& [name, parameter] : model.parameters())
      if (name == "action.weight") {  // a is pushed and b is popped, roughly
        parameter.select(-1, parameter.size(-1) - 3).add_(1.5);
        parameter.select(-1, parameter.size(-1) - 2).sub_(1.5);
      }
  }
  auto batch = strings(4, 5);
  batch.viable = at::tensor({7, 5, 7, 4}, at::kLong);
  expect_unbiased(model, "uoro", batch, 300, "state_and_length");
}

TEST(Learning, NeedsTrainableParametersAndForwardInTimeTensors) {
  const auto batch = strings(2, 5);
  const auto told = [&](const Recognizer& model, const char* kind) {
    return message([&] { gradient(model, kind, batch); });
  };
  const auto frozen = small();
  for (const auto& [name, parameter] : frozen.parameters()) parameter.requires_grad_(false);
  EXPECT_CONTAINS(told(frozen, "rtrl"), "no trainable parameter");
  const auto automaton =
      recognizer(pair_of({{"kind", "elman"}, {"hidden", 3}}, {{"kind", "nondeterministic"}}));
  const auto attention = recognizer(
      {{"architecture", "transformer"}, {"hidden", 6}, {"heads", 2}, {"feedforward", 5}});
  for (const char* kind : {"rtrl", "uoro"}) {
    EXPECT_CONTAINS(told(automaton, kind), "nondeterministic stack");
    EXPECT_CONTAINS(told(attention, kind), "of tensors");
  }
}

std::unique_ptr<Trainer> trainer(const Json& network, const Json& more) {
  Json options{{"batch", 4},         {"epochs", 20},
               {"seed", 4},          {"stop_patience", 0},
               {"stop_accuracy", 0}, {"optimizer", {{"learning_rate", 0.02}}}};
  options.update(more);
  const auto model = std::make_shared<Recognizer>(Alphabet({"a", "b"}), network);
  return std::make_unique<Trainer>(recognition(model, counted_strings(), nullptr), options);
}

TEST(LearningByTraining, LossesFall) {
  Json network = pair_of({{"kind", "second_order"}, {"hidden", 3}},
                         {{"kind", "parallel_superposition"}, {"stacks", 1}, {"no_op", true}});
  network["seed"] = 5;
  for (const char* carry : {"none", "soft", "counter"})
    for (const auto& kind : learning_kinds()) {
      network.update({{"coupling", "state"}, {"noise", 0.05}, {"carry_forward", carry}});
      const auto training = trainer(network, {{"learning", kind.name}});
      for (int epoch = 0; epoch < 8; ++epoch) training->run_epoch();
      EXPECT_LT(training->history().back().train_loss, 0.9 * training->history().front().train_loss)
          << kind.name << ' ' << carry;
    }
}

TEST(LearningByTraining, NoiseChangesTheGradientAndNotTheWeights) {
  const Json network = pair_of({{"kind", "second_order"}, {"hidden", 3}}, {{"kind", "none"}}),
             still{{"optimizer", {{"kind", "sgd"}, {"learning_rate", 1e-30}}}};
  Json changed = still;
  changed["noise"] = {{"share", 0.3}};
  const auto plain = trainer(network, still), noisy = trainer(network, changed);
  const auto before = weights(*noisy->model());
  EXPECT_NE(plain->step()->gradient_norm, noisy->step()->gradient_norm);
  EXPECT_TRUE(same(weights(*noisy->model()), before));
}

}  // namespace
}  // namespace pushdown::learning_test
