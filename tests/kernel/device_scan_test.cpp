// The CUDA kernels of the fused recurrence against those of the processor: values, gradients of the
// pre-activations and of the parameters. Their source runs in teams of threads of the processor;
// where there is a device, the kernels run there too.
#include "kernel/device_scan_problem.h"

namespace pushdown::device_scan_test {
namespace {

using namespace testing_support;

template <class F>
class DeviceScanTwin : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceScanTwin, Numbers);

TYPED_TEST(DeviceScanTwin, EveryStackWithEveryCellByOneThread) {
  for (const auto& [name, shape] : examples())
    for (const ScanCell cell : kCells) {
      const Problem<TypeParam> problem(shape, cell, {.steps = 9, .hidden = 7, .models = 2});
      expect_same(problem.on_processor(), problem.by_teams(1, 1), name);
    }
}

TYPED_TEST(DeviceScanTwin, Teams) {
  for (const auto& [name, shape] : examples()) {
    const Problem<TypeParam> problem(shape, ScanCell::gru,
                                     {.steps = 6, .hidden = 5, .layers = 2, .batch = 1});
    const auto expected = problem.on_processor();
    expect_same(expected, problem.by_teams(4, 2), name + " by 2 groups of 2");
    expect_same(expected, problem.by_teams(3, 1), name + " by 3 groups of 1");
  }
}

// Groups as wide as a warp, and more threads than there are numbers.
TYPED_TEST(DeviceScanTwin, GroupsOf32) {
  for (const ScanShape& shape :
       {superposition(3), sections(SectionEnds::deque, 2), automaton(2, 2, 1)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm, {.steps = 3, .hidden = 5, .batch = 1});
    expect_same(problem.on_processor(), problem.by_teams(64, 32), "64 threads");
  }
}

TYPED_TEST(DeviceScanTwin, LengthsAndLayers) {
  for (const auto& [name, shape] : examples())
    for (const std::int64_t steps : {1, 2, 3, 21}) {
      const Problem<TypeParam> problem(
          shape, ScanCell::lstm,
          {.steps = steps, .hidden = 17, .layers = steps == 3 ? 3 : 1, .models = 1, .batch = 3});
      expect_same(problem.on_processor(), problem.by_teams(1, 1),
                  name + ", " + std::to_string(steps) + " steps");
    }
}

// Pushes, pops and readings each fixed, by a sigmoid or by a distribution, at every end.
TYPED_TEST(DeviceScanTwin, EveryKindOfStrength) {
  constexpr StrengthKind kKinds[] = {StrengthKind::fixed, StrengthKind::sigmoid,
                                     StrengthKind::expectation};
  for (const SectionEnds ends : {SectionEnds::stack, SectionEnds::queue, SectionEnds::deque})
    for (const StrengthKind push : kKinds)
      for (const StrengthKind pop : kKinds)
        for (const StrengthKind read : kKinds) {
          const Problem<TypeParam> problem(sections(ends, 2, 2, push, pop, read, 2),
                                           ScanCell::elman_tanh,
                                           {.steps = 7, .hidden = 4, .batch = 1});
          expect_same(problem.on_processor(), problem.by_teams(1, 1),
                      "strengths " + std::to_string(static_cast<int>(push)) +
                          std::to_string(static_cast<int>(pop)) +
                          std::to_string(static_cast<int>(read)));
        }
}

// Scores so far apart that some configurations cannot be reached.
TYPED_TEST(DeviceScanTwin, PeakyWeights) {
  for (const ScanShape& shape : {automaton(2, 2, 0, true, true, true), automaton(2, 2)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm, {.steps = 12, .hidden = 6}, 12);
    const auto expected = problem.on_processor(), got = problem.by_teams(1, 1);
    expect_near(expected.readings, got.readings, sizeof(TypeParam) == 4 ? 2e-3 : 1e-9, "readings");
    expect_near(expected.gradients, got.gradients, sizeof(TypeParam) == 4 ? 2e-3 : 1e-9,
                "gradients");
  }
}

TYPED_TEST(DeviceScanTwin, ThousandSteps) {
  for (const auto& shape : {superposition(2), sections(SectionEnds::deque, 2)}) {
    const Problem<TypeParam> problem(shape, ScanCell::lstm,
                                     {.steps = 1000, .hidden = 3, .batch = 1}, 0.3);
    const auto expected = problem.on_processor(), got = problem.by_teams(1, 1);
    const double bound = sizeof(TypeParam) == 4 ? 1e-3 : 1e-9;
    expect_near(expected.readings, got.readings, bound, "readings");
    expect_near(expected.gradients, got.gradients, bound, "gradients");
  }
}

// The same numbers as above and, being sums in a fixed order, the same again.
TYPED_TEST(DeviceScanTwin, OnTheDevice) {
  std::string reason;
  if (cuda_devices(reason).empty()) GTEST_SKIP() << "no CUDA device: " << reason;
  // So small that rounding, other than the processor's, does not grow over the steps.
  constexpr double kScale = 0.2;
  for (const auto& [name, shape] : examples())
    for (const ScanCell cell : kCells)
      for (const std::int64_t steps : {1, 2, 33}) {
        const Problem<TypeParam> problem(
            shape, cell, {.steps = steps, .hidden = 21, .layers = 2, .models = 3, .batch = 5},
            kScale);
        const auto got = problem.on_device(), again = problem.on_device();
        expect_same(problem.on_processor(), got, name);
        EXPECT_EQ(got.gradients, again.gradients) << name;
        EXPECT_EQ(got.readings, again.readings) << name;
      }
}

TEST(DeviceScan, RefusesWhatItDoesNotHave) {
  DeviceScan<float> scan;
  scan.shape = superposition(2);
  complete(scan.shape, ScanCell::gru, {.steps = 4, .hidden = 3});
  scan.batch = 2;
  EXPECT_NO_THROW(check_device_scan(scan, false));
  EXPECT_THROW(check_device_scan(scan, true), std::invalid_argument);  // gru: no memory
  scan.models = 70000;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  scan.models = 1;
  scan.shape.gates = 4 * 3;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  scan.shape.gates = 3 * 3;
  scan.shape.stack = ScanStack::shifted;
  EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  // Numbers of a sequence are counted in 32 bits.
  for (const std::int64_t steps : {4000, 5000}) {
    scan.shape = automaton(3, 3);
    complete(scan.shape, ScanCell::lstm, {.steps = steps, .hidden = 3});
    if (steps == 4000)
      EXPECT_NO_THROW(check_device_scan(scan, false));
    else
      EXPECT_THROW(check_device_scan(scan, false), std::invalid_argument);
  }
}

TEST(DeviceScan, WithoutADeviceLaunchesFail) {
  std::string reason;
  if (!cuda_devices(reason).empty()) GTEST_SKIP() << "there is a CUDA device";
  EXPECT_FALSE(reason.empty());
  DeviceScan<float> scan;
  scan.shape = superposition(2);
  complete(scan.shape, ScanCell::lstm, {.steps = 4, .hidden = 3});
  scan.batch = 2;
  EXPECT_THROW(device_scan_forward(scan, nullptr), std::runtime_error);
  EXPECT_THROW(DeviceMemory memory(64), std::runtime_error);
}

}  // namespace
}  // namespace pushdown::device_scan_test
