// Training with every learning algorithm: the loss falls, and a resumed training continues bit for
// bit, with noise on the weights and an annealed learning rate.
#include <gtest/gtest.h>

#include "train/problems/recognition.h"
#include "train/toy.h"

namespace pushdown::learning_resume_test {
namespace {

using namespace testing_support;

const Json kWithStack{{"controller", {{"kind", "second_order"}, {"hidden", 3}}},
                      {"stack", {{"kind", "superposition"}, {"size", 2}}}};

std::unique_ptr<Trainer> trainer(const Json& learning, const Json& more = Json::object(),
                                 Json network = kWithStack) {
  network["seed"] = 5;
  const auto model = std::make_shared<Recognizer>(Alphabet({"a", "b"}), network);
  Json options{{"learning", learning},
               {"batch", 4},
               {"epochs", 20},
               {"seed", 4},
               {"stop_patience", 0},
               {"stop_accuracy", 0},
               {"optimizer", {{"kind", "sgd"}, {"learning_rate", 0.05}}}};
  options.update(more);
  return std::make_unique<Trainer>(recognition(model, counted_strings(), nullptr), options);
}

const std::vector<Json>& algorithms() {
  static const std::vector<Json> all{"bptt", {{"kind", "tbptt"}, {"window", 2}}, "rtrl", "uoro"};
  return all;
}

TEST(LearningByTraining, LossesFall) {
  for (const Json& learning : algorithms()) {
    auto t = trainer(learning);
    std::vector<double> losses;
    for (int epoch = 0; epoch < 5; ++epoch) losses.push_back(t->run_epoch()->train_loss);
    EXPECT_LT(losses.back(), 0.9 * losses.front()) << learning;
  }
}

TEST(LearningByTraining, RealTimeAndBackpropagationAgree) {
  auto back = trainer("bptt"), forward = trainer("rtrl");
  for (int epoch = 0; epoch < 2; ++epoch) {
    back->run_epoch();
    forward->run_epoch();
  }
  const auto a = weights(*back->model()), b = weights(*forward->model());
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(at::allclose(a[i], b[i], 1e-3, 1e-4));
}

void expect_to_go_on(const Json& learning, const Json& more, const Json& network) {
  auto whole = trainer(learning, more, network);
  for (int epoch = 0; epoch < 3; ++epoch) whole->run_epoch();
  Scratch scratch;
  auto stopped = trainer(learning, more, network);
  int updates = 0;
  stopped->callbacks.should_stop = [&] { return ++updates > 11; };
  while (stopped->run_epoch()) {
  }
  EXPECT_EQ(stopped->updates_done(), 11);
  stopped->save(scratch / "run");
  auto resumed = resume_trainer(scratch / "run");
  while (resumed->epochs_done() < 3) resumed->run_epoch();
  EXPECT_TRUE(same(weights(*whole->model()), weights(*resumed->model()))) << learning << network;
  EXPECT_EQ(timeless(whole->history()), timeless(resumed->history())) << learning << network;
}

TEST(LearningByTraining, ContinuesBitForBitAfterAStop) {
  Json noisy{{"noise", {{"share", 0.3}, {"first_epoch", 2}}},
             {"annealing", {{"kind", "stochastic"}, {"half_life", 3}}}};
  for (const Json& learning : algorithms()) expect_to_go_on(learning, noisy, kWithStack);
  // Networks of higher order have a faster way.
  Json bare = kWithStack;
  bare.update({{"stack", {{"kind", "none"}}}, {"passes", 4}, {"carry", "first"}});
  expect_to_go_on("uoro", noisy, bare);
  noisy["objective"] = "state_and_length";
  expect_to_go_on("uoro", noisy, {{"architecture", "nnpda"}, {"output", "own"}});
}

TEST(LearningByTraining, NoiseChangesTheGradientAndNotTheWeights) {
  auto plain = trainer("bptt", {{"optimizer", {{"kind", "sgd"}, {"learning_rate", 1e-30}}}});
  auto noisy = trainer("bptt", {{"optimizer", {{"kind", "sgd"}, {"learning_rate", 1e-30}}},
                                {"noise", {{"share", 0.3}}}});
  const auto before = weights(*noisy->model());
  EXPECT_NE(plain->step()->gradient_norm, noisy->step()->gradient_norm);
  EXPECT_TRUE(same(weights(*noisy->model()), before));
}

}  // namespace
}  // namespace pushdown::learning_resume_test
