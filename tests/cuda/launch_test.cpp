// The launches of the CUDA kernels with the replacement for the CUDA runtime. Every stack gives the
// same results as the kernels of the processor, in every order of the threads.
// label: long
#include <gtest/gtest.h>

#include "cuda/cuda_runtime.h"
#include "cuda/launches.h"
#include "cuda/printing/cases.h"
#include "model/recorded_cases.h"
#include "recurrence/device/steps.h"
#include "recurrence/everything.h"
#include "support/golden.h"
#include "support/models_together.h"

namespace pushdown::launch_test {
namespace {

using namespace testing_support;

// Several models that read symbols, in every order of the threads.
TEST(Launch, ModelsOfEveryStack) {
  for (const Json& stack :
       {Json{{"kind", "none"}}, Json{{"kind", "superposition"}, {"size", 3}},
        Json{{"kind", "stratification_deque"}, {"size", 2}}, Json{{"kind", "nondeterministic"}},
        Json{{"kind", "vector_nondeterministic"}, {"states", 3}, {"symbols", 1}, {"size", 2}}}) {
    std::vector<LanguageModel> models;
    for (int m = 0; m < 2; ++m)
      models.emplace_back(Alphabet({"a", "b", "c"}),
                          Json{{"controller", {{"kind", "lstm"}, {"hidden", 5}}},
                               {"stack", stack},
                               {"dtype", "float64"},
                               {"seed", m + 1}});
    const Tensor words = at::arange(10, at::kLong).remainder(3).view({2, 5});
    std::vector<Tensor> found[3];
    for (const int way : {0, 1, 2}) {
      for (const auto& model : models)
        for (const auto& [name, tensor] : model.parameters()) tensor.mutable_grad() = Tensor();
      cuda_stand_in::set_descending(way == 1);
      Tensor values;
      if (way == 2) {
        values =
            at::stack({models[0].log_probabilities(words), models[1].log_probabilities(words)});
        values.sum().backward();
      } else {
        values =
            ModelsTogether({&models[0], &models[1]}, device_engine(std::make_shared<Launches>()))
                .differentiate({words, words}, {1, 1});
      }
      found[way].push_back(values.detach());
      for (const auto& model : models)
        for (const auto& [name, tensor] : model.parameters())
          found[way].push_back(tensor.grad().defined() ? tensor.grad()
                                                       : at::zeros({1}, at::kDouble));
    }
    for (std::size_t i = 0; i < found[0].size(); ++i) {
      EXPECT_TRUE(found[0][i].equal(found[1][i])) << stack << ' ' << i;
      EXPECT_LT(deviation(found[0][i], found[2][i]), 1e-11) << stack << ' ' << i;
    }
  }
}

// There are more numbers than shared memory holds, so the fast ones are in scratch memory.
TEST(Launch, WithoutSharedMemory) {
  const LanguageModel model(Alphabet({"a", "b"}),
                            Json{{"controller", {{"kind", "elman"}, {"hidden", 2}}},
                                 {"stack", {{"kind", "superposition"}, {"size", 6200}}},
                                 {"dtype", "float64"}});
  const Tensor words = at::zeros({1, 3}, at::kLong);
  const Tensor wanted = model.log_probabilities(words);
  const StepPlanPtr plan = model.network().plan(1, 3);
  EXPECT_GT(device_step_sizes(plan->program()->shape).fast * sizeof(double), 48u * 1024);
  const Tensor got = ModelsTogether({&model}, device_engine(std::make_shared<Launches>()))
                         .differentiate({words}, {1});
  EXPECT_LT(deviation(got[0], wanted), 1e-11);
}

// Every operation, array programs among them; with blocks of both sizes.
void compare_every_operation(std::int64_t batch, std::int64_t steps) {
  const auto launches = std::make_shared<Launches>();
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    expect_every_operation(batch, steps, true, [&](TracedProgram program) {
      return run_device_steps<double>(
          std::move(program), batch, steps, 0,
          [&](const DeviceStepProgram<double>& of, bool backward) { launches->run(of, backward); });
    });
  }
}
TEST(Launch, EveryOperation) { compare_every_operation(3, 7); }
TEST(Launch, EveryOperationOfManySequences) { compare_every_operation(401, 2); }

class LaunchOfSteps : public testing::TestWithParam<RecordedCase> {};

TEST_P(LaunchOfSteps, EqualsTheProcessor) {
  const auto wanted = recorded_outcome(GetParam(), nullptr);
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    const auto got = recorded_outcome(GetParam(), device_engine(std::make_shared<Launches>()));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), 1e-9 * (1 + wanted[i].abs().max().item<double>()))
          << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, LaunchOfSteps, testing::ValuesIn(recorded_cases()));

}  // namespace
}  // namespace pushdown::launch_test
