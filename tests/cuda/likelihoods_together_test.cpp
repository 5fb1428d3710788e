// Language models by printed code, several in one launch, compared with the kernels of the
// processor and the step-by-step definition: values and all gradients. label: long
#include "model/likelihoods_together.h"

#include <gtest/gtest.h>

#include <cstring>

#include "model/model_cases.h"
#include "support/message.h"
#include "support/models_together.h"
#include "support/stand_in_device.h"

namespace pushdown::likelihoods_together_test {
namespace {

using namespace testing_support;

class Together : public testing::TestWithParam<ModelCase> {};

TEST_P(Together, EqualsTheProcessorAndTheDefinition) {
  const auto device = std::make_shared<StandInDevice>();
  for (const auto& [dtype, value_bound, gradient_bound] :
       {std::tuple{"float64", 1e-11, 1e-11}, {"float32", 2e-5, 2e-5}})
    for (const auto& [batch, length] : {std::pair{3, 13}, {1, 2}, {5, 3}}) {
      const auto stepwise = make_model(GetParam(), dtype, false),
                 kernels = make_model(GetParam(), dtype), printed = make_model(GetParam(), dtype);
      const Tensor words = random_words(batch, length);
      ModelsTogether together({&printed}, device_engine(device));
      const Tensor wanted = stepwise.log_probabilities(words),
                   on_processor = kernels.log_probabilities(words),
                   got = together.differentiate({words}, {0.7});
      ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{1, batch}));
      EXPECT_LT(deviation(got[0], wanted), value_bound) << dtype << ' ' << length;
      EXPECT_LT(deviation(got[0], on_processor), value_bound) << dtype << ' ' << length;
      wanted.sum().mul(0.7).backward();
      on_processor.sum().mul(0.7).backward();
      expect_gradients(printed, gradients_of(stepwise), gradient_bound, dtype);
      expect_gradients(printed, gradients_of(kernels), gradient_bound, dtype);
    }
  EXPECT_EQ(device->passes(), 2 * 6);
}

// Strings of several lengths, shorter batches, and an end symbol, which has no input.
TEST_P(Together, SeveralModelsEqualEachAlone) {
  constexpr std::int64_t kLengths[] = {7, 4, 1}, kBatches[] = {3, 3, 2};
  const auto device = std::make_shared<StandInDevice>();
  std::vector<LanguageModel> alone, together;
  std::vector<Tensor> wanted, words;
  for (int m = 0; m < 3; ++m) {
    alone.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    together.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    words.push_back(random_words(kBatches[m], kLengths[m], 3, static_cast<std::uint64_t>(m)));
    wanted.push_back(alone.back().log_probabilities(words.back()));
    (wanted.back() * (m + 1)).sum().backward();
  }
  ModelsTogether all({&together[0], &together[1], &together[2]}, device_engine(device));
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
      expect_gradients(together[m], gradients_of(alone[m]), 1e-11, "model " + std::to_string(m));
      EXPECT_NEAR(all.sums[m].log_probability, wanted[m].sum().item<double>(), 1e-10);
      double squares = 0;
      for (const Tensor& gradient : gradients_of(together[m]))
        squares += gradient.square().sum().item<double>();
      EXPECT_NEAR(all.sums[m].squares, squares, 1e-10 * (1 + squares));
    }
  };
  compare();
  EXPECT_EQ(device->passes(), 2);
  // In the memory of longer strings and larger batches nothing changes.
  const std::vector<Tensor> longer{random_words(4, 5), random_words(2, 9), random_words(1, 0)};
  all.differentiate(longer, {1, 1, 1});
  compare();
}

INSTANTIATE_TEST_SUITE_P(Pairs, Together, testing::ValuesIn(model_cases()));

const ModelCase kPlain{{{"kind", "lstm"}, {"hidden", 6}}, {{"kind", "nondeterministic"}}};

TEST(TogetherMemory, TooLittleIsReportedBeforeTheFirstPass) {
  const auto model = make_model(kPlain, "float32");
  const Tensor words = random_words(10, 40);
  const auto device = std::make_shared<StandInDevice>();
  const auto run = [&] {
    ModelsTogether({&model}, device_engine(device)).differentiate({words}, {1});
  };
  device->memory = 1000;
  const std::string said = message(run);
  EXPECT_NE(said.find("10 strings of 39 steps, 1 models at once"), said.npos) << said;
  EXPECT_NE(said.find("0.0 MB are free"), said.npos) << said;
  EXPECT_NE(said.find("smaller batch"), said.npos) << said;
  EXPECT_EQ(device->passes(), 0);
  // The reported size is enough, and less is not.
  const auto bytes_of = [&](const char* before) {
    const auto place = said.find(before);
    return place == said.npos ? 0.0 : 1e6 * std::stod(said.substr(place + std::strlen(before)));
  };
  const double need = bytes_of("at once: "), tape = bytes_of("tape ");
  EXPECT_GT(tape, 0);
  EXPECT_GT(need, tape);
  device->memory = static_cast<std::size_t>(need - 1e5);
  EXPECT_ANY_THROW(run());
  device->memory = static_cast<std::size_t>(need + 1e5);
  run();
  EXPECT_EQ(device->passes(), 2);
}

TEST(TogetherForm, OthersAreRefused) {
  const auto device = std::make_shared<StandInDevice>();
  const auto one = make_model(kPlain, "float64"),
             gru = make_model({{{"kind", "gru"}, {"hidden", 6}}, kPlain.stack}, "float64"),
             unnormalized = make_model(
                 {kPlain.controller, automaton_options(2, 2, "symbol", "original", false)},
                 "float64");
  EXPECT_TRUE(can_go_together(one, make_model(kPlain, "float64", true, 9)));
  EXPECT_FALSE(can_go_together(one, gru));
  EXPECT_FALSE(can_go_together(one, unnormalized));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float32")));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float64", false)));
  EXPECT_FALSE(can_go_together(one, make_model(kPlain, "float64", true, 3, true)));
  const Tensor words = random_words(1, 5);
  const auto refused = [&](const std::vector<const LanguageModel*>& models) {
    EXPECT_THROW(
        ModelsTogether(models, device_engine(device)).differentiate({words, words}, {1, 1}),
        std::invalid_argument);
  };
  refused({&one, &gru});
  refused({&one, &unnormalized});
  refused({&one});
  EXPECT_EQ(device->passes(), 0);
  // Models that draw random numbers in training cannot run together.
  const LanguageModel noisy(
      Alphabet({"a", "b", "c"}),
      Json{{"controller", kPlain.controller}, {"stack", kPlain.stack}, {"noise", 0.1}});
  EXPECT_FALSE(can_go_together(noisy, noisy));
}

// Readings added to the controller's state, carried states, and trained initial vectors.
TEST(TogetherForm, OtherRecurrencesEqualTheProcessor) {
  const auto device = std::make_shared<StandInDevice>();
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
    const Tensor got = ModelsTogether({&together[0], &together[1]}, device_engine(device))
                           .differentiate(words, {1, 1});
    for (std::size_t m = 0; m < 2; ++m) {
      const Tensor wanted = alone[m].log_probabilities(words[m]);
      EXPECT_LT(deviation(got[static_cast<std::int64_t>(m)].narrow(0, 0, wanted.size(0)), wanted),
                1e-11)
          << more;
      wanted.sum().backward();
      expect_gradients(together[m], gradients_of(alone[m]), 1e-11, more.dump());
    }
  }
}

}  // namespace
}  // namespace pushdown::likelihoods_together_test
