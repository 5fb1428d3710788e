// The CUDA kernels of the fused recurrence on a device: sizes, odd batches, the longest strings,
// and the same numbers twice. device_scan_test.cpp has every stack with every cell.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "device_scan_problem.h"

namespace pushdown::device_scan_sizes_test {
namespace {

using namespace testing_support;

// Twice on the device, the same bits; and as on the processor.
template <class F>
void expect_twins(const Problem<F>& problem, const std::string& name, double bound = 0) {
  const auto got = problem.on_device(), again = problem.on_device();
  EXPECT_EQ(got.gradients, again.gradients) << name;
  EXPECT_EQ(got.readings, again.readings) << name;
  EXPECT_EQ(got.hidden, again.hidden) << name;
  const auto expected = problem.on_processor();
  if (bound == 0) return expect_same(expected, got, name);
  expect_near(expected.readings, got.readings, bound, name + ", readings");
  expect_near(expected.gradients, got.gradients, bound, name + ", parameter gradients");
}

// Why nothing can be run; empty where it can.
std::string no_device() {
  std::string reason;
  return cuda_devices(reason).empty() ? "no CUDA device: " + reason : "";
}

template <class F>
class DeviceScanSizes : public testing::Test {};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceScanSizes, Numbers);

// Few steps of everything: what compute-sanitizer is run on.
TYPED_TEST(DeviceScanSizes, OnTheDeviceShort) {
  if (const auto reason = no_device(); !reason.empty()) GTEST_SKIP() << reason;
  for (const auto& [name, shape] : examples())
    for (const ScanCell cell : {ScanCell::lstm, ScanCell::gru})
      expect_twins(
          Problem<TypeParam>(shape, cell,
                             {.steps = 5, .hidden = 6, .layers = 2, .models = 2, .batch = 3}),
          name);
}

TYPED_TEST(DeviceScanSizes, OnTheDeviceInOddBatches) {
  if (const auto reason = no_device(); !reason.empty()) GTEST_SKIP() << reason;
  for (const ScanShape& shape :
       {superposition(3), sections(SectionEnds::deque, 2), automaton(2, 2)})
    for (const std::int64_t batch : {1, 7, 33})
      for (const std::int64_t models : {1, 5})
        expect_twins(
            Problem<TypeParam>(shape, ScanCell::lstm,
                               {.steps = 11, .hidden = 9, .models = models, .batch = batch}),
            fmt::format("batch {}, {} models", batch, models));
}

TYPED_TEST(DeviceScanSizes, OnTheDeviceInAllSizes) {
  if (const auto reason = no_device(); !reason.empty()) GTEST_SKIP() << reason;
  std::vector<ScanShape> shapes;
  for (int states = 1; states <= 5; ++states)
    for (int symbols = 1; symbols <= 4; ++symbols) {
      shapes.push_back(automaton(states, symbols));
      shapes.push_back(automaton(states, symbols, 2, false, true, true));
    }
  for (const std::int64_t size : {1, 16, 17, 33, 129}) {
    shapes.push_back(superposition(size));
    shapes.push_back(sections(SectionEnds::stack, size));
  }
  // Weights so small that rounding stays what it is over the steps.
  constexpr std::int64_t kHidden[] = {1, 40, 131};
  constexpr double kScales[] = {0.7, 0.15, 0.05};
  for (std::size_t k = 0; k < shapes.size(); ++k)
    expect_twins(
        Problem<TypeParam>(shapes[k], kCells[k % 4],
                           {.steps = 14, .hidden = kHidden[k % 3], .batch = 2}, kScales[k % 3]),
        fmt::format("shape {}", k));
}

TYPED_TEST(DeviceScanSizes, OnTheDeviceInAThousandSteps) {
  if (const auto reason = no_device(); !reason.empty()) GTEST_SKIP() << reason;
  for (const ScanShape& shape : {superposition(2), sections(SectionEnds::deque, 2),
                                 automaton(2, 2, 0, true, true, true), automaton(1, 2, 3)})
    expect_twins(
        Problem<TypeParam>(shape, ScanCell::lstm, {.steps = 1000, .hidden = 3, .batch = 1}, 0.3),
        "a thousand steps", sizeof(TypeParam) == 4 ? 3e-3 : 1e-8);
}

}  // namespace
}  // namespace pushdown::device_scan_sizes_test
