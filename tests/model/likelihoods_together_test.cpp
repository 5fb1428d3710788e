// Language models with the kernels of CUDA devices, several in one launch, compared with the
// kernels of the processor and the step-by-step definition: values and all gradients. The kernels
// run in processor threads (support/team_runner.h), and also on a device if there is one.
// label: long
#include "model/likelihoods_together.h"

#include <gtest/gtest.h>

#include <cstring>

#include "kernel/device.h"
#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/cuda_models.h"
#include "support/golden.h"
#include "support/message.h"
#include "support/models_together.h"
#include "support/team_runner.h"
#include "tensor/torch_build.h"

namespace pushdown::likelihoods_together_test {
namespace {

using namespace testing_support;

struct Case {
  Json controller, stack;
};
void PrintTo(const Case& given, std::ostream* out) {
  *out << given.controller << ' ' << given.stack;
}

Json automaton(int states, int symbols, const char* reading, const char* bottom, bool normalized) {
  return {{"kind", "nondeterministic"}, {"states", states}, {"symbols", symbols},
          {"reading", reading},         {"bottom", bottom}, {"normalized", normalized}};
}

std::vector<Case> cases() {
  const std::vector<Json> controllers{
      {{"kind", "elman"}, {"hidden", 5}, {"activation", "sigmoid"}, {"layers", 2}},
      {{"kind", "lstm"}, {"hidden", 20}},
      {{"kind", "gru"}, {"hidden", 7}, {"layers", 3}}};
  const std::vector<Json> stacks{{{"kind", "none"}},
                                 {{"kind", "superposition"}, {"size", 4}},
                                 {{"kind", "stratification"}, {"size", 3}, {"memories", 2}},
                                 {{"kind", "stratification_queue"}, {"size", 17}},
                                 {{"kind", "stratification_deque"},
                                  {"size", 2},
                                  {"push", "expectation"},
                                  {"pop", "fixed"},
                                  {"read", "expectation"},
                                  {"max_strength", 2}},
                                 automaton(2, 2, "symbol", "original", true),
                                 automaton(2, 3, "state_symbol", "reexposed", false),
                                 {{"kind", "vector_nondeterministic"}, {"size", 3}},
                                 {{"kind", "vector_nondeterministic"},
                                  {"states", 3},
                                  {"symbols", 1},
                                  {"size", 2},
                                  {"normalized", true},
                                  {"bottom", "original"},
                                  {"bottom_vector", "one"}}};
  std::vector<Case> all;
  for (const auto& controller : controllers)
    for (const auto& stack : stacks) all.push_back({controller, stack});
  return all;
}

LanguageModel make_model(const Case& given, const std::string& dtype, bool kernels = true,
                         int seed = 3, bool end_symbol = false, const std::string& device = "cpu") {
  return LanguageModel(Alphabet({"a", "b", "c"}), Json{{"controller", given.controller},
                                                       {"stack", given.stack},
                                                       {"dtype", dtype},
                                                       {"kernels", kernels},
                                                       {"end_symbol", end_symbol},
                                                       {"device", device},
                                                       {"seed", seed}});
}

Tensor random_words(std::int64_t batch, std::int64_t length, int seed = 5) {
  Random random(seed);
  Tensor words = at::empty({batch, length}, at::kLong);
  for (std::int64_t i = 0; i < words.numel(); ++i)
    words.data_ptr<std::int64_t>()[i] = static_cast<std::int64_t>(random.below(3));
  return words;
}

std::vector<Tensor> gradients(const LanguageModel& model) {
  std::vector<Tensor> list;
  for (const auto& [name, tensor] : model.parameters())
    list.push_back(tensor.grad().defined() ? tensor.grad().cpu().clone()
                                           : at::zeros_like(tensor).cpu());
  return list;
}

void expect_gradients(const LanguageModel& model, const std::vector<Tensor>& wanted, double bound,
                      const std::string& what) {
  const auto got = gradients(model);
  for (std::size_t i = 0; i < got.size(); ++i)
    EXPECT_LT(deviation(got[i], wanted[i]), bound) << model.parameters()[i].first << ", " << what;
}

class Together : public testing::TestWithParam<Case> {};

TEST_P(Together, EqualsTheProcessorAndTheDefinition) {
  const auto runner = std::make_shared<TeamRunner>();
  for (const auto& [dtype, value_bound, gradient_bound] :
       {std::tuple{"float64", 1e-11, 1e-11}, {"float32", 2e-5, 2e-5}})
    for (const auto& [batch, length] : {std::pair{3, 13}, {1, 2}, {5, 3}}) {
      const auto stepwise = make_model(GetParam(), dtype, false),
                 kernels = make_model(GetParam(), dtype), device = make_model(GetParam(), dtype);
      const Tensor words = random_words(batch, length);
      ModelsTogether together({&device}, device_engine(runner));
      const Tensor wanted = stepwise.log_probabilities(words),
                   on_processor = kernels.log_probabilities(words),
                   got = together.differentiate({words}, {0.7});
      ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{1, batch}));
      EXPECT_LT(deviation(got[0], wanted), value_bound) << dtype << ' ' << length;
      EXPECT_LT(deviation(got[0], on_processor), value_bound) << dtype << ' ' << length;
      wanted.sum().mul(0.7).backward();
      on_processor.sum().mul(0.7).backward();
      expect_gradients(device, gradients(stepwise), gradient_bound, dtype);
      expect_gradients(device, gradients(kernels), gradient_bound, dtype);
    }
  EXPECT_EQ(runner->passes, 2 * 6);
}

