// Output layers that read the stack's reading: every path, compared with a composition of the same
// network without them and the readings of its stack.
// label: long
#include <gtest/gtest.h>

#include "model/language_model.h"
#include "model/network_trace.h"
#include "model/recognizer.h"
#include "model/recorded_cases.h"
#include "support/golden.h"
#include "support/gradients.h"
#include "support/message.h"

namespace pushdown::output_reading_test {
namespace {

using namespace testing_support;

constexpr std::int64_t kSymbols = 4;

const auto kFloat64 = at::TensorOptions().dtype(at::kDouble);

// Every kind of stack that has a reading, and further connections of the two parts.
std::vector<RecordedCase> cases() {
  const Json lstm{{"kind", "lstm"}, {"hidden", 6}}, gru{{"kind", "gru"}, {"hidden", 5}};
  std::vector<RecordedCase> all;
  for (const auto& kind : stack_kinds())
    if (kind.name != "none") all.push_back({lstm, {{"kind", kind.name}}});
  all.push_back({gru, {{"kind", "vector_nondeterministic"}, {"fast", false}, {"size", 2}}});
  all.push_back({gru, {{"kind", "nondeterministic"}, {"window", 4}, {"states", 2}}});
  all.push_back({{{"kind", "mlstm"}, {"hidden", 5}, {"layers", 2}}, {{"kind", "superposition"}}});
  const Json still{{"kind", "parallel_superposition"}, {"stacks", 3}, {"no_op", true}};
  for (const CarryForward carry : {CarryForward::none, CarryForward::soft, CarryForward::counter})
    all.push_back({gru, still, {true, 0.3, 0.1, carry, true}});
  return all;
}

struct Pair {
  explicit Pair(const RecordedCase& given) {
    Recurrence recurrence = given.recurrence;
    const auto make = [&] {
      Random random(3);
      StackRnn made(given.controller, given.stack, kSymbols, kFloat64, random, recurrence);
      const at::NoGradGuard guard;
      for (const auto& [name, tensor] : made.parameters()) tensor.mul_(2);
      return made;
    };
    plain.emplace(make());
    recurrence.reading_out = true;
    full.emplace(make());
  }
  std::optional<StackRnn> plain, full;  // with equal parameters
};

// The hidden vectors of a network without the readings, then the readings of its stack.
Tensor composed(const StackRnn& plain, const Tensor& inputs, Random* noise,
                const Refinement& refinement) {
  const Tensor hiddens = plain.run_stepwise(inputs, noise, refinement);
  const auto evaluated = plain.stack().evaluated();
  const Stack& stack = noise == nullptr && evaluated ? *evaluated : plain.stack();
  const auto batch = inputs.size(0), steps = inputs.size(1), passes = refinement.passes;
  const Tensor driving = hiddens.narrow(1, 1, steps * passes)
                             .view({batch, steps, passes, plain.hidden_size()})
                             .select(2, 0);
  const Tensor readings = stack.readings(driving).repeat_interleave(passes, 1);
  const Tensor before = stack.reading(stack.initial(batch, steps)).unsqueeze(1);
  return at::cat({hiddens, at::cat({before, readings}, 1)}, 2);
}

Tensor probe_of(const Tensor& outputs) {
  return at::arange(outputs.numel(), outputs.options()).view_as(outputs).cos();
}

std::vector<Tensor> outcome(const StackRnn& network, const Tensor& outputs) {
  (outputs * probe_of(outputs.detach())).sum().backward();
  std::vector<Tensor> all{outputs.detach()};
  for (const Tensor& gradient : taken_gradients(network.parameters())) all.push_back(gradient);
  return all;
}

void expect_close(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted,
                  const StackRnn& network, const std::string& where) {
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LT(deviation(got[i], wanted[i]), 1e-9 * (1 + wanted[i].abs().max().item<double>()))
        << where << ": " << (i == 0 ? "outputs" : network.parameters()[i - 1].first);
}

class OutputReading : public testing::TestWithParam<RecordedCase> {};

TEST_P(OutputReading, EqualsTheComposition) {
  const Pair pair(GetParam());
  for (const auto& [batch, steps, passes] : {std::tuple{3, 8, 1}, {1, 1, 1}, {2, 4, 3}})
    for (const bool training : {true, false}) {
      const Refinement refinement(passes, true);
      const Tensor words = random_words(batch, steps, kSymbols),
                   x = at::one_hot(words, kSymbols).to(at::kDouble);
      const auto of = [&](const auto& run) {
        Random drawn(7);
        return run(training ? &drawn : nullptr);
      };
      const auto wanted =
          outcome(*pair.plain,
                  of([&](Random* noise) { return composed(*pair.plain, x, noise, refinement); }));
      expect_close(outcome(*pair.full, of([&](Random* noise) {
                     return pair.full->run_stepwise(x, noise, refinement);
                   })),
                   wanted, *pair.full, "stepwise");
      const Tensor recorded = of([&](Random* noise) {
        return pair.full->run_recorded(x, words, noise, 0, nullptr, refinement);
      });
      const bool can = pair.full->stack().recorded({.batch = batch, .steps = steps + 1}) != nullptr;
      ASSERT_EQ(recorded.defined(), can);
      if (!can) continue;
      expect_close(outcome(*pair.full, recorded), wanted, *pair.full, "recorded");
      if (!training) continue;
      Random drawn(7);
      const Pass pass =
          run_plan(std::get<PlannedBatch>(pair.full->route({words, refinement, &drawn})));
      std::vector<Tensor> direct{pass.hiddens};
      pass.backward(probe_of(wanted[0]));
      for (const Tensor& gradient : taken_gradients(pair.full->parameters()))
        direct.push_back(gradient);
      expect_close(direct, wanted, *pair.full, "planned");
    }
}

INSTANTIATE_TEST_SUITE_P(Stacks, OutputReading, testing::ValuesIn(cases()));

Json with_stack(const Json& stack, const Json& more = Json::object()) {
  Json options{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
               {"stack", stack},
               {"output", "hidden_and_reading"},
               {"dtype", "float64"},
               {"seed", 4}};
  options.update(more);
  return options;
}

const std::vector<Json> kStacks{
    {{"kind", "superposition"}, {"size", 3}},
    {{"kind", "stratification"}, {"size", 3}},
    {{"kind", "nondeterministic"}, {"window", 5}},
    {{"kind", "vector_nondeterministic"}, {"states", 2}, {"symbols", 2}, {"size", 2}}};

TEST(OutputReadingModels, AnEmptyStackIsReadAfterARestart) {
  const LanguageModel model(Alphabet({"a", "b"}), with_stack(kStacks[0]));
  const at::NoGradGuard guard;
  const Tensor words = at::tensor({0, 1, 1}, at::kLong).view({1, 3});
  const auto [logits, state] = model.next(model.read(words, model.begin(1, 0)).second);
  const auto hidden =
      model.network().peek(model.network().restarted(state.state, 1), nullptr).first;
  EXPECT_EQ(hidden.narrow(1, 5, 3).abs().max().item<double>(), 0);
  EXPECT_TRUE(hidden.narrow(1, 0, 5).equal(
      model.network().peek(state.state, nullptr).first.narrow(1, 0, 5)));
}

TEST(OutputReadingModels, LayersHaveHiddenVectorsAlone) {
  for (const int layers : {1, 2}) {
    Json options = with_stack(kStacks[0]);
    options["controller"]["layers"] = layers;
    const LanguageModel model(Alphabet({"a", "b"}), options);
    options["output"] = "hidden";
    const LanguageModel plain(Alphabet({"a", "b"}), options);
    const PassRequest request{.words = at::tensor({0, 1, 1}, at::kLong).view({1, 3})};
    const auto got = layers_of(model.network(), request),
               wanted = layers_of(plain.network(), request);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_LT(deviation(got[i], wanted[i]), 1e-12);
  }
}

TEST(OutputReadingModels, NeedsAReading) {
  EXPECT_EQ(message<std::invalid_argument>([] {
              LanguageModel(Alphabet({"a"}), with_stack({{"kind", "none"}}));
            }),
            "[model.recurrent] output 'hidden_and_reading' needs a stack with a reading, got "
            "'none'");
}

}  // namespace
}  // namespace pushdown::output_reading_test
