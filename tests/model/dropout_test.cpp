// Dropout in recurrent networks.
#include <gtest/gtest.h>

#include "model/stack_rnn.h"
#include "support/golden.h"
#include "support/gradients.h"

namespace pushdown::dropout_test {
namespace {

using namespace testing_support;

constexpr std::int64_t kBatch = 3, kSteps = 9, kInput = 4, kHidden = 5;
constexpr double kRate = 0.3;

Recurrence with_dropout(bool embedded, double noise = 0, double rate = kRate) {
  Recurrence recurrence;
  recurrence.dropout = rate;
  if (embedded) recurrence.embedding = at::zeros({kInput, kInput}, at::kDouble);
  recurrence.noise = noise;
  return recurrence;
}

StackRnn make(const char* cell, std::int64_t layers, const Json& stack,
              const Recurrence& recurrence) {
  Random random(3);
  return StackRnn({{"kind", cell}, {"hidden", kHidden}, {"layers", layers}}, stack, kInput,
                  at::TensorOptions(at::kDouble), random, recurrence);
}
const Json kNoStack{{"kind", "none"}}, kStack{{"kind", "superposition"}, {"size", 2}};

Tensor inputs() { return random_tensor({kBatch, kSteps, kInput}, 4); }

// The stack and the recurrence of a single layer get its hidden vector without the mask, so a
// training pass gives the outputs of an evaluation times the masks.
TEST(RecurrentDropout, OfTheOutputLeavesTheRecurrenceAsItIs) {
  for (const char* cell : {"elman", "lstm", "gru"}) {
    const StackRnn network = make(cell, 1, kStack, with_dropout(false));
    Random random(9), again(9);
    const Tensor masks = at::empty({kBatch, kSteps, kHidden}, at::kDouble);
    for (std::int64_t t = 0; t < kSteps; ++t)
      for (std::int64_t b = 0; b < kBatch; ++b)
        for (std::int64_t i = 0; i < kHidden; ++i)
          masks[b][t][i] = again.uniform() < kRate ? 0 : 1 / (1 - kRate);
    const Tensor evaluated = network.run(inputs()).narrow(1, 1, kSteps);
    const Tensor trained = network.run(inputs(), &random).narrow(1, 1, kSteps);
    EXPECT_LT(deviation(trained, evaluated * masks), 1e-14) << cell;
    EXPECT_EQ(random.state(), again.state());
  }
}

// Two layers of the Elman cell, number by number.
TEST(RecurrentDropout, OfInputsAndLayersFollowsItsDefinition) {
  const StackRnn network = make("elman", 2, kNoStack, with_dropout(true, 0.2));
  std::map<std::string, Tensor> of;
  for (const auto& [name, tensor] : network.parameters()) of[name] = tensor.detach();
  Random random(9), again(9);
  const auto mask = [&] { return again.uniform() < kRate ? 0 : 1 / (1 - kRate); };
  const Tensor x = inputs();
  Tensor wanted = at::zeros({kBatch, kSteps, kHidden}, at::kDouble);
  std::vector<std::vector<Tensor>> state(
      2, std::vector<Tensor>(kBatch, at::zeros({kHidden}, at::kDouble)));
  for (std::int64_t t = 0; t < kSteps; ++t)
    for (std::int64_t b = 0; b < kBatch; ++b) {
      Tensor noise = at::zeros({kHidden}, at::kDouble), below = at::zeros({kInput}, at::kDouble);
      for (std::int64_t i = 0; i < kHidden; ++i) noise[i] = 0.2 * again.normal();
      for (std::int64_t i = 0; i < kInput; ++i) below[i] = x[b][t][i] * mask();
      for (int k = 0; k < 2; ++k) {
        const auto named = [&](const char* name) {
          return of.at(fmt::format("controller.{}_l{}", name, k));
        };
        Tensor old = state[k][b];
        if (k == 0) old = old + noise;
        state[k][b] = (named("weight_ih").mv(below) + named("bias_ih") +
                       named("weight_hh").mv(old) + named("bias_hh"))
                          .tanh();
        below = state[k][b].clone();
        for (std::int64_t i = 0; i < kHidden; ++i) below[i] *= mask();
      }
      wanted[b][t] = below;
    }
  const at::NoGradGuard guard;
  const Tensor got = network.run_stepwise(inputs(), &random).narrow(1, 1, kSteps);
  EXPECT_LT(deviation(got, wanted), 1e-14);
  EXPECT_EQ(random.state(), again.state());
}

TEST(RecurrentDropout, SetsTheShareOfTheRateToZero) {
  const StackRnn network = make("lstm", 2, kNoStack, with_dropout(true));
  Random random(1);
  const Tensor drawn = network.draw_noise(50, 200, &random);
  EXPECT_EQ(drawn.sizes(), (std::vector<std::int64_t>{200, 50, kInput + 2 * kHidden}));
  EXPECT_NEAR(drawn.eq(0).to(at::kDouble).mean().item<double>(), kRate, 0.005);
  EXPECT_NEAR(drawn.mean().item<double>(), 1, 0.007);
  EXPECT_FALSE(network.draw_noise(50, 200, nullptr).defined());
}

}  // namespace
}  // namespace pushdown::dropout_test
