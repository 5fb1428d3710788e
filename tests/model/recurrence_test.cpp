// Options between a controller and its stack: coupling, noise on the state, carry-forward.
// label: long
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "recurrence_reference.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::recurrence_test {
namespace {

using namespace testing_support;

constexpr std::int64_t kBatch = 3, kSteps = 14, kInput = 3, kHidden = 5;

struct Case {
  Json controller, stack;
  Recurrence recurrence;
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.controller << ' ' << given.stack << ' ' << given.recurrence.coupled_state << ' '
       << given.recurrence.noise << ' ' << static_cast<int>(given.recurrence.carry);
}

// Weights that are large enough for all nonlinearities to matter and for actions to differ from
// step to step.
StackRnn make(const Case& given, std::uint64_t seed = 11) {
  Json controller = given.controller;
  controller["hidden"] = kHidden;
  Random random(seed);
  StackRnn network(controller, given.stack, kInput, at::TensorOptions(at::kDouble), random,
                   given.recurrence);
  at::NoGradGuard guard;
  for (const auto& [name, tensor] : network.parameters())
    tensor.copy_(random_tensor(tensor.sizes(), random, -1.5, 1.5));
  return network;
}

Tensor inputs(std::int64_t steps = kSteps) { return random_tensor({kBatch, steps, kInput}, 4); }

Recurrence between(bool coupled, double noise = 0, CarryForward carry = CarryForward::none) {
  Recurrence recurrence;
  recurrence.coupled_state = coupled;
  recurrence.noise = noise;
  recurrence.noise_mean = noise / 4;
  recurrence.carry = carry;
  return recurrence;
}

// One scalar stack with three actions and a reading of the top three cells.
Json scalar_stack(const char* keeps = "all", double empty = -1) {
  return {{"kind", "parallel_superposition"},
          {"stacks", 1},
          {"read_depth", 3},
          {"no_op", true},
          {"no_op_keeps", keeps},
          {"bias", true},
          {"empty", empty}};
}
// "Stack-RNN + softmax", with few cells, so that its end matters.
Json vector_stack() {
  return {{"kind", "superposition"}, {"size", 5}, {"no_op", false}, {"depth", 6}};
}

std::vector<Case> cases() {
  const auto rnn = [](const char* activation) {
    return Json{{"kind", "elman"}, {"activation", activation}};
  };
  const Json tape{{"kind", "baby_ntm"}, {"cells", 6}, {"size", 5}};
  Json warm_stack = vector_stack(), warm_tape = tape;
  warm_stack["temperature"] = 0.5;
  warm_tape["temperature"] = 3;
  const Json several{{"kind", "parallel_superposition"}, {"stacks", 4}};
  std::vector<Case> all{
      // The baselines.
      {rnn("scaled_tanh"), {{"kind", "none"}}, between(false, 0.1)},
      {rnn("sigmoid"), several, between(false)},
      {rnn("tanh"), vector_stack(), between(true)},
      {rnn("tanh"), warm_stack, between(true)},
      {rnn("tanh"), tape, between(true)},
      {rnn("tanh"), warm_tape, between(true)},
      // Equations 4-9 with each option alone and with all together.
      {rnn("scaled_tanh"), scalar_stack(), between(true)},
      {rnn("scaled_tanh"), scalar_stack(), between(true, 0.2)},
      {rnn("scaled_tanh"), scalar_stack(), between(true, 0, CarryForward::soft)},
      {rnn("scaled_tanh"), scalar_stack(), between(true, 0, CarryForward::counter)},
      {rnn("scaled_tanh"), scalar_stack("top", 0), between(true, 0.2, CarryForward::counter)},
      {rnn("scaled_tanh"), scalar_stack("top"), between(false, 0.2, CarryForward::soft)},
  };
  for (const char* kind : {"lstm", "gru", "delta_rnn", "mrnn", "mlstm", "mi_rnn"}) {
    Json controller{{"kind", kind}};
    if (kind[0] == 'm' && kind[1] != 'l') controller["activation"] = "scaled_tanh";
    for (const auto carry : {CarryForward::none, CarryForward::soft, CarryForward::counter})
      all.push_back({controller, scalar_stack(), between(true, 0.1, carry)});
  }
  return all;
}

class Recurrences : public testing::TestWithParam<Case> {};

TEST_P(Recurrences, FollowTheirEquations) {
  int kept = 0, updated = 0;
  for (const bool training : {false, true})
    for (const std::uint64_t seed : {11, 12, 13, 14}) {
      const StackRnn network = make(GetParam(), seed);
      Random random(9), again(9);
      Tensor noise = at::zeros({kBatch, kSteps, kHidden}, at::kDouble);
      if (training && GetParam().recurrence.noise > 0)
        for (std::int64_t t = 0; t < kSteps; ++t)
          for (std::int64_t b = 0; b < kBatch; ++b)
            for (std::int64_t i = 0; i < kHidden; ++i)
              noise[b][t][i] =
                  GetParam().recurrence.noise_mean + GetParam().recurrence.noise * again.normal();
      const Tensor got = network.run(inputs(), training ? &random : nullptr);
      ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{kBatch, kSteps + 1, kHidden}));
      EXPECT_EQ(got.select(1, 0).abs().max().item<double>(), 0);
      RecurrenceReference reference(network, GetParam().controller, GetParam().stack);
      for (std::int64_t b = 0; b < kBatch; ++b)
        EXPECT_LT(deviation(got[b].narrow(0, 1, kSteps), reference.run(inputs()[b], noise[b])),
                  1e-12)
            << "sequence " << b << ", seed " << seed;
      kept += reference.kept;
      updated += reference.updated;
      // Random numbers that are not used are not drawn.
      EXPECT_EQ(random.state(), again.state());
    }
  if (GetParam().recurrence.carry == CarryForward::counter) {
    EXPECT_GT(kept, 0) << "the counter never triggered";
    EXPECT_GT(updated, 0) << "the counter always triggered";
  }
}

