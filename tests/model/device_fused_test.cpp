// Networks by the kernels of CUDA devices against the fused recurrence of the processor and the
// step-by-step definition: values and all gradients. The kernels run in threads of the processor
// (support/team_runner.h); where there is a device, they run there too.
#include "model/device_fused.h"

#include <gtest/gtest.h>

#include "kernel/device.h"
#include "model/language_model.h"
#include "model/stack_rnn.h"
#include "support/cuda_models.h"
#include "support/golden.h"
#include "support/message.h"
#include "support/team_runner.h"
#include "tensor/torch_build.h"

namespace pushdown::device_fused_test {
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

LanguageModel make_model(const Case& given, const std::string& dtype, bool fused = true,
                         int seed = 3, bool end_symbol = false, const std::string& device = "cpu") {
  return LanguageModel(Alphabet({"a", "b", "c"}), Json{{"controller", given.controller},
                                                       {"stack", given.stack},
                                                       {"dtype", dtype},
                                                       {"fused", fused},
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

// Its form for strings of so many predicted symbols.
FusedNetworkPtr form(const LanguageModel& model, std::int64_t places) {
  const auto& all = model.parameters();
  return model.network().stack_rnn()->fused(places - 1, all[all.size() - 2].second,
                                            all.back().second);
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

class DeviceFused : public testing::TestWithParam<Case> {};

TEST_P(DeviceFused, EqualsTheProcessorAndTheDefinition) {
  const auto runner = std::make_shared<TeamRunner>();
  for (const auto& [dtype, value_bound, gradient_bound] :
       {std::tuple{"float64", 1e-11, 1e-11}, {"float32", 2e-5, 2e-5}})
    for (const auto& [batch, length] : {std::pair{3, 13}, {1, 2}, {5, 3}}) {
      const auto stepwise = make_model(GetParam(), dtype, false),
                 fused = make_model(GetParam(), dtype), device = make_model(GetParam(), dtype);
      const Tensor words = random_words(batch, length);
      const Tensor wanted = stepwise.log_probabilities(words),
                   on_processor = fused.log_probabilities(words),
                   got =
                       device_log_probabilities({form(device, length)}, words.unsqueeze(0), runner);
      ASSERT_EQ(got.sizes(), (std::vector<std::int64_t>{1, batch}));
      EXPECT_LT(deviation(got[0], wanted), value_bound) << dtype << ' ' << length;
      EXPECT_LT(deviation(got[0], on_processor), value_bound) << dtype << ' ' << length;
      // Each string's gradient with another weight.
      const Tensor share = at::linspace(-0.5, 1, batch, got.options()).detach();
      wanted.dot(share).backward();
      on_processor.dot(share).backward();
      got[0].dot(share).backward();
      expect_gradients(device, gradients(stepwise), gradient_bound, dtype);
      expect_gradients(device, gradients(fused), gradient_bound, dtype);
    }
  EXPECT_EQ(runner->passes, 2 * 6);
}

TEST_P(DeviceFused, HiddenVectorsEqualTheDefinition) {
  const auto stepwise = make_model(GetParam(), "float64", false),
             device = make_model(GetParam(), "float64");
  const Tensor words = random_words(3, 9);
  const Tensor wanted = stepwise.network().run(words, nullptr),
               got = device.network().stack_rnn()->run_on_device(
                   words, nullptr, std::make_shared<TeamRunner>(2, 2));
  EXPECT_LT(deviation(got, wanted), 1e-11);
  const Tensor probe = at::arange(wanted.numel(), wanted.options()).view_as(wanted).cos();
  (wanted * probe).sum().backward();
  (got * probe).sum().backward();
  expect_gradients(device, gradients(stepwise), 1e-11, "through hidden vectors");
}

// Strings of several lengths, shorter batches, and an end symbol, which has no input.
TEST_P(DeviceFused, SeveralModelsEqualEachAlone) {
  constexpr std::int64_t kLengths[] = {7, 4, 1}, kBatches[] = {3, 3, 2};
  const auto runner = std::make_shared<TeamRunner>();
  std::vector<LanguageModel> alone, together;
  std::vector<FusedNetworkPtr> forms;
  std::vector<Tensor> wanted, words;
  const Tensor targets = at::full({3, 3, 8}, -1, at::kLong);
  for (int m = 0; m < 3; ++m) {
    alone.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    together.push_back(make_model(GetParam(), "float64", true, 10 + m, true));
    forms.push_back(form(together.back(), 8));
    words.push_back(random_words(kBatches[m], kLengths[m], m));
    wanted.push_back(alone.back().log_probabilities(words.back()));
    (wanted.back() * (m + 1)).sum().backward();
    const Tensor own = targets[m].narrow(0, 0, kBatches[m]);
    own.narrow(1, 0, kLengths[m]).copy_(words.back());
    own.narrow(1, kLengths[m], 1).fill_(3);
  }
  const Tensor got = device_log_probabilities(forms, targets, runner);
  EXPECT_EQ(runner->passes, 1);
  Tensor loss = at::zeros({}, got.options());
  for (int m = 0; m < 3; ++m) {
    EXPECT_LT(deviation(got[m].narrow(0, 0, kBatches[m]), wanted[m]), 1e-11);
    loss = loss + got[m].sum() * (m + 1);
  }
  EXPECT_EQ(got[2][2].item<double>(), 0);  // no string there
  loss.backward();
  EXPECT_EQ(runner->passes, 2);
  for (int m = 0; m < 3; ++m)
    expect_gradients(together[m], gradients(alone[m]), 1e-11, "model " + std::to_string(m));
}

INSTANTIATE_TEST_SUITE_P(Pairs, DeviceFused, testing::ValuesIn(cases()));

const Case kPlain{{{"kind", "lstm"}, {"hidden", 6}}, {{"kind", "nondeterministic"}}};

TEST(DeviceFusedMemory, TooLittleIsSaidBeforeTheFirstPass) {
  const auto model = make_model(kPlain, "float32");
  const auto network = form(model, 40);
  const Tensor words = random_words(10, 40).unsqueeze(0);
  const auto runner = std::make_shared<TeamRunner>();
  const auto need = device_pass_bytes(*network, 1, 10, true);
  const auto sizes = device_scan_sizes(network->shape);
  EXPECT_EQ(need.tape, sizes.tape * 10 * sizeof(float));
  EXPECT_EQ(need.scratch, sizes.scratch * 10 * sizeof(float));
  EXPECT_EQ(device_pass_bytes(*network, 7, 10, true).total(), 7 * need.total());
  runner->memory = need.total() - 1;
  const std::string said = message([&] { device_log_probabilities({network}, words, runner); });
  EXPECT_NE(said.find("10 strings of 39 steps, 1 models at once"), said.npos) << said;
  EXPECT_NE(said.find(fmt::format("tape {:.1f} MB", need.tape / 1e6)), said.npos) << said;
  EXPECT_NE(said.find(fmt::format("{:.1f} MB are free", runner->memory / 1e6)), said.npos) << said;
  EXPECT_NE(said.find("smaller batch"), said.npos) << said;
  EXPECT_EQ(runner->passes, 0);
  {
    const at::NoGradGuard no_gradient;  // needs less
    EXPECT_LT(device_pass_bytes(*network, 1, 10, false).total(), need.total());
    EXPECT_FALSE(device_log_probabilities({network}, words, runner).requires_grad());
  }
  runner->memory = need.total();
  device_log_probabilities({network}, words, runner).sum().backward();
  EXPECT_EQ(runner->passes, 3);
}

TEST(DeviceFusedGraph, IsKeptOnRequestAndElseFreed) {
  const auto model = make_model(kPlain, "float64");
  const auto& weight = model.parameters().front().second;
  const auto count = weight.use_count();
  {
    Tensor kept = device_log_probabilities({form(model, 6)}, random_words(2, 6).unsqueeze(0),
                                           std::make_shared<TeamRunner>())
                      .sum();
    kept.backward({}, true);
    const Tensor once = weight.grad().clone();
    kept.backward();
    EXPECT_LT(deviation(weight.grad(), once * 2), 1e-12);
    EXPECT_ANY_THROW(kept.backward());
  }
  EXPECT_EQ(weight.use_count(), count);
}

TEST(DeviceFusedForm, RefusesOthers) {
  const auto runner = std::make_shared<TeamRunner>();
  const auto one = make_model(kPlain, "float64");
  const auto other = make_model({{{"kind", "gru"}, {"hidden", 6}}, kPlain.stack}, "float64");
  EXPECT_TRUE(same_form(*form(one, 5), *form(make_model(kPlain, "float64", true, 9), 5)));
  EXPECT_FALSE(same_form(*form(one, 5), *form(one, 6)));
  EXPECT_FALSE(same_form(*form(one, 5), *form(other, 5)));
  EXPECT_FALSE(same_form(*form(one, 5), *form(make_model(kPlain, "float32"), 5)));
  const Json unnormalized = automaton(2, 2, "symbol", "original", false);
  EXPECT_FALSE(
      same_form(*form(one, 5), *form(make_model({kPlain.controller, unnormalized}, "float64"), 5)));
  EXPECT_THROW(device_log_probabilities({form(one, 5), form(other, 5)},
                                        at::zeros({2, 1, 5}, at::kLong), runner),
               std::invalid_argument);
  EXPECT_THROW(device_log_probabilities({form(one, 5)}, at::zeros({1, 1, 6}, at::kLong), runner),
               std::invalid_argument);
  EXPECT_THROW(device_log_probabilities({form(one, 5)}, at::zeros({2, 1, 5}, at::kLong), runner),
               std::invalid_argument);
  EXPECT_EQ(runner->passes, 0);
  // What draws random numbers, or goes on from trained vectors, has no such form.
  for (const Json& more : {Json{{"coupling", "state"}}, Json{{"initial_state", "learned"}}}) {
    Json options{{"controller", kPlain.controller}, {"stack", kPlain.stack}};
    options.update(more);
    EXPECT_EQ(form(LanguageModel(Alphabet({"a", "b", "c"}), options), 5), nullptr);
  }
}

// ---- On a device. ----

TEST(DeviceFusedRunner, IsThereWhereADeviceIs) {
  EXPECT_EQ(cuda_runner(at::Device(at::kCPU)), nullptr);
  const std::string reason = no_device();
  if (!reason.empty() && !at::hasCUDA()) {
    EXPECT_THROW(parse_device("cuda"), std::runtime_error);
    // One of three reasons, by name.
    const std::string said = message([] { parse_device("cuda"); });
    EXPECT_NE(said.find("'cuda' was asked for"), said.npos) << said;
    EXPECT_EQ(said.find("has no CUDA (PUSHDOWN_TORCH_DIR") != said.npos, !torch_has_cuda()) << said;
    EXPECT_EQ(said.find("finds no CUDA driver or no device") != said.npos, torch_has_cuda())
        << said;
    EXPECT_EQ(said.find("this build has no CUDA kernels") != said.npos,
              !torch_has_cuda() && !built_with_cuda())
        << said;
  }
}

TEST_P(DeviceFused, ModelsOnTheDevice) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const auto& [dtype, bound] : {std::pair{"float64", 1e-9}, {"float32", 1e-3}})
    for (const auto& [batch, length] : {std::pair{3, 13}, {1, 1}, {7, 2}, {11, 33}}) {
      const auto cpu = make_model(GetParam(), dtype),
                 cuda = make_model(GetParam(), dtype, true, 3, false, "cuda");
      ASSERT_NE(cuda.fused(1), nullptr);
      const Tensor words = random_words(batch, length);
      const Tensor wanted = cpu.log_probabilities(words), got = cuda.log_probabilities(words);
      EXPECT_LT(deviation(got.cpu(), wanted), bound) << dtype << ' ' << length;
      wanted.sum().backward();
      got.sum().backward();
      expect_gradients(cuda, gradients(cpu), bound, dtype);
      // The same again, to the bit.
      const auto once = gradients(cuda);
      for (const auto& [name, tensor] : cuda.parameters()) tensor.mutable_grad() = Tensor();
      const Tensor again = cuda.log_probabilities(words);
      again.sum().backward();
      EXPECT_TRUE(again.equal(got));
      for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_TRUE(gradients(cuda)[i].equal(once[i])) << cuda.parameters()[i].first;
    }
}

TEST(DeviceFusedOnTheDevice, ThousandSymbols) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const Json& stack :
       {Json{{"kind", "superposition"}, {"size", 4}}, Json{{"kind", "stratification"}, {"size", 3}},
        automaton(2, 2, "symbol", "original", true)}) {
    const Case given{{{"kind", "lstm"}, {"hidden", 20}}, stack};
    const auto cpu = make_model(given, "float64"),
               cuda = make_model(given, "float64", true, 3, false, "cuda");
    ASSERT_NE(cuda.fused(1), nullptr);
    const Tensor words = random_words(1, 1000);
    const Tensor wanted = cpu.log_probabilities(words), got = cuda.log_probabilities(words);
    EXPECT_LT(deviation(got.cpu(), wanted), 1e-6);
    wanted.sum().backward();
    got.sum().backward();
    expect_gradients(cuda, gradients(cpu), 1e-6, stack["kind"]);
  }
}

}  // namespace
}  // namespace pushdown::device_fused_test
