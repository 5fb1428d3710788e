// The launches of the CUDA kernels, on the stand-in for the CUDA runtime: what every stack leaves
// behind on the processor's kernels it leaves behind here, whichever way threads take turns.
#include <gtest/gtest.h>

#include "cuda/cuda_runtime.h"
#include "kernel/device.h"
#include "kernel/device_scan_problem.h"
#include "model/device_runner.h"
#include "model/recorded_cases.h"
#include "support/golden.h"

namespace pushdown::launch_test {
namespace {

using namespace testing_support;

class Launches final : public DeviceRunner {
 public:
  void forward(const DeviceScan<float>& scan) const override { device_scan_forward(scan, nullptr); }
  void forward(const DeviceScan<double>& scan) const override {
    device_scan_forward(scan, nullptr);
  }
  void backward(const DeviceScan<float>& scan) const override {
    device_scan_backward(scan, nullptr);
  }
  void backward(const DeviceScan<double>& scan) const override {
    device_scan_backward(scan, nullptr);
  }
  void run(const DeviceStepProgram<float>& program, bool backward) const override {
    steps(program, backward);
  }
  void run(const DeviceStepProgram<double>& program, bool backward) const override {
    steps(program, backward);
  }
  std::size_t free_bytes() const override { return cuda_memory(0).free_bytes; }

 private:
  template <class F>
  static void steps(const DeviceStepProgram<F>& program, bool backward) {
    if (backward)
      device_step_backward(program, nullptr);
    else
      device_step_forward(program, nullptr);
  }
};

TEST(Launch, FusedRecurrenceOfEveryStack) {
  const Sizes sizes{.steps = 4, .hidden = 5, .layers = 2, .models = 2, .batch = 1};
  for (const auto& [name, shape] : examples()) {
    const Problem<float> problem(shape, ScanCell::lstm, sizes);
    cuda_stand_in::set_descending(false);
    const auto first = problem.on_device();
    cuda_stand_in::set_descending(true);
    const auto again = problem.on_device();
    EXPECT_EQ(first.gradients, again.gradients) << name;
    EXPECT_EQ(first.readings, again.readings) << name;
    expect_same(problem.on_processor(), first, name);
  }
}

// More numbers than shared memory holds: those that should be near lie in scratch.
TEST(Launch, WithoutSharedMemory) {
  const Sizes sizes{.steps = 3, .hidden = 4100, .models = 1, .batch = 1};
  const Problem<double> problem(superposition(2), ScanCell::elman_tanh, sizes, 0.01);
  EXPECT_GT(device_scan_sizes(problem.shape).fast * sizeof(double), 48u * 1024);
  expect_same(problem.on_processor(), problem.on_device(), "in scratch");
}

class LaunchOfSteps : public testing::TestWithParam<RecordedCase> {};

TEST_P(LaunchOfSteps, EqualsTheProcessor) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  const Tensor inputs = at::randn({2, 3, 4}, options);
  Random random(3);
  const StackRnn network(GetParam().controller, GetParam().stack, 4, options, random,
                         GetParam().recurrence);
  const auto run = [&](const DeviceRunnerPtr& runner) {
    const Tensor x = inputs.clone().requires_grad_();
    for (const auto& [name, tensor] : network.parameters()) tensor.mutable_grad() = Tensor();
    Random drawn(7);
    const Tensor hiddens = network.run_recorded(x, {}, &drawn, 0, runner);
    (hiddens * at::arange(hiddens.numel(), options).view_as(hiddens).cos()).sum().backward();
    std::vector<Tensor> all{hiddens.detach(), x.grad()};
    for (const auto& [name, tensor] : network.parameters())
      all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros({1}, options));
    return all;
  };
  const auto wanted = run(nullptr);
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    const auto got = run(std::make_shared<Launches>());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), 1e-9 * (1 + wanted[i].abs().max().item<double>()))
          << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, LaunchOfSteps, testing::ValuesIn(recorded_cases()));

}  // namespace
}  // namespace pushdown::launch_test
