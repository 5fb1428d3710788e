// The learning algorithms, compared with backpropagation through whole strings.
// label: long
#include "train/learning/learning.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/parallel.h"
#include "controller/controller.h"
#include "support/golden.h"
#include "train/gradients.h"
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

StringBatch strings(std::int64_t batch, std::int64_t length, std::uint64_t seed = 3) {
  Random random(seed);
  StringBatch result{at::empty({batch, length}, at::kLong), at::empty({batch}, at::kDouble), {}};
  for (std::int64_t i = 0; i < batch * length; ++i)
    result.words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(2));
  for (std::int64_t b = 0; b < batch; ++b)
    result.labels.data_ptr<double>()[b] = static_cast<double>(random.below(2));
  return result;
}

// Every controller with every stack whose state is a list of tensors.
std::vector<Json> smooth_models() {
  const std::vector<Json> stacks{
      {{"kind", "none"}},
      {{"kind", "superposition"}, {"size", 2}},
      {{"kind", "parallel_superposition"}, {"stacks", 2}},
      {{"kind", "list"}, {"lists", 2}},
  };
  std::vector<Json> all;
  for (const auto& kind : controller_kinds())
    for (const auto& stack : stacks)
      all.push_back(pair_of({{"kind", kind.name}, {"hidden", 3}}, stack));
  const Json elman{{"kind", "elman"}, {"hidden", 3}};
  for (const Json& stack : std::vector<Json>{
           {{"kind", "superposition"}, {"size", 2}, {"depth", 2}, {"no_op", false}},
           {{"kind", "baby_ntm"}, {"cells", 4}, {"size", 2}},
           {{"kind", "stratification"}, {"size", 2}},
           {{"kind", "stratification_deque"}, {"size", 2}},
           {{"kind", "analog"}, {"size", 2}},
           {{"kind", "nondeterministic"}, {"fast", false}, {"window", 3}},
           {{"kind", "vector_nondeterministic"}, {"fast", false}, {"states", 1}, {"size", 2}}})
    all.push_back(pair_of(elman, stack));
  all.push_back(pair_of({{"kind", "lstm"}, {"hidden", 2}, {"layers", 2}}, stacks[1]));
  for (const Json& how : {Json{{"carry", "first"}}, {{"memory_in_passes", "moves"}}})
    for (Json options : {pair_of(elman, stacks[1]), pair_of(elman, stacks[3])}) {
      options.update(how);
      all.push_back(options);
    }
  all.push_back(pair_of({{"kind", "second_order"}, {"hidden", 3}, {"layers", 2}}, stacks[0]));
  Json learned = pair_of({{"kind", "lstm"}, {"hidden", 2}}, stacks[1]);
  learned["initial_state"] = "learned";
  all.push_back(learned);
  for (const std::size_t stack : {1, 3}) {
    Json reading = pair_of(elman, stacks[stack]);
    reading["output"] = "hidden_and_reading";
    all.push_back(reading);
  }
  return all;
}

class RealTimeLearning : public testing::TestWithParam<Json> {};

