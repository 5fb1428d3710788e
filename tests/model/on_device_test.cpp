// Language models on a device, if there is one, compared with the processor.
#include <gtest/gtest.h>

#include "kernel/device.h"
#include "model/model_cases.h"
#include "support/cuda_models.h"
#include "support/message.h"
#include "tensor/torch_build.h"

namespace pushdown::on_device_test {
namespace {

using namespace testing_support;

class ModelsOnTheDevice : public testing::TestWithParam<ModelCase> {};

TEST(OnTheDevice, ReportsWhyThereIsNone) {
  EXPECT_EQ(cuda_device(at::Device(at::kCPU)), nullptr);
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

TEST_P(ModelsOnTheDevice, EqualTheProcessor) {
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
      expect_gradients(cuda, gradients_of(cpu), bound, dtype);
      // A second run gives exactly the same bits.
      const auto once = gradients_of(cuda);
      for (const auto& [name, tensor] : cuda.parameters()) tensor.mutable_grad() = Tensor();
      const Tensor again = cuda.log_probabilities(words);
      again.sum().backward();
      EXPECT_TRUE(again.equal(got));
      for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_TRUE(gradients_of(cuda)[i].equal(once[i])) << cuda.parameters()[i].first;
    }
}

TEST(OnTheDevice, ThousandSymbols) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const Json& stack :
       {Json{{"kind", "superposition"}, {"size", 4}}, Json{{"kind", "stratification"}, {"size", 3}},
        automaton_options(2, 2, "symbol", "original", true)}) {
    const ModelCase given{{{"kind", "lstm"}, {"hidden", 20}}, stack};
    const auto cpu = make_model(given, "float64"),
               cuda = make_model(given, "float64", true, 3, false, "cuda");
    const Tensor words = random_words(1, 1000);
    const Tensor wanted = cpu.log_probabilities(words), got = cuda.log_probabilities(words);
    EXPECT_LT(deviation(got.cpu(), wanted), 1e-6);
    wanted.sum().backward();
    got.sum().backward();
    expect_gradients(cuda, gradients_of(cpu), 1e-6, stack["kind"]);
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, ModelsOnTheDevice, testing::ValuesIn(model_cases()));

}  // namespace
}  // namespace pushdown::on_device_test
