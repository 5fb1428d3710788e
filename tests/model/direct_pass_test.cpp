// Passes by recorded plans, compared with the definition, step by step with LibTorch's
// graph.
#include <gtest/gtest.h>

#include "model/recorded_cases.h"
#include "support/golden.h"

namespace pushdown::direct_pass_test {
namespace {

using namespace testing_support;

class DirectPasses : public testing::TestWithParam<RecordedCase> {
 public:
  static constexpr std::int64_t kSymbols = 4;

  static StackRnn network(at::ScalarType type) {
    Random random(3);
    Recurrence recurrence = GetParam().recurrence;
    if (recurrence.embedding.defined()) recurrence.embedding = recurrence.embedding.to(type);
    return {GetParam().controller,           GetParam().stack, kSymbols,
            at::TensorOptions().dtype(type), random,           recurrence};
  }
  static Tensor words_of(std::int64_t batch, std::int64_t steps, std::uint64_t seed) {
    Random random(seed);
    const Tensor words = at::empty({batch, steps}, at::kLong);
    for (std::int64_t i = 0; i < words.numel(); ++i)
      words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(kSymbols));
    return words;
  }
};

Tensor probe_of(const Tensor& hiddens) {
  return at::arange(hiddens.numel(), hiddens.options()).view_as(hiddens).cos();
}

PlannedBatch planned(const StackRnn& network, const PassRequest& request) {
  return std::get<PlannedBatch>(network.route(request));
}

std::vector<Tensor> taken_gradients(const StackRnn& network) {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : network.parameters()) {
    all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
    tensor.mutable_grad() = Tensor();
  }
  return all;
}

TEST_P(DirectPasses, EqualTheDefinition) {
  for (const auto& [type, bound] : {std::tuple{at::kDouble, 1e-9}, {at::kFloat, 5e-5}}) {
    const StackRnn rnn = network(type);
    // The second round uses the plans of the first one with other symbols and other parameters.
    for (const std::uint64_t round : {1, 2}) {
      for (const auto& [batch, steps, window, refinement] : {std::tuple{3, 12, 0, Refinement()},
                                                             {1, 1, 0, Refinement()},
                                                             {2, 2, 0, Refinement(3, true)},
                                                             {1, 5, 0, Refinement(2, false)},
                                                             {2, 7, 3, Refinement()}}) {
        if (rnn.stack().recorded({.batch = batch, .steps = steps, .cut = window > 0}) == nullptr)
          continue;
        const Tensor words = words_of(batch, steps, round);
        Random drawn(7), same(7);
        const Pass pass = run_plan(planned(rnn, {words, refinement, &drawn, window}));
        const Tensor got = pass.hiddens.narrow(1, 1, steps * refinement.passes);
        pass.backward(at::constant_pad_nd(probe_of(got), {0, 0, 1, 0}));
        const auto gradients = taken_gradients(rnn);
        const Tensor inputs = at::one_hot(words, kSymbols).to(type);
        const Tensor all = window > 0 ? rnn.run_recorded(inputs, {}, &same, window)
                                      : rnn.run_stepwise(inputs, &same, refinement);
        const Tensor wanted = all.narrow(1, 1, all.size(1) - 1);
        (wanted * probe_of(wanted.detach())).sum().backward();
        EXPECT_LT(deviation(got, wanted.detach()), bound);
        const auto expected = taken_gradients(rnn);
        for (std::size_t i = 0; i < expected.size(); ++i)
          EXPECT_LT(deviation(gradients[i], expected[i]),
                    bound * (1 + expected[i].abs().max().item<double>()))
              << rnn.parameters()[i].first << ", " << batch << " x " << steps << ", " << type;
      }
      at::NoGradGuard guard;
      for (const auto& [name, tensor] : rnn.parameters()) tensor.mul_(1.5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, DirectPasses, testing::ValuesIn(recorded_cases()));

StackRnn small_network(const Recurrence& recurrence = {}) {
  Random random(5);
  return {{{"kind", "gru"}, {"hidden", 5}},
          {{"kind", "superposition"}, {"size", 3}},
          3,
          at::kDouble,
          random,
          recurrence};
}

TEST(DirectPass, AddsToGradientsAndStartsFromTrainedVectors) {
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
  const auto twice = taken_gradients(network);
  const Tensor hiddens = network.run_stepwise(at::one_hot(words, 3).to(at::kDouble));
  hiddens.sum().backward();
  const auto wanted = taken_gradients(network);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_LT(deviation(once[i], wanted[i]), 1e-12) << network.parameters()[i].first;
    EXPECT_LT(deviation(twice[i], 2 * wanted[i]), 1e-12) << network.parameters()[i].first;
    EXPECT_GT(wanted[i].abs().max().item<double>(), 0) << network.parameters()[i].first;
  }
}

TEST(DirectPass, FollowsParametersThatMove) {
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

TEST(DirectPass, FrozenParametersGetNoGradient) {
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
}  // namespace pushdown::direct_pass_test