TEST_P(RealTimeLearning, IsTheGradientOfBackpropagation) {
  for (const bool iterate : {false, true}) {
    Json options = GetParam();
    options["passes"] = iterate ? 2 : 1;
    options["end_symbol"] = !iterate;
    const auto model = recognizer(options);
    const auto batch = strings(2, iterate ? 3 : 4);
    const Json objective = iterate ? "final" : "stepwise";
    const auto wanted = gradient(model, "bptt", batch, objective);
    expect_same(model, gradient(model, "rtrl", batch, objective), wanted);
    // The expected gradient is not 0.
    double largest = 0;
    for (const Tensor& tensor : wanted.gradients)
      largest = std::max(largest, tensor.abs().max().item<double>());
    EXPECT_GT(largest, 1e-2);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, RealTimeLearning, testing::ValuesIn(smooth_models()),
                         [](const auto& info) {
                           return fmt::format(
                               "{}_{}_{}", info.index,
                               info.param["controller"]["kind"].template get<std::string>(),
                               info.param["stack"]["kind"].template get<std::string>());
                         });

Recognizer small(const Json& more = Json::object()) {
  Json options =
      pair_of({{"kind", "elman"}, {"hidden", 3}}, {{"kind", "superposition"}, {"size", 2}});
  options.update(more);
  return recognizer(options);
}

TEST(Learning, AllAlgorithmsAgreeWhereTheyMust) {
  for (const std::int64_t passes : {1, 3})
    for (const char* objective : {"stepwise", "final"}) {
      const auto model = small({{"passes", passes},
                                {"carry", passes > 1 ? "first" : "last"},
                                {"output", objective[0] == 'f' ? "hidden_and_reading" : "affine"}});
      // With its end symbol a string of four symbols has five.
      const auto batch = strings(3, 4);
      const auto wanted = gradient(model, "bptt", batch, objective);
      for (const Json& exact :
           std::vector<Json>{"rtrl",
                             "tbptt",
                             {{"kind", "tbptt"}, {"window", 5}},
                             {{"kind", "uoro"}, {"truncation", 5}},
                             {{"kind", "uoro"}, {"truncation", 9}, {"estimate", "batch"}}})
        expect_same(model, gradient(model, exact, batch, objective), wanted);
      // Losses and scores are exact for every gradient.
      for (const Json& other : std::vector<Json>{"uoro", {{"kind", "tbptt"}, {"window", 2}}}) {
        const auto got = gradient(model, other, batch, objective);
        for (std::size_t b = 0; b < 3; ++b) {
          EXPECT_NEAR(got.values.losses[b], wanted.values.losses[b], 1e-11);
          EXPECT_NEAR(got.values.scores[b], wanted.values.scores[b], 1e-11);
        }
      }
    }
}

TEST(Learning, GradientsAreAdded) {
  const auto model = small();
  const auto batch = strings(2, 3);
  const auto once = gradient(model, "bptt", batch);
  for (const char* kind : {"rtrl", "tbptt"}) {
    gradient(model, kind, batch);
    Random random(1);
    make_learning(kind)->gradient(model, *make_objective("stepwise"), batch, random);
    for (std::size_t i = 0; i < once.gradients.size(); ++i)
      EXPECT_LT(deviation(model.parameters()[i].second.grad(), 2 * once.gradients[i]), 1e-9);
  }
}

TEST(Learning, FrozenParametersStayWithoutGradient) {
  const auto model = small();
  model.parameters()[1].second.requires_grad_(false);
  const auto batch = strings(2, 3);
  for (const char* kind : {"bptt", "rtrl", "uoro", "tbptt"}) {
    gradient(model, kind, batch);
    EXPECT_FALSE(model.parameters()[1].second.grad().defined()) << kind;
    EXPECT_TRUE(model.parameters()[0].second.grad().defined()) << kind;
  }
  for (const auto& [name, parameter] : model.parameters()) parameter.requires_grad_(false);
  EXPECT_CONTAINS(complaint<std::invalid_argument>([&] { gradient(model, "rtrl", batch); }),
                  "no trainable parameter");
}

TEST(Learning, EmptyStringsAreLearnedFrom) {
  const auto batch = strings(2, 0);
  for (const bool end_symbol : {true, false}) {
    const auto model = small({{"end_symbol", end_symbol}});
    const auto wanted = gradient(model, "bptt", batch);
    for (const char* kind : {"rtrl", "uoro", "tbptt"})
      expect_same(model, gradient(model, kind, batch), wanted);
  }
}

TEST(Learning, NumbersDoNotDependOnTheThreads) {
  const auto model = small();
  const auto batch = strings(5, 4);
  for (const char* kind : {"rtrl", "uoro"}) {
    const auto alone = gradient(model, kind, batch);
    set_thread_count(3);
    const auto together = gradient(model, kind, batch);
    set_thread_count(1);
    EXPECT_TRUE(same(alone.gradients, together.gradients)) << kind;
    EXPECT_EQ(alone.values.losses, together.values.losses);
  }
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

// At once with gradients that end at the borders, or piece by piece.
TEST(TruncatedBackpropagation, IsTheSameAtOnceAndInPieces) {
  const auto batch = strings(3, 11);
  const Json still{{"kind", "parallel_superposition"}, {"stacks", 2}, {"no_op", true}},
      lstm{{"kind", "lstm"}, {"hidden", 4}}, mrnn{{"kind", "mrnn"}, {"hidden", 5}, {"layers", 2}};
  std::vector<Json> models{pair_of(lstm, {{"kind", "none"}}),
                           pair_of(mrnn, {{"kind", "superposition"}, {"size", 3}}),
                           pair_of(lstm, {{"kind", "stratification"}, {"size", 3}}),
                           pair_of(lstm, {{"kind", "stratification_queue"}, {"memories", 2}}),
                           pair_of(lstm, {{"kind", "list"}, {"lists", 2}}),
                           pair_of(mrnn, {{"kind", "baby_ntm"}, {"cells", 7}, {"size", 2}}),
                           pair_of(lstm, {{"kind", "nondeterministic"}})};
  for (const char* carry : {"none", "soft", "counter"}) {
    Json model = pair_of(mrnn, still);
    model.update({{"coupling", "state"}, {"noise", 0.1}, {"carry_forward", carry}});
    models.push_back(model);
    model["passes"] = 2;
    model["initial_state"] = "learned";
    models.push_back(model);
  }
  for (Json model : models)
    for (const std::int64_t window : {1, 4, 11}) {
      const Json kind{{"kind", "tbptt"}, {"window", window}};
      model["kernels"] = false;
      const auto wanted = gradient(recognizer(model), kind, batch);
      model["kernels"] = true;
      const auto got = gradient(recognizer(model), kind, batch);
      for (std::size_t b = 0; b < 3; ++b)
        EXPECT_NEAR(got.values.losses[b], wanted.values.losses[b], 1e-10) << model;
      ASSERT_EQ(got.gradients.size(), wanted.gradients.size());
      for (std::size_t i = 0; i < got.gradients.size(); ++i)
        EXPECT_LT(deviation(got.gradients[i], wanted.gradients[i]), 1e-10)
            << model << ' ' << i << ", window " << window;
    }
}

TEST(TruncatedBackpropagation, WorksOnNetworksWithoutAListOfTensors) {
  const auto batch = strings(2, 5);
  for (const Json& options : std::vector<Json>{
           pair_of({{"kind", "elman"}, {"hidden", 3}}, {{"kind", "nondeterministic"}}),
           {{"architecture", "transformer"}, {"hidden", 6}, {"heads", 2}, {"feedforward", 5}}}) {
    const auto model = recognizer(options);
    const auto wanted = gradient(model, "bptt", batch);
    const auto got = gradient(model, Json{{"kind", "tbptt"}, {"window", 2}}, batch);
    for (std::size_t b = 0; b < 2; ++b)
      EXPECT_NEAR(got.values.losses[b], wanted.values.losses[b], 1e-10);
    for (const char* kind : {"rtrl", "uoro"}) {
      const auto said = complaint<std::invalid_argument>([&] { gradient(model, kind, batch); });
      EXPECT_CONTAINS(said, "of tensors");
      if (options.contains("stack")) {
        EXPECT_CONTAINS(said, "nondeterministic stack");
      }
    }
  }
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

// The pushdown networks, with the definitions and not with their own kernels.
class StepwiseOutside : public Objective {
 public:
  Tensor losses(const ObjectiveBatch& batch) const override {
    return make_objective("stepwise")->losses(batch);
  }
};

std::vector<Json> pushdown_networks() {
  std::vector<Json> all;
  for (const char* order : {"second", "third"})
    for (const char* reading : {"top", "action"})
      all.push_back({{"architecture", "nspda"},
                     {"order", order},
                     {"reading", reading},
                     {"states", 4},
                     {"memory_in_passes", reading == std::string("action") ? "moves" : "rests"},
                     {"passes", order == std::string("third") ? 2 : 1}});
  for (const char* order : {"second", "third", "full"})
    for (const char* derivative : {"exact", "top_and_bottom"})
      all.push_back({{"architecture", "nnpda"},
                     {"order", order},
                     {"stack_derivative", derivative},
                     {"passes", order == std::string("third") ? 3 : 1},
                     {"states", 2}});
  return all;
}

TEST(PushdownNetworks, LearnForwardWhatTheyLearnBackward) {
  for (const Json& options : pushdown_networks()) {
    const auto model = recognizer(options);
    const auto batch = strings(3, 5);
    const auto wanted = gradient(model, "bptt", batch);
    expect_same(model, gradient(model, "rtrl", batch), wanted);
    for (const Json& learning : std::vector<Json>{
             "rtrl", "bptt", {{"kind", "uoro"}, {"truncation", 6}}, {{"kind", "tbptt"}}}) {
      for (const auto& [name, parameter] : model.parameters()) parameter.mutable_grad() = Tensor();
      Random random(1);
      make_learning(learning)->gradient(model, StepwiseOutside(), batch, random);
      for (std::size_t i = 0; i < wanted.gradients.size(); ++i) {
        const auto& [name, parameter] = model.parameters()[i];
        EXPECT_LT(deviation(parameter.grad().defined() ? parameter.grad()
                                                       : at::zeros_like(parameter.detach()),
                            wanted.gradients[i]),
                  1e-9)
            << options << learning << name;
      }
    }
  }
}

TEST(UnbiasedOnline, IsTheGradientInTheMeanOfAnAnalogPushdownNetwork) {
  expect_unbiased(recognizer({{"architecture", "nnpda"}, {"states", 2}}), "uoro", strings(1, 3),
                  400);
}

TEST(LearningOptions, AreChecked) {
  EXPECT_EQ(resolve_learning("tbptt"), (Json{{"kind", "tbptt"}, {"window", 50}}));
  EXPECT_EQ(resolve_learning("uoro"),
            (Json{{"kind", "uoro"}, {"epsilon", 1e-5}, {"truncation", 1}, {"estimate", "string"}}));
  const auto made = [](const Json& options) {
    return complaint<std::invalid_argument>([&] { make_learning(options); });
  };
  EXPECT_CONTAINS(made("btpt"), "did you mean");
  EXPECT_CONTAINS(made({{"kind", "tbptt"}, {"window", 0}}), "'window'");
  EXPECT_CONTAINS(made({{"kind", "uoro"}, {"epsilon", 0}}), "'epsilon'");
  EXPECT_CONTAINS(made({{"kind", "rtrl"}, {"window", 3}}), "'window'");
}

}  // namespace
}  // namespace pushdown::learning_test
