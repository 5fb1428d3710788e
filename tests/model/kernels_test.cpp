// Language models with kernels, compared with the step-by-step definition: values and all
// gradients.
#include <gtest/gtest.h>

#include <set>

#include "base/parallel.h"
#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/golden.h"

namespace pushdown::kernels_test {
namespace {

using namespace testing_support;

struct Case {
  Json controller, stack;
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.controller << ' ' << given.stack;
}

std::vector<Case> cases() {
  const std::vector<Json> controllers{
      {{"kind", "elman"}, {"hidden", 5}},
      {{"kind", "elman"}, {"hidden", 17}, {"activation", "sigmoid"}, {"layers", 2}},
      {{"kind", "lstm"}, {"hidden", 20}},
      {{"kind", "lstm"}, {"hidden", 3}, {"layers", 3}},
      {{"kind", "gru"}, {"hidden", 20}},
      {{"kind", "gru"}, {"hidden", 7}, {"layers", 2}}};
  const auto automaton = [](int states, int symbols, const char* reading, const char* bottom,
                            bool normalized) {
    return Json{{"kind", "nondeterministic"}, {"states", states}, {"symbols", symbols},
                {"reading", reading},         {"bottom", bottom}, {"normalized", normalized}};
  };
  const std::vector<Json> stacks{{{"kind", "none"}},
                                 {{"kind", "superposition"}, {"size", 4}},
                                 {{"kind", "superposition"}, {"size", 19}},
                                 {{"kind", "stratification"}, {"size", 4}},
                                 {{"kind", "stratification"}, {"size", 19}},
                                 {{"kind", "stratification_queue"}, {"size", 19}},
                                 {{"kind", "stratification_deque"}, {"size", 4}, {"memories", 2}},
                                 {{"kind", "stratification"},
                                  {"size", 4},
                                  {"push", "expectation"},
                                  {"pop", "fixed"},
                                  {"read", "expectation"}},
                                 {{"kind", "stratification"},
                                  {"size", 16},
                                  {"push", "fixed"},
                                  {"pop", "expectation"},
                                  {"read", "expectation"},
                                  {"max_strength", 3}},
                                 automaton(2, 2, "symbol", "original", true),
                                 automaton(2, 3, "state_symbol", "reexposed", false),
                                 automaton(3, 3, "state_symbol", "original", true),
                                 automaton(1, 4, "symbol", "reexposed", false),
                                 {{"kind", "vector_nondeterministic"}},
                                 {{"kind", "vector_nondeterministic"},
                                  {"states", 3},
                                  {"symbols", 3},
                                  {"size", 2},
                                  {"normalized", true},
                                  {"bottom_vector", "one"}},
                                 {{"kind", "vector_nondeterministic"},
                                  {"states", 1},
                                  {"symbols", 4},
                                  {"size", 5},
                                  {"bottom", "original"}},
                                 {{"kind", "nondeterministic"}, {"window", 3}},
                                 {{"kind", "vector_nondeterministic"}, {"window", 4}}};
  std::vector<Case> all;
  for (const auto& controller : controllers)
    for (const auto& stack : stacks) all.push_back({controller, stack});
  return all;
}

Tensor random_words(std::int64_t batch, std::int64_t length) {
  Random random(5);
  Tensor words = at::empty({batch, length}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
  return words;
}

class Kernels : public testing::TestWithParam<Case> {
 protected:
  LanguageModel model(bool kernels, const char* dtype, double scale) const {
    LanguageModel made(Alphabet({"a", "b", "c"}), Json{{"controller", GetParam().controller},
                                                       {"stack", GetParam().stack},
                                                       {"dtype", dtype},
                                                       {"kernels", kernels},
                                                       {"seed", 3}});
    at::NoGradGuard guard;
    for (const auto& [name, tensor] : made.parameters()) tensor.mul_(scale);
    return made;
  }
};

TEST_P(Kernels, EqualsStepwise) {
  for (const auto& [dtype, value_bound, gradient_bound] :
       {std::tuple{"float64", 1e-11, 1e-11}, {"float32", 1e-6, 2e-5}})
    for (const double scale : {1.0, 4.0}) {
      // With large weights, rounding in single precision decides on which side of a kink a value
      // is.
      if (scale > 1 && std::string(dtype) == "float32") continue;
      for (const auto& [batch, length] : {std::pair{3, 13}, {1, 2}, {2, 1}, {1, 40}}) {
        const auto stepwise = model(false, dtype, scale), kernels = model(true, dtype, scale);
        const Tensor words = random_words(batch, length);
        const Tensor wanted = stepwise.logits(words), got = kernels.logits(words);
        EXPECT_LT(deviation(got, wanted), value_bound * scale) << dtype << ' ' << length;
        // The gradient of each string gets another weight.
        const Tensor share = at::linspace(-0.5, 1, batch, got.options()).detach();
        const Tensor wanted_loss = stepwise.log_probabilities(words),
                     loss = kernels.log_probabilities(words);
        EXPECT_LT(deviation(loss, wanted_loss), value_bound * scale * length) << dtype;
        wanted_loss.dot(share).backward();
        loss.dot(share).backward();
        for (std::size_t i = 0; i < stepwise.parameters().size(); ++i) {
          const auto& [name, tensor] = stepwise.parameters()[i];
          const Tensor gradient = kernels.parameters()[i].second.grad();
          EXPECT_LT(deviation(gradient.defined() ? gradient : at::zeros_like(tensor),
                              tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor)),
                    gradient_bound * scale * scale)
              << name << ' ' << dtype << ' ' << batch << " x " << length << " scale " << scale;
        }
      }
    }
}

// The training pass without a graph; the second one adds to the gradients of the first.
TEST_P(Kernels, DifferentiatesWithoutAGraph) {
  for (const auto& [dtype, bound] : {std::pair{"float64", 1e-12}, {"float32", 1e-5}}) {
    const auto graph = model(true, dtype, 1), direct = model(true, dtype, 1);
    const Tensor words = random_words(3, 13);
    const Tensor wanted = graph.log_probabilities(words);
    (wanted.sum() * -0.75).backward();
    for (const double share : {-0.25, -0.5}) {
      const Tensor values = direct.differentiate(words, share, nullptr);
      EXPECT_FALSE(values.requires_grad());
      EXPECT_EQ(deviation(values, wanted.detach()), 0);
    }
    for (std::size_t i = 0; i < graph.parameters().size(); ++i) {
      const auto& [name, tensor] = graph.parameters()[i];
      const Tensor gradient = direct.parameters()[i].second.grad();
      EXPECT_LT(deviation(gradient.defined() ? gradient : at::zeros_like(tensor),
                          tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor)),
                bound)
          << name << ' ' << dtype;
    }
  }
}

// Frozen parameters get no gradients.
TEST_P(Kernels, DifferentiatesTrainedParametersOnly) {
  const auto made = model(true, "float64", 1);
  for (const auto& [name, tensor] : made.parameters())
    tensor.requires_grad_(!name.starts_with("output."));
  made.differentiate(random_words(2, 9), 1, nullptr);
  for (const auto& [name, tensor] : made.parameters())
    EXPECT_FALSE(tensor.grad().defined() && !tensor.requires_grad()) << name;
}

// Gradients of the hidden vectors, through the logits.
TEST_P(Kernels, EqualsStepwiseThroughLogits) {
  const auto stepwise = model(false, "float64", 1), kernels = model(true, "float64", 1);
  const Tensor words = random_words(3, 11);
  Tensor wanted = stepwise.logits(words), got = kernels.logits(words);
  const Tensor probe = at::arange(wanted.numel(), wanted.options()).view_as(wanted).cos().detach();
  (wanted * probe).sum().backward();
  (got * probe).sum().backward();
  for (std::size_t i = 0; i < stepwise.parameters().size(); ++i) {
    const auto& [name, tensor] = stepwise.parameters()[i];
    EXPECT_LT(deviation(kernels.parameters()[i].second.grad(), tensor.grad()), 1e-11) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, Kernels, testing::ValuesIn(cases()));

TEST(KernelsThreads, SameNumbersForAnyThreadCount) {
  std::vector<Tensor> results;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    const LanguageModel model(Alphabet({"a", "b", "c"}),
                              Json{{"stack", {{"kind", "nondeterministic"}}}, {"seed", 1}});
    model.log_probabilities(random_words(7, 30)).sum().backward();
    std::vector<Tensor> gradients;
    for (const auto& [name, tensor] : model.parameters())
      gradients.push_back(tensor.grad().flatten());
    results.push_back(at::cat(gradients));
  }
  set_thread_count(1);
  EXPECT_TRUE(results[0].equal(results[1]));
  EXPECT_TRUE(results[0].equal(results[2]));
}

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

}  // namespace
}  // namespace pushdown::kernels_test
