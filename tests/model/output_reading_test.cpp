// Output layers that read the stack's reading: every path, compared with a composition of the same
// network without them and the readings of its stack.
// label: long
#include <gtest/gtest.h>

#include "model/network_trace.h"
#include "model/recognizer.h"
#include "model/recorded_cases.h"
#include "model/sampling.h"
#include "model/transducer.h"
#include "support/golden.h"

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
  explicit Pair(const RecordedCase& given, double dropout = 0) {
    Recurrence recurrence = given.recurrence;
    recurrence.dropout = dropout;
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

Tensor words_of(std::int64_t batch, std::int64_t steps) {
  Random random(5);
  const Tensor words = at::empty({batch, steps}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(kSymbols));
  return words;
}

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

std::vector<Tensor> taken_gradients(const ParameterList& parameters) {
  std::vector<Tensor> all;
  for (const auto& [name, tensor] : parameters) {
    all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
    tensor.mutable_grad() = Tensor();
  }
  return all;
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
      const Tensor words = words_of(batch, steps), x = at::one_hot(words, kSymbols).to(at::kDouble);
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

TEST_P(OutputReading, PiecesEqualTheWhole) {
  const Pair pair(GetParam());
  const Tensor words = words_of(2, 13), x = at::one_hot(words, kSymbols).to(at::kDouble);
  for (const bool recorded : {false, true}) {
    Random drawn(7), same(7);
    const auto wanted = outcome(*pair.full, pair.full->run_stepwise(x, &drawn));
    StackRnnState state = pair.full->initial(2, 13);
    std::vector<Tensor> parts{pair.full->first_output(2).unsqueeze(1)};
    std::int64_t first = 0;
    for (const std::int64_t size : {5, 1, 2, 5}) {
      const Tensor piece = x.narrow(1, first, size);
      std::optional<std::pair<Tensor, StackRnnState>> read;
      if (recorded)
        read = pair.full->read_recorded(piece, words.narrow(1, first, size), state, &same);
      if (!read) read = pair.full->read(piece, state, &same);
      first += size;
      parts.push_back(read->first);
      state = read->second;
      EXPECT_LT(deviation(pair.full->output(state).narrow(1, 0, pair.full->hidden_size()),
                          parts.back().select(1, size - 1).narrow(1, 0, pair.full->hidden_size())),
                1e-12);
    }
    expect_close(outcome(*pair.full, at::cat(parts, 1)), wanted, *pair.full,
                 recorded ? "recorded" : "read");
  }
}

TEST_P(OutputReading, ReadsShorterStringsToTheirEnds) {
  const Pair pair(GetParam());
  const Tensor words = words_of(3, 7), x = at::one_hot(words, kSymbols).to(at::kDouble);
  const std::vector<std::int64_t> lengths{7, 4, 1};
  const Tensor wanted = pair.full->run_stepwise(x),
               got = pair.full->run_recorded(x, words, nullptr, 0, nullptr, {}, lengths);
  if (!got.defined()) GTEST_SKIP() << "no recorded form";
  for (std::int64_t b = 0; b < 3; ++b)
    EXPECT_LT(
        deviation(got[b].narrow(0, 0, lengths[b] + 1), wanted[b].narrow(0, 0, lengths[b] + 1)),
        1e-9);
}

TEST_P(OutputReading, DropsNumbersOfTheReadings) {
  const Pair pair(GetParam(), 0.5);
  const Tensor words = words_of(2, 6), x = at::one_hot(words, kSymbols).to(at::kDouble);
  const auto of = [&](const auto& run) {
    Random drawn(7);
    return outcome(*pair.full, run(&drawn));
  };
  const auto wanted = of([&](Random* noise) { return pair.full->run_stepwise(x, noise); });
  const Tensor readings = wanted[0].narrow(1, 1, 6).narrow(
      2, pair.full->hidden_size(), pair.full->output_size() - pair.full->hidden_size());
  EXPECT_GT(readings.eq(0).sum().item<std::int64_t>(), 0);
  Random drawn(7);
  const Tensor recorded = pair.full->run_recorded(x, words, &drawn);
  if (recorded.defined()) expect_close(outcome(*pair.full, recorded), wanted, *pair.full, "");
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

TEST(OutputReadingModels, LanguageModelsReadPiecesLikeWholes) {
  for (const Json& stack : kStacks)
    for (const int embedding : {0, 3}) {
      const Alphabet alphabet({"a", "b", "c", "d"});
      const Json options = with_stack(stack, {{"embedding", embedding}});
      const LanguageModel model(alphabet, options);
      Json slow = options;
      slow["kernels"] = false;
      const LanguageModel plain(alphabet, slow);
      const Tensor words = words_of(3, 9);
      plain.log_probabilities(words).sum().backward();
      const auto wanted = taken_gradients(plain.parameters());
      model.log_probabilities(words).sum().backward();
      const auto graph = taken_gradients(model.parameters());
      Random noise(1);
      const Tensor values = model.differentiate(words, 1, &noise);
      EXPECT_LT(deviation(values, plain.log_probabilities(words).detach()), 1e-9);
      const auto direct = taken_gradients(model.parameters());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_LT(deviation(graph[i], wanted[i]), 1e-9) << model.parameters()[i].first;
        EXPECT_LT(deviation(direct[i], wanted[i]), 1e-9) << model.parameters()[i].first;
      }
      const at::NoGradGuard guard;
      const Tensor logits = model.logits(words);
      auto state = model.begin(3, 9);
      std::int64_t first = 0;
      for (const std::int64_t size : {4, 1, 3, 1}) {
        EXPECT_LT(deviation(model.next(state).first, logits.select(1, first)), 1e-9);
        auto [read, next] = model.read(words.narrow(1, first, size), state);
        EXPECT_LT(deviation(read, logits.narrow(1, first, size)), 1e-9);
        // Also from a state that has answered.
        state = first == 4 ? model.next(next).second : next;
        first += size;
      }
      Word word;
      for (std::int64_t t = 0; t < 9; ++t)
        word.push_back(static_cast<int>(words[0][t].item<int>()));
      const auto shares = next_probabilities(model, word, 1);
      EXPECT_NEAR(shares.back(), logits[0][9].softmax(0)[-1].item<double>(), 1e-9);
    }
}

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

TEST(OutputReadingModels, TransducersTranslateAsTheyAreTrained) {
  for (const Json& stack : kStacks) {
    const Json options = with_stack(stack);
    Json slow = options;
    slow["kernels"] = false;
    const Transducer model(Alphabet({"a", "b"}), Alphabet({"x", "y"}), options),
        plain(Alphabet({"a", "b"}), Alphabet({"x", "y"}), slow);
    const std::vector<Word> sources{{0, 1, 1}, {1, 0}, {}}, targets{{1, 0}, {1, 1, 1}, {0}};
    const auto batch = model.joint(sources, targets);
    model.losses(batch).sum().backward();
    plain.losses(batch).sum().backward();
    const auto got = taken_gradients(model.parameters()),
               wanted = taken_gradients(plain.parameters());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), 1e-9) << model.parameters()[i].first;
    EXPECT_EQ(model.translate(sources, 6)[0].target, model.translate(sources[0], 6, 1).target);
  }
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
  try {
    LanguageModel(Alphabet({"a"}), with_stack({{"kind", "none"}}));
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()),
              "[model.recurrent] output 'hidden_and_reading' needs a stack with a reading, got "
              "'none'");
  }
}

}  // namespace
}  // namespace pushdown::output_reading_test
