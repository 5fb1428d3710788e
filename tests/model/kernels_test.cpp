// The passes of recorded programs, with LibTorch's graph and without: their inputs, and how long
// their graphs and plans live. tests/contract compares their numbers with the definitions.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/gradients.h"

namespace pushdown::kernels_test {
namespace {

using namespace testing_support;

// A network that reads vectors, with the gradients with respect to them.
TEST(KernelsInputs, EqualStepwise) {
  Random random(2);
  const StackRnn network(Json{{"kind", "lstm"}, {"hidden", 6}}, Json{{"kind", "nondeterministic"}},
                         4, at::TensorOptions(at::kDouble), random);
  const Tensor values = at::arange(2 * 9 * 4, at::kDouble).sin().view({2, 9, 4});
  std::vector<Tensor> gradients, hiddens;
  for (const bool kernels : {true, false}) {
    const Tensor inputs = values.clone().set_requires_grad(true);
    hiddens.push_back(kernels ? network.run(inputs) : network.run_stepwise(inputs));
    hiddens.back().pow(2).sum().backward();
    gradients.push_back(inputs.grad());
  }
  EXPECT_LT(deviation(hiddens[0], hiddens[1]), 1e-11);
  EXPECT_LT(deviation(gradients[0], gradients[1]), 1e-11);
}

TEST(KernelsGraph, IsKeptOnRequestAndElseFreed) {
  const LanguageModel model(Alphabet({"a", "b"}), Json{{"stack", {{"kind", "superposition"}}}});
  const Tensor words = at::ones({2, 6}, at::kLong);
  for (const bool through_logits : {false, true}) {
    const auto loss = [&] {
      return through_logits ? model.logits(words).pow(2).sum()
                            : model.log_probabilities(words).sum();
    };
    const auto& weight = model.parameters().front().second;
    weight.mutable_grad() = Tensor();
    Tensor kept = loss();
    kept.backward({}, true);
    const Tensor once = weight.grad().clone();
    kept.backward();
    EXPECT_LT(deviation(weight.grad(), once * 2), 1e-6);
    EXPECT_ANY_THROW(kept.backward());
    at::NoGradGuard no_gradient;
    EXPECT_FALSE(loss().requires_grad());
  }
}

TEST(KernelsMemory, GraphsAreFreed) {
  const LanguageModel model(Alphabet({"a", "b"}), Json{{"stack", {{"kind", "superposition"}}}});
  const Tensor words = at::zeros({1, 5}, at::kLong);
  const auto& weight = model.parameters()[1].second;
  model.log_probabilities(words).sum().backward();  // the recorded graph is kept
  const auto count = weight.use_count();
  for (int i = 0; i < 3; ++i) model.log_probabilities(words).sum().backward();
  { const Tensor unused = model.logits(words); }
  EXPECT_EQ(weight.use_count(), count);
}

StackRnn small_network(const Recurrence& recurrence = {}) {
  Random random(5);
  return {{{"kind", "gru"}, {"hidden", 5}},
          {{"kind", "superposition"}, {"size", 3}},
          3,
          at::kDouble,
          random,
          recurrence};
}

PlannedBatch planned(const StackRnn& network, const PassRequest& request) {
  return std::get<PlannedBatch>(network.route(request));
}

TEST(KernelsPlans, AddToGradientsAndStartFromTrainedVectors) {
  Recurrence recurrence;
  recurrence.learned_start = true;
  const StackRnn network = small_network(recurrence);
  const Tensor words = at::tensor({0, 2, 1, 1, 0, 2}, at::kLong).view({2, 3});
  const auto take = [&] {
    Random noise(1);
    const Pass pass = run_plan(planned(network, {.words = words, .noise = &noise}));
    pass.backward(at::ones_like(pass.hiddens));
  };
  take();
  std::vector<Tensor> once;
  for (const auto& [name, tensor] : network.parameters()) once.push_back(tensor.grad().clone());
  take();
  const auto twice = taken_gradients(network.parameters());
  const Tensor hiddens = network.run_stepwise(at::one_hot(words, 3).to(at::kDouble));
  hiddens.sum().backward();
  const auto wanted = taken_gradients(network.parameters());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_LT(deviation(once[i], wanted[i]), 1e-12) << network.parameters()[i].first;
    EXPECT_LT(deviation(twice[i], 2 * wanted[i]), 1e-12) << network.parameters()[i].first;
    EXPECT_GT(wanted[i].abs().max().item<double>(), 0) << network.parameters()[i].first;
  }
}

TEST(KernelsPlans, FollowParametersThatMove) {
  const StackRnn network = small_network();
  const Tensor words = at::tensor({0, 2, 1}, at::kLong).view({1, 3});
  Random noise(1);
  const PassRequest request{.words = words, .noise = &noise};
  const Tensor before = run_plan(planned(network, request)).hiddens;
  for (auto [name, tensor] : network.parameters()) tensor.set_data(tensor.detach() * 2);
  const Tensor after = run_plan(planned(network, request)).hiddens,
               wanted = network.run_stepwise(at::one_hot(words, 3).to(at::kDouble));
  EXPECT_LT(deviation(after, wanted.detach()), 1e-12);
  EXPECT_GT(deviation(after, before), 1e-3);
}

TEST(KernelsPlans, GiveFrozenParametersNoGradient) {
  const StackRnn network = small_network();
  Random before(1);
  const Tensor words = at::tensor({1, 2, 1}, at::kLong).view({1, 3});
  run_plan(planned(network, {.words = words, .noise = &before}));
  for (auto [name, tensor] : network.parameters())
    if (name.starts_with("stack.")) tensor.requires_grad_(false);
  Random noise(1);
  const Pass pass = run_plan(planned(network, {.words = words.flip(1), .noise = &noise}));
  pass.backward(at::ones_like(pass.hiddens));
  for (const auto& [name, tensor] : network.parameters())
    EXPECT_EQ(tensor.grad().defined(), !name.starts_with("stack.")) << name;
}

}  // namespace
}  // namespace pushdown::kernels_test
