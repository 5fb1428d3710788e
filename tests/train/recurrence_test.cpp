// Training of networks with coupling through the state, noise on the state and states carried
// forward: learning algorithms, resuming, stored models.
#include <gtest/gtest.h>

#include "train/gradients.h"
#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::recurrence_test {
namespace {

using namespace testing_support;

Json scalar_stack() {
  return {{"kind", "parallel_superposition"}, {"stacks", 1}, {"read_depth", 2}, {"no_op", true}};
}

Json network(const char* controller, const char* coupling, const char* carry, double noise) {
  return {{"controller", {{"kind", controller}, {"hidden", 3}}},
          {"stack", scalar_stack()},
          {"coupling", coupling},
          {"carry_forward", carry},
          {"noise", noise},
          {"seed", 5}};
}

RecognizerPtr recognizer(Json options, double scale = 1) {
  const auto model = std::make_shared<Recognizer>(Alphabet({"a", "b"}), options);
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : model->parameters()) tensor.mul_(scale);
  return model;
}

StringBatch strings(std::int64_t batch, std::int64_t length) {
  return random_strings(batch, length, 2, 3);
}

std::vector<Tensor> gradients(const Recognizer& model, const Json& learning,
                              std::int64_t length = 6) {
  return gradient(model, learning, strings(2, length)).gradients;
}

// Algorithms that go forward in time take the state apart and restore it after each symbol.
TEST(RecurrenceLearning, ForwardAndBackwardAgree) {
  for (const char* controller : {"elman", "lstm", "mrnn"})
    for (const char* coupling : {"input", "state"})
      for (const char* carry : {"none", "soft", "counter"}) {
        Json options = network(controller, coupling, carry, 0);
        options["dtype"] = "float64";
        const auto model = recognizer(options, 6);
        const auto wanted = gradients(*model, "bptt");
        for (const Json& other : {Json("rtrl"), Json{{"kind", "tbptt"}, {"window", 7}},
                                  Json{{"kind", "uoro"}, {"truncation", 7}}}) {
          const auto got = gradients(*model, other);
          for (std::size_t i = 0; i < wanted.size(); ++i)
            EXPECT_LT(deviation(got[i], wanted[i]), 1e-10)
                << options << ' ' << other << ' ' << model->parameters()[i].first;
        }
        // An estimate. The test only checks that it can be made.
        for (const Tensor& gradient : gradients(*model, "uoro"))
          EXPECT_TRUE(gradient.isfinite().all().item<bool>());
      }
}

// A string in pieces draws the same numbers as the whole string.
TEST(RecurrenceLearning, PiecesDrawTheSameNoise) {
  Json options = network("elman", "state", "counter", 0.3);
  options["dtype"] = "float64";
  const auto model = recognizer(options, 6);
  const auto losses = [&](const Json& learning) {
    Random random(1);
    return make_learning(learning)
        ->gradient(*model, *make_objective("stepwise"), strings(2, 6), random)
        .losses;
  };
  const auto wanted = losses("bptt");
  const auto got = losses({{"kind", "tbptt"}, {"window", 2}});
  for (std::size_t b = 0; b < wanted.size(); ++b) EXPECT_NEAR(got[b], wanted[b], 1e-12);
}

std::unique_ptr<Trainer> trainer(const Json& options, const Json& learning) {
  return std::make_unique<Trainer>(
      recognition(recognizer(options), counted_strings(), nullptr),
      Json{{"learning", learning},
           {"batch", 4},
           {"epochs", 20},
           {"seed", 4},
           {"stop_patience", 0},
           {"stop_accuracy", 0},
           {"optimizer", {{"kind", "adam"}, {"learning_rate", 0.02}}}});
}

TEST(RecurrenceTraining, ContinuesBitForBitAfterAStop) {
  const Json options = network("elman", "state", "counter", 0.1);
  for (const Json& learning :
       {Json("bptt"), Json{{"kind", "tbptt"}, {"window", 2}}, Json("rtrl"), Json("uoro")}) {
    const auto whole = trainer(options, learning);
    for (int epoch = 0; epoch < 3; ++epoch) whole->run_epoch();
    const Scratch scratch;
    expect_resumed([&] { return trainer(options, learning); }, *whole, 11, scratch / "run");
  }
}

TEST(RecurrenceTraining, LowersTheLossWithEveryOption) {
  for (const char* carry : {"none", "soft", "counter"}) {
    const auto training = trainer(network("elman", "state", carry, 0.05), "bptt");
    for (int epoch = 0; epoch < 8; ++epoch) training->run_epoch();
    EXPECT_LT(training->history().back().train_loss, 0.9 * training->history().front().train_loss)
        << carry;
  }
}

// Descriptions of models from before these options existed.
TEST(StoredModels, WithoutOptionsOfTheRecurrenceHaveThePlainOne) {
  const auto model = small_model(Json{{"kind", "superposition"}, {"size", 3}});
  Json description = describe_model(*model);
  for (const char* key : {"coupling", "noise", "noise_mean", "carry_forward"})
    ASSERT_EQ(description["options"].erase(key), 1u) << key;
  ASSERT_EQ(description["options"]["stack"].erase("temperature"), 1u);
  const auto loaded = model_from_description(description);
  EXPECT_EQ(loaded->options(), model->options());
  ASSERT_EQ(loaded->parameters().size(), model->parameters().size());
  EXPECT_TRUE(same(weights(*loaded), weights(*model)));
}

}  // namespace
}  // namespace pushdown::recurrence_test