// The further passes of iterative refinement, during which the memory rests.
TEST_P(Recurrences, RefinementFollowsItsEquations) {
  constexpr int kPasses = 3;
  for (const bool carry_first : {false, true}) {
    const Refinement refinement(kPasses, carry_first);
    const StackRnn network = make(GetParam(), 12);
    Random random(9), again(9);
    Tensor noise = at::zeros({kBatch, kSteps, kHidden}, at::kDouble);
    const Tensor drawn = network.draw_noise(kBatch, kSteps, &again);
    if (drawn.defined()) noise = drawn.transpose(0, 1);
    const Tensor got = network.run_stepwise(inputs(), &random, refinement);
    ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{kBatch, kSteps * kPasses + 1, kHidden}));
    RecurrenceReference reference(network, GetParam().controller, GetParam().stack);
    for (std::int64_t b = 0; b < kBatch; ++b)
      EXPECT_LT(deviation(got[b].narrow(0, 1, kSteps * kPasses),
                          reference.run(inputs()[b], noise[b], kPasses, carry_first)),
                1e-12)
          << "sequence " << b;
    EXPECT_EQ(random.state(), again.state());
  }
}

TEST(Refinement, WithoutAMemoryAPassIsASymbol) {
  const StackRnn network = make({{{"kind", "lstm"}}, {{"kind", "none"}}, between(false)});
  const Tensor repeated = inputs().repeat_interleave(4, 1);
  EXPECT_LT(deviation(network.run_stepwise(inputs(), nullptr, 4), network.run_stepwise(repeated)),
            1e-14);
  // With one it is not.
  const StackRnn with_stack = make({{{"kind", "lstm"}}, vector_stack(), between(false)});
  EXPECT_GT(
      deviation(with_stack.run_stepwise(inputs(), nullptr, 4), with_stack.run_stepwise(repeated)),
      1e-2);
}

INSTANTIATE_TEST_SUITE_P(Networks, Recurrences, testing::ValuesIn(cases()));

// The contract that coupling and carry-forward rely on.
TEST(Controllers, BeginTheirStateWithTheFirstHiddenVector) {
  for (const auto& kind : controller_kinds())
    for (const std::int64_t layers : {1, 2}) {
      Random random(3);
      const auto controller =
          make_controller({{"kind", kind.name}, {"hidden", 4}, {"layers", layers}},
                          {kInput, at::TensorOptions(at::kDouble), &random});
      const auto [hidden, next] =
          controller->step(inputs().select(1, 0), controller->initial(kBatch));
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < next.size(); ++i)
        if (next[i].is_same(hidden)) places.push_back(i);
      ASSERT_EQ(places.size(), 1u) << kind.name;
      EXPECT_EQ(places[0], layers == 1 ? 0 : next.size() / 2) << kind.name;
      for (std::size_t i = 0; i < next.size(); ++i) {
        EXPECT_EQ(next[i].size(0), kBatch) << kind.name;
        if (i % (next.size() / layers) == 0) EXPECT_EQ(next[i].size(1), 4) << kind.name;
      }
    }
}

TEST(Controllers, LearnAVectorForEveryTensorOfTheirState) {
  for (const auto& kind : controller_kinds()) {
    Recurrence learned;
    learned.learned_start = true;
    Random random(3);
    const StackRnn network({{"kind", kind.name}, {"hidden", 4}, {"layers", 2}},
                           {{"kind", "stratification"}}, kInput, at::TensorOptions(at::kDouble),
                           random, learned);
    const auto state = network.controller().initial(1), begun = network.initial(3, 0).controller;
    std::vector<Tensor> own;
    for (const auto& [name, tensor] : network.parameters())
      if (name.starts_with("initial.")) own.push_back(tensor);
    ASSERT_EQ(own.size(), state.size()) << kind.name;
    for (std::size_t i = 0; i < own.size(); ++i) {
      EXPECT_EQ(own[i].sizes(), state[i][0].sizes()) << kind.name;
      EXPECT_GT(own[i].abs().max().item<double>(), 0.01) << kind.name;
      EXPECT_LT(own[i].abs().max().item<double>(), 0.1) << kind.name;
      EXPECT_TRUE(begun[i].equal(own[i].expand_as(begun[i]))) << kind.name;
    }
  }
}

