// Dropout in recurrent networks.
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/golden.h"
#include "support/gradient.h"
#include "support/message.h"

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

Tensor inputs() {
  Random random(4);
  Tensor result = at::empty({kBatch, kSteps, kInput}, at::kDouble);
  for (std::int64_t i = 0; i < result.numel(); ++i)
    result.data_ptr<double>()[i] = random.uniform(-1, 1);
  return result;
}

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

// As a whole and in pieces, step by step and by a recorded program, with several passes over each
// symbol.
TEST(RecurrentDropout, IsTheSameInEveryWayOfRunning) {
  for (const std::int64_t passes : {1, 2})
    for (const Json& stack : {kNoStack, kStack}) {
      const StackRnn network = make("lstm", 3, stack, with_dropout(true, 0.1));
      const Refinement refinement(passes, false);
      std::vector<Tensor> leaves;
      for (const auto& [name, tensor] : network.parameters()) leaves.push_back(tensor);
      const auto all_of = [&](const std::function<Tensor(const Tensor&, Random*)>& run) {
        Random random(9);
        const Tensor x = inputs().set_requires_grad(true);
        for (const Tensor& leaf : leaves) leaf.mutable_grad() = Tensor();
        const Tensor hiddens = run(x, &random);
        (hiddens * at::arange(hiddens.numel(), at::kDouble).view_as(hiddens).sin())
            .sum()
            .backward();
        std::vector<Tensor> all{hiddens.detach(), x.grad().clone()};
        for (const Tensor& leaf : leaves)
          all.push_back(leaf.grad().defined() ? leaf.grad().clone() : at::zeros_like(leaf));
        return all;
      };
      const auto wanted = all_of([&](const Tensor& x, Random* random) {
        return network.run_stepwise(x, random, refinement);
      });
      const auto recorded = all_of([&](const Tensor& x, Random* random) {
        const Tensor hiddens = network.run_recorded(x, {}, random, 0, nullptr, refinement);
        EXPECT_TRUE(hiddens.defined());
        return hiddens;
      });
      const auto pieces = all_of([&](const Tensor& x, Random* random) {
        StackRnnState state = network.initial(kBatch, kSteps);
        std::vector<Tensor> outputs{at::zeros({kBatch, 1, kHidden}, at::kDouble)};
        for (std::int64_t first = 0; first < kSteps; first += 4) {
          const Tensor piece = x.narrow(1, first, std::min<std::int64_t>(4, kSteps - first));
          auto read = network.read_recorded(piece, {}, state, random, refinement);
          EXPECT_EQ(read.has_value(), piece.size(1) > 1);
          if (!read) read = network.read(piece, state, random, refinement);
          outputs.push_back(read->first);
          state = read->second;
        }
        return at::cat(outputs, 1);
      });
      EXPECT_GT(wanted[1].abs().max().item<double>(), 1e-4);
      for (const auto& got : {recorded, pieces})
        for (std::size_t i = 0; i < wanted.size(); ++i)
          EXPECT_LT(deviation(got[i], wanted[i]), 1e-12) << i << ", " << passes << ' ' << stack;
    }
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

// A language model, by kernels and by the definition; only training passes have masks.
TEST(RecurrentDropout, OfAModelDependsOnTheGeneratorAlone) {
  for (const int embedding : {0, 3}) {
    Json options{{"controller", {{"kind", "lstm"}, {"hidden", 6}, {"layers", 2}}},
                 {"stack", {{"kind", "superposition"}, {"size", 3}}},
                 {"embedding", embedding},
                 {"dropout", 0.4},
                 {"dtype", "float64"},
                 {"seed", 2}};
    const Alphabet alphabet({"a", "b"});
    const LanguageModel model(alphabet, options);
    options["kernels"] = false;
    const LanguageModel defined(alphabet, options);
    options["dropout"] = 0;
    const LanguageModel without(alphabet, options);
    const Tensor tokens = at::arange(24, at::kLong).remainder(2).view({3, 8});
    const at::NoGradGuard guard;
    EXPECT_LT(deviation(model.logits(tokens), without.logits(tokens)), 1e-14);
    Random one(5), same(5), other(6);
    const Tensor trained = model.logits(tokens, &one);
    EXPECT_LT(deviation(trained, defined.logits(tokens, &same)), 1e-14);
    EXPECT_EQ(one.state(), same.state());
    EXPECT_GT(deviation(trained, model.logits(tokens, &other)), 1e-3);
    EXPECT_GT(deviation(trained, without.logits(tokens)), 1e-3);
  }
  EXPECT_NE(message([] {
              LanguageModel(Alphabet({"a", "b"}), Json{{"dropout", 1}});
            }).find("'dropout' must be below 1, got 1"),
            std::string::npos);
}

}  // namespace
}  // namespace pushdown::dropout_test
