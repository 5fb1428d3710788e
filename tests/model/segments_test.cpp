// Networks large enough for products outside of the recurrence
// (recurrence/program/step_segments.h), against their definitions.
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "model/language_model.h"
#include "model/recognizer.h"
#include "support/gradient.h"

namespace pushdown::segments_test {
namespace {

using namespace testing_support;

struct Case {
  const char *cell, *stack;
  int layers, embedding, symbols;
  double dropout;
};
// 96 or more hidden units: a product has more than 2^13 weights.
const Case kCases[]{
    {"lstm", "none", 1, 20, 5, 0},           {"lstm", "none", 3, 96, 300, 0},
    {"gru", "none", 2, 96, 5, 0.3},          {"lstm", "superposition", 2, 96, 300, 0.3},
    {"elman", "stratification", 3, 0, 5, 0}, {"mi_lstm", "none", 2, 96, 5, 0}};

Json options_of(const Case& of, bool kernels) {
  Json options{{"controller", {{"kind", of.cell}, {"hidden", 96}, {"layers", of.layers}}},
               {"stack", {{"kind", of.stack}}},
               {"embedding", of.embedding},
               {"dropout", of.dropout},
               {"kernels", kernels},
               {"dtype", "float64"},
               {"seed", 7}};
  if (std::string(of.cell) == "mi_lstm") options["controller"].erase("layers");
  return options;
}
Alphabet alphabet_of(const Case& of) {
  std::vector<std::string> symbols;
  for (int k = 0; k < of.symbols; ++k) symbols.push_back("w" + std::to_string(k));
  return Alphabet(symbols);
}
Tensor words_of(const Case& of) {
  return (at::arange(3 * 9, at::kLong).view({3, 9}) * 7).remainder(of.symbols);
}
std::string name_of(const Case& of) {
  return std::string(of.cell) + ' ' + of.stack + ' ' + std::to_string(of.layers);
}

void expect_equal_gradients(const SequenceModel& got, const SequenceModel& wanted,
                            const std::string& name) {
  for (std::size_t i = 0; i < wanted.parameters().size(); ++i) {
    const auto& [own, tensor] = wanted.parameters()[i];
    const Tensor& other = got.parameters()[i].second.grad();
    if (!tensor.grad().defined()) continue;
    ASSERT_TRUE(other.defined()) << name << ' ' << own;
    EXPECT_TRUE(at::allclose(other, tensor.grad(), 1e-9, 1e-11))
        << name << ' ' << own << ' ' << deviation(other, tensor.grad());
  }
}

TEST(Segments, OfLanguageModelsEqualTheDefinition) {
  for (const Case& of : kCases) {
    const Tensor words = words_of(of);
    const LanguageModel model(alphabet_of(of), options_of(of, true)),
        defined(alphabet_of(of), options_of(of, false));
    Random one(5), two(5);
    const Tensor got = model.differentiate(words, 0.5, &one);
    const Tensor wanted = defined.log_probabilities(words, &two);
    (wanted.sum() * 0.5).backward();
    EXPECT_LT(deviation(got, wanted), 1e-10) << name_of(of);
    expect_equal_gradients(model, defined, name_of(of));
    EXPECT_LT(deviation(model.log_probabilities(words), defined.log_probabilities(words)), 1e-10);
  }
}

TEST(Segments, OfRecognizersEqualTheDefinitionWithAndWithoutAWindow) {
  for (const Case& of : kCases)
    for (const int window : {0, 4}) {
      const Tensor words = words_of(of);
      const Recognizer model(alphabet_of(of), options_of(of, true)),
          again(alphabet_of(of), options_of(of, true));
      Random one(5), two(5);
      const auto pass_of = [&](const Recognizer& recognizer, std::int64_t own, Random& noise) {
        const Route route =
            recognizer.network().route(recognizer.request(recognizer.input(words), own, &noise));
        return run_plan(std::get<PlannedBatch>(route));
      };
      const Pass pass = pass_of(model, window, one);
      const auto steps = pass.hiddens.size(1) - 1;  // with the end symbol
      const Tensor slopes =
          at::arange(pass.hiddens.numel(), at::kDouble).cos().view_as(pass.hiddens);
      pass.backward(slopes);
      const Recognizer defined(alphabet_of(of), options_of(of, false));
      if (window == 0) {
        const Tensor hiddens = defined.run(words, &two).hiddens;
        EXPECT_LT(deviation(pass.hiddens, hiddens), 1e-10) << name_of(of);
        (hiddens * slopes).sum().backward();
        expect_equal_gradients(model, defined, name_of(of));
      } else {
        // A window of the string's length has no border, but also one loop.
        const Pass whole = pass_of(again, steps, two);
        EXPECT_LT(deviation(pass.hiddens, whole.hiddens), 1e-10) << name_of(of);
        whole.backward(slopes);
        const Recognizer other(alphabet_of(of), options_of(of, true));
        Random three(5);
        pass_of(other, 0, three).backward(slopes);
        expect_equal_gradients(again, other, name_of(of));
      }
    }
}

TEST(Segments, DoNotDependOnThreads) {
  for (const Case& of : kCases) {
    std::vector<Tensor> first;
    for (const int threads : {1, 2, 3}) {
      set_thread_count(threads);
      const LanguageModel model(alphabet_of(of), options_of(of, true));
      Random noise(5);
      std::vector<Tensor> all{model.differentiate(words_of(of), 1, &noise)};
      for (const auto& entry : model.parameters()) all.push_back(entry.second.grad().clone());
      if (threads == 1) first = all;
      for (std::size_t k = 0; k < all.size(); ++k)
        EXPECT_TRUE(all[k].equal(first[k])) << name_of(of) << ' ' << threads << ' ' << k;
    }
    set_thread_count(1);
  }
}

}  // namespace
}  // namespace pushdown::segments_test