// Strings of several lengths, shorter batches, and an end symbol, which has no input.
TEST_P(Together, SeveralModelsEqualEachAlone) {
  constexpr std::int64_t kLengths[] = {7, 4, 1}, kBatches[] = {3, 3, 2};
  const auto runner = std::make_shared<TeamRunner>();
  std::vector<LanguageModel> alone, together;
  std::vector<Tensor> wanted, words;
  for (int m = 0; m < 3; ++m) {
    alone.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    together.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    words.push_back(random_words(kBatches[m], kLengths[m], m));
    wanted.push_back(alone.back().log_probabilities(words.back()));
    (wanted.back() * (m + 1)).sum().backward();
  }
  ModelsTogether all({&together[0], &together[1], &together[2]}, device_engine(runner));
  const auto compare = [&] {
    const Tensor got = all.differentiate(words, {1, 2, 3});
    for (int m = 0; m < 3; ++m) {
      const Tensor own = got[m].narrow(0, 0, kBatches[m]);
      EXPECT_LT(deviation(own, wanted[m]), 1e-11);
      EXPECT_EQ(got[m].numel() - own.numel(), got[m]
                                                  .narrow(0, kBatches[m], got.size(1) - kBatches[m])
                                                  .eq(0)
                                                  .sum()
                                                  .item<std::int64_t>());
      expect_gradients(together[m], gradients(alone[m]), 1e-11, "model " + std::to_string(m));
      EXPECT_NEAR(all.sums[m].log_probability, wanted[m].sum().item<double>(), 1e-10);
      double squares = 0;
      for (const Tensor& gradient : gradients(together[m]))
        squares += gradient.square().sum().item<double>();
      EXPECT_NEAR(all.sums[m].squares, squares, 1e-10 * (1 + squares));
    }
  };
  compare();
  EXPECT_EQ(runner->passes, 2);
  // In the memory of longer strings and larger batches nothing changes.
  const std::vector<Tensor> longer{random_words(4, 5), random_words(2, 9), random_words(1, 0)};
  all.differentiate(longer, {1, 1, 1});
  compare();
}

INSTANTIATE_TEST_SUITE_P(Pairs, Together, testing::ValuesIn(cases()));

const Case kPlain{{{"kind", "lstm"}, {"hidden", 6}}, {{"kind", "nondeterministic"}}};

TEST(TogetherMemory, TooLittleIsReportedBeforeTheFirstPass) {
  const auto model = make_model(kPlain, "float32");
  const Tensor words = random_words(10, 40);
  const auto runner = std::make_shared<TeamRunner>();
  const auto run = [&] {
    ModelsTogether({&model}, device_engine(runner)).differentiate({words}, {1});
  };
  runner->memory = 1000;
  const std::string said = message(run);
  EXPECT_NE(said.find("10 strings of 39 steps, 1 models at once"), said.npos) << said;
  EXPECT_NE(said.find("0.0 MB are free"), said.npos) << said;
  EXPECT_NE(said.find("smaller batch"), said.npos) << said;
  EXPECT_EQ(runner->passes, 0);
  // The reported size is enough, and less is not.
  const auto bytes_of = [&](const char* before) {
    const auto place = said.find(before);
    return place == said.npos ? 0.0 : 1e6 * std::stod(said.substr(place + std::strlen(before)));
  };
  const double need = bytes_of("at once: "), tape = bytes_of("tape ");
  EXPECT_GT(tape, 0);
  EXPECT_GT(need, tape);
  runner->memory = static_cast<std::size_t>(need - 1e5);
  EXPECT_ANY_THROW(run());
  runner->memory = static_cast<std::size_t>(need + 1e5);
  run();
  EXPECT_EQ(runner->passes, 2);
}

TEST(TogetherForm, OthersAreRefused) {
  const auto runner = std::make_shared<TeamRunner>();
  const auto one = make_model(kPlain, "float64"),
             gru = make_model({{{"kind", "gru"}, {"hidden", 6}}, kPlain.stack}, "float64"),
             unnormalized = make_model(
                 {kPlain.controller, automaton(2, 2, "symbol", "original", false)}, "float64");
  EXPECT_TRUE(can_go_together(one, make_model(kPlain, "float64", true, 9)));
  EXPECT_FALSE(can_go_together(one, gru));
  EXPECT_FALSE(can_go_together(one, unnormalized));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float32")));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float64", false)));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float64", true, 3, true)));
  const Tensor words = random_words(1, 5);
  const auto refused = [&](const std::vector<const LanguageModel*>& models) {
    EXPECT_THROW(
        ModelsTogether(models, device_engine(runner)).differentiate({words, words}, {1, 1}),
        std::invalid_argument);
  };
  refused({&one, &gru});
  refused({&one, &unnormalized});
  refused({&one});
  EXPECT_EQ(runner->passes, 0);
  // Models that draw random numbers in training cannot run together.
  const LanguageModel noisy(
      Alphabet({"a", "b", "c"}),
      Json{{"controller", kPlain.controller}, {"stack", kPlain.stack}, {"noise", 0.1}});
  EXPECT_FALSE(can_go_together(noisy, noisy));
}

