// Networks with every controller, stack, coupling, noise and carry-forward by printed code,
// compared with the processor's kernels: whole strings, strings of several lengths, pieces,
// windows, and several passes. label: long
#include "model/recorded_cases.h"

#include <gtest/gtest.h>

#include "support/golden.h"
#include "support/stand_in_device.h"

namespace pushdown::printed_recorded_test {
namespace {

using namespace testing_support;

struct Form {
  std::int64_t batch = 2, steps = 3, window = 0, passes = 1;
  at::ScalarType type = at::kDouble;
  std::vector<std::int64_t> lengths = {};
};

// The hidden vectors and all gradients; null: by the processor.
std::vector<Tensor> outcome(const RecordedCase& of, const Form& form, const DevicePtr& device) {
  const auto options = at::TensorOptions().dtype(form.type);
  at::manual_seed(5);
  const Tensor x = at::randn({form.batch, form.steps, 4}, options).requires_grad_();
  Random random(3), drawn(7);
  const StackRnn network(of.controller, of.stack, 4, options, random, of.recurrence);
  if (network.stack().recorded(
          {.batch = form.batch, .steps = form.steps, .cut = form.window > 0}) == nullptr)
    return {};
  const Tensor hiddens = network.run_recorded(
      x, {}, &drawn, form.window, device == nullptr ? nullptr : device_engine(device),
      Refinement(form.passes, form.window == 0), form.lengths);
  (hiddens * at::arange(hiddens.numel(), options).view_as(hiddens).cos()).sum().backward();
  std::vector<Tensor> all{hiddens.detach(), x.grad()};
  for (const auto& [name, tensor] : network.parameters())
    all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros({1}, options));
  return all;
}

void compare(const RecordedCase& of, const Form& form,
             const std::shared_ptr<StandInDevice>& device = std::make_shared<StandInDevice>()) {
  const auto wanted = outcome(of, form, nullptr);
  if (wanted.empty()) return;
  const double bound = form.type == at::kDouble ? 1e-9 : 5e-5;
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    const auto before = device->passes();
    const auto got = outcome(of, form, device);
    cuda_stand_in::set_descending(false);
    EXPECT_EQ(device->passes() - before, 2);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LT(deviation(got[i], wanted[i]), bound * (1 + wanted[i].abs().max().item<double>()))
          << i << ", " << form.batch << " x " << form.steps << ", window " << form.window << ", "
          << form.passes << " passes, " << form.type;
  }
}

class PrintedSteps : public testing::TestWithParam<RecordedCase> {};

TEST_P(PrintedSteps, EqualTheProcessor) {
  for (const Form& form :
       {Form{}, Form{1, 1}, Form{.batch = 5, .steps = 9, .lengths = {9, 9, 6, 2, 1}}})
    compare(GetParam(), form);
}

INSTANTIATE_TEST_SUITE_P(Pairs, PrintedSteps, testing::ValuesIn(recorded_cases()));

// Every stack and way of coupling with the controllers that come with them.
std::vector<RecordedCase> chosen_cases() {
  std::vector<RecordedCase> all = recorded_cases(), chosen;
  for (std::size_t k = 0; k < all.size(); ++k)
    if (k % 7 == 0 || (all[k].recurrence.carry != CarryForward::none && k % 3 == 0))
      chosen.push_back(all[k]);
  return chosen;
}
class PrintedForms : public testing::TestWithParam<RecordedCase> {};

TEST_P(PrintedForms, EqualTheProcessor) {
  for (const Form& form : {Form{.batch = 1, .steps = 7, .window = 3}, Form{.steps = 2, .passes = 3},
                           Form{.steps = 5, .type = at::kFloat}})
    compare(GetParam(), form);
}

// Consecutive pieces, of which each takes the memory over.
TEST_P(PrintedForms, PiecesEqualTheProcessor) {
  const RecordedCase& of = GetParam();
  const auto options = at::TensorOptions().dtype(at::kDouble);
  Random random(3);
  const StackRnn network(of.controller, of.stack, 4, options, random, of.recurrence);
  if (network.stack().recorded({.batch = 2, .steps = 3, .from = network.stack().initial(2, 13)}) ==
      nullptr)
    GTEST_SKIP() << "the memory is not taken over";
  at::manual_seed(5);
  const Tensor inputs = at::randn({2, 13, 4}, options);
  for (const bool cut : {false, true}) {
    const auto run = [&](const StepEnginePtr& engine) {
      const Tensor x = inputs.clone().requires_grad_();
      for (const auto& [name, tensor] : network.parameters()) tensor.mutable_grad() = Tensor();
      Random noise(7);
      StackRnnState state = network.initial(2, 0);
      std::vector<Tensor> hiddens, all;
      std::int64_t first = 0;
      for (const std::int64_t size : {5, 2, 6}) {
        auto read = network.read_recorded(x.narrow(1, first, size), {}, state, &noise, {}, engine);
        EXPECT_TRUE(read.has_value());
        if (!read) return std::vector<Tensor>{};
        first += size;
        hiddens.push_back(read->first);
        state = cut ? read->second.detached() : read->second;
      }
      all.push_back(at::cat(hiddens, 1));
      for (const Tensor& tensor : state.tensors()) all.push_back(tensor);
      Tensor loss = at::zeros({}, options);
      for (const Tensor& tensor : all)
        if (tensor.requires_grad())
          loss = loss + (tensor * at::arange(tensor.numel(), options).view_as(tensor).cos()).sum();
      loss.backward();
      all.push_back(x.grad());
      for (const auto& [name, tensor] : network.parameters())
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
      return all;
    };
    const auto wanted = run(nullptr), got = run(stand_in_engine());
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (wanted[i].numel() > 0) {
        EXPECT_LT(deviation(got[i], wanted[i]), 1e-9 * (1 + wanted[i].abs().max().item<double>()))
            << i << (cut ? ", cut" : "");
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Pairs, PrintedForms, testing::ValuesIn(chosen_cases()));

TEST(PrintedStepsWithLittleMemory, ReportTooLittleMemory) {
  const auto device = std::make_shared<StandInDevice>();
  device->memory = 1000;
  EXPECT_THROW(
      outcome({{{"kind", "lstm"}, {"hidden", 7}}, {{"kind", "superposition"}}}, {}, device),
      std::runtime_error);
}

}  // namespace
}  // namespace pushdown::printed_recorded_test