// Nothing would depend on what is added to the hidden vector.
TEST(Controllers, ThatDoNotReadTheirHiddenVectorAreNotCoupledToIt) {
  const Json stack{{"kind", "superposition"}, {"size", 3}};
  for (const char* kind : {"deltanet", "selective_ssm", "matrix_lstm", "scalar_lstm"}) {
    const Json controller{{"kind", kind}, {"hidden", 4}};
    const auto make = [&](const Recurrence& recurrence) {
      Random random(1);
      StackRnn(controller, stack, 3, at::TensorOptions(at::kDouble), random, recurrence);
    };
    Recurrence coupled, noisy;
    coupled.coupled_state = true;
    noisy.noise = 0.1;
    make({});
    if (kind == std::string("scalar_lstm")) {
      make(coupled);
      make(noisy);
      continue;
    }
    EXPECT_THROW(make(coupled), std::invalid_argument) << kind;
    EXPECT_THROW(make(noisy), std::invalid_argument) << kind;
  }
}

// Several layers: the reading goes to the first, and all of them are kept.
TEST(RecurrenceOfLayers, CouplesTheFirstAndKeepsAll) {
  const StackRnn network = make(
      {{{"kind", "lstm"}, {"layers", 2}}, scalar_stack(), between(true, 0, CarryForward::counter)});
  auto state = network.read(inputs(3), network.initial(kBatch, 0)).second;
  // Behaves as if the last two steps but one had been no_op.
  Tensor resting = at::tensor({0.0, 1.0, 7.0}, at::kDouble).view({kBatch, 1});
  state.resting = resting;
  const auto next = network.read(inputs().narrow(1, 3, 1), state).second;
  const auto stack = network.stack().update(state.stack, state.hidden);
  auto old = state.controller;
  old[0] = old[0] + at::linear(network.stack().reading(stack), network.coupling_weight());
  const auto fresh = network.controller().step(inputs().select(1, 3), old).second;
  const Tensor greatest = network.stack().no_op(state.hidden)->greatest;
  for (std::int64_t b = 0; b < kBatch; ++b) {
    const bool rests = greatest[b][0].item<bool>();
    const double count = rests ? resting[b][0].item<double>() + 1 : 0;
    EXPECT_EQ(next.resting[b][0].item<double>(), count);
    for (std::size_t i = 0; i < old.size(); ++i)
      EXPECT_TRUE(next.controller[i][b].equal(count > 1 ? old[i][b] : fresh[i][b])) << i;
  }
  EXPECT_TRUE(next.hidden.is_same(next.controller[2]));
}

TEST(StateNoise, HasItsMeanAndDeviation) {
  Recurrence recurrence;
  recurrence.noise = 0.3;
  recurrence.noise_mean = -0.5;
  const StackRnn network = make({{{"kind", "elman"}}, {{"kind", "none"}}, recurrence});
  Random random(2);
  const Tensor drawn = network.draw_noise(40, 200, &random);
  EXPECT_EQ(drawn.sizes(), (std::vector<std::int64_t>{200, 40, kHidden}));
  EXPECT_NEAR(drawn.mean().item<double>(), -0.5, 5 * 0.3 / 200);
  EXPECT_NEAR(drawn.std().item<double>(), 0.3, 0.005);
  EXPECT_FALSE(network.draw_noise(2, 2, nullptr).defined());
  recurrence.noise = 0;
  EXPECT_TRUE(make({{{"kind", "elman"}}, {{"kind", "none"}}, recurrence})
                  .draw_noise(2, 2, &random)
                  .eq(-0.5)
                  .all()
                  .item<bool>());
}

TEST(RecurrenceErrors, NameTheOption) {
  for (const auto& stack : {Json{{"kind", "none"}}, Json{{"kind", "stratification"}},
                            Json{{"kind", "superposition"}, {"no_op", false}}})
    for (const char* carry : {"soft", "counter"}) {
      EXPECT_CONTAINS(
          message<std::invalid_argument>([&] {
            LanguageModel(Alphabet({"a"}), {{"stack", stack}, {"carry_forward", carry}});
          }),
          "[model.recurrent] carry_forward needs a stack that has the action no_op, "
          "got " +
              stack["kind"].get<std::string>());
    }
  EXPECT_NO_THROW(
      LanguageModel(Alphabet({"a"}), {{"coupling", "state"}, {"stack", {{"kind", "none"}}}}));
}

}  // namespace
}  // namespace pushdown::recurrence_test