// Readings added to the controller's state, carried states, and trained initial vectors.
TEST(TogetherForm, OtherRecurrencesEqualTheProcessor) {
  const auto runner = std::make_shared<TeamRunner>(3, 1);
  for (const Json& more :
       {Json{{"coupling", "state"}}, Json{{"initial_state", "learned"}},
        Json{{"coupling", "state"}, {"carry_forward", "counter"}, {"initial_state", "learned"}}}) {
    std::vector<LanguageModel> alone, together;
    for (int m = 0; m < 2; ++m)
      for (auto* models : {&alone, &together}) {
        Json options{{"controller", kPlain.controller},
                     {"stack", {{"kind", "superposition"}, {"size", 3}}},
                     {"dtype", "float64"},
                     {"seed", 5 + m}};
        options.update(more);
        models->emplace_back(Alphabet({"a", "b", "c"}), options);
      }
    const std::vector<Tensor> words{random_words(2, 9), random_words(3, 7)};
    const Tensor got = ModelsTogether({&together[0], &together[1]}, device_engine(runner))
                           .differentiate(words, {1, 1});
    for (std::size_t m = 0; m < 2; ++m) {
      const Tensor wanted = alone[m].log_probabilities(words[m]);
      EXPECT_LT(deviation(got[static_cast<std::int64_t>(m)].narrow(0, 0, wanted.size(0)), wanted),
                1e-11)
          << more;
      wanted.sum().backward();
      expect_gradients(together[m], gradients(alone[m]), 1e-11, more.dump());
    }
  }
}

// ---- On a device. ----

TEST(TogetherRunner, ExistsIfThereIsADevice) {
  EXPECT_EQ(cuda_runner(at::Device(at::kCPU)), nullptr);
  const std::string reason = no_device();
  if (!reason.empty() && !at::hasCUDA()) {
    EXPECT_THROW(parse_device("cuda"), std::runtime_error);
    // Returns one of three reasons by name.
    const std::string said = message([] { parse_device("cuda"); });
    EXPECT_NE(said.find("'cuda' was requested"), said.npos) << said;
    EXPECT_EQ(said.find("has no CUDA (PUSHDOWN_TORCH_DIR") != said.npos, !torch_has_cuda()) << said;
    EXPECT_EQ(said.find("finds no CUDA driver or no device") != said.npos, torch_has_cuda())
        << said;
    EXPECT_EQ(said.find("this build has no CUDA kernels") != said.npos,
              !torch_has_cuda() && !built_with_cuda())
        << said;
  }
}

TEST_P(Together, ModelsOnTheDevice) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const auto& [dtype, bound] : {std::pair{"float64", 1e-9}, {"float32", 1e-3}})
    for (const auto& [batch, length] : {std::pair{3, 13}, {1, 1}, {7, 2}, {11, 33}}) {
      const auto cpu = make_model(GetParam(), dtype),
                 cuda = make_model(GetParam(), dtype, true, 3, false, "cuda");
      const Tensor words = random_words(batch, length);
      const Tensor wanted = cpu.log_probabilities(words), got = cuda.log_probabilities(words);
      EXPECT_LT(deviation(got.cpu(), wanted), bound) << dtype << ' ' << length;
      wanted.sum().backward();
      got.sum().backward();
      expect_gradients(cuda, gradients(cpu), bound, dtype);
      // A second run gives exactly the same bits.
      const auto once = gradients(cuda);
      for (const auto& [name, tensor] : cuda.parameters()) tensor.mutable_grad() = Tensor();
      const Tensor again = cuda.log_probabilities(words);
      again.sum().backward();
      EXPECT_TRUE(again.equal(got));
      for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_TRUE(gradients(cuda)[i].equal(once[i])) << cuda.parameters()[i].first;
    }
}

TEST(TogetherOnTheDevice, ThousandSymbols) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const Json& stack :
       {Json{{"kind", "superposition"}, {"size", 4}}, Json{{"kind", "stratification"}, {"size", 3}},
        automaton(2, 2, "symbol", "original", true)}) {
    const Case given{{{"kind", "lstm"}, {"hidden", 20}}, stack};
    const auto cpu = make_model(given, "float64"),
               cuda = make_model(given, "float64", true, 3, false, "cuda");
    const Tensor words = random_words(1, 1000);
    const Tensor wanted = cpu.log_probabilities(words), got = cuda.log_probabilities(words);
    EXPECT_LT(deviation(got.cpu(), wanted), 1e-6);
    wanted.sum().backward();
    got.sum().backward();
    expect_gradients(cuda, gradients(cpu), 1e-6, stack["kind"]);
  }
}

}  // namespace
}  // namespace pushdown::likelihoods_together_test
