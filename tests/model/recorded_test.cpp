// Every controller with every stack that has kernels: the recorded step, compared with the
// definition.
// label: long
#include <gtest/gtest.h>

#include "base/parallel.h"
#include "model/recorded_cases.h"
#include "support/cuda_models.h"
#include "support/golden.h"

namespace pushdown::recorded_test {
namespace {

using namespace testing_support;

class Recorded : public testing::TestWithParam<RecordedCase> {};

// Consecutive pieces: with programs that take the memory over, and step by step.
TEST_P(Recorded, PiecesEqualStepwise) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  Random random(3);
  const StackRnn network(GetParam().controller, GetParam().stack, 4, options, random,
                         GetParam().recurrence);
  {
    at::NoGradGuard guard;
    for (const auto& [name, tensor] : network.parameters()) tensor.mul_(3);
  }
  if (network.stack().recorded({.batch = 2, .steps = 3, .from = network.stack().initial(2, 13)}) ==
      nullptr)
    GTEST_SKIP() << "the memory is not taken over";
  // The definition of the nondeterministic stacks, because their kernels have no tensors.
  Json defined = GetParam().stack;
  if (std::string(defined["kind"]).find("nondeterministic") != std::string::npos)
    defined["fast"] = false;
  const StackRnn definition(GetParam().controller, defined, 4, options, random,
                            GetParam().recurrence);
  {
    at::NoGradGuard guard;
    for (std::size_t i = 0; i < network.parameters().size(); ++i)
      definition.parameters()[i].second.copy_(network.parameters()[i].second);
  }
  const Tensor inputs = at::randn({2, 13, 4}, options);
  for (const auto& [passes, cut] : {std::pair{1, false}, {1, true}, {3, false}}) {
    const auto run = [&](bool recorded) {
      const StackRnn& used = recorded ? network : definition;
      const Refinement refinement(passes, passes > 1);
      const Tensor x = inputs.clone().requires_grad_();
      for (const auto& [name, tensor] : used.parameters()) tensor.mutable_grad() = Tensor();
      Random noise(7);
      StackRnnState state = used.initial(2, 0);
      std::vector<Tensor> hiddens;
      std::int64_t first = 0;
      for (const std::int64_t size : {5, 2, 6}) {
        const Tensor piece = x.narrow(1, first, size);
        first += size;
        if (recorded) {
          auto read = used.read_recorded(piece, {}, state, &noise, refinement);
          EXPECT_TRUE(read.has_value());
          if (!read) return std::vector<Tensor>{};
          hiddens.push_back(read->first);
          state = read->second;
        } else {
          hiddens.emplace_back();
          std::tie(hiddens.back(), state) = used.read(piece, state, &noise, refinement);
        }
        if (cut) state = state.detached();
      }
      Tensor loss = at::zeros({}, options);
      std::vector<Tensor> all{at::cat(hiddens, 1)};
      for (const Tensor& tensor : state.tensors()) all.push_back(tensor);
      for (const Tensor& tensor : all)
        if (tensor.requires_grad())
          loss = loss + (tensor * at::arange(tensor.numel(), options).view_as(tensor).cos()).sum();
      loss.backward();
      all.push_back(x.grad());
      for (const auto& [name, tensor] : used.parameters())
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
      return all;
    };
    const auto wanted = run(false);
    const auto got = run(true);
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      ASSERT_EQ(got[i].sizes(), wanted[i].sizes()) << i;
      if (wanted[i].numel() == 0) continue;
      EXPECT_LT(deviation(got[i], wanted[i]), 1e-9 * (1 + wanted[i].abs().max().item<double>()))
          << i << ", " << passes << " passes";
    }
  }
}

// Sequences that end before the longest one do not go on, and nothing after their end counts.
TEST_P(Recorded, SequencesEndOnTheirOwn) {
  constexpr std::int64_t kSteps = 9;
  const std::vector<std::int64_t> lengths{9, 9, 6, 2, 1};
  const auto batch = std::ssize(lengths);
  for (const auto& [type, bound] : {std::tuple{at::kDouble, 1e-11}, {at::kFloat, 5e-5}}) {
    const auto options = at::TensorOptions().dtype(type);
    Random random(3);
    const StackRnn network(GetParam().controller, GetParam().stack, 4, options, random,
                           GetParam().recurrence);
    const Tensor inputs = at::randn({batch, kSteps, 4}, options);
    const Tensor factors = at::arange(batch * (kSteps + 1) * network.hidden_size(), options)
                               .view({batch, kSteps + 1, -1})
                               .cos();
    for (std::int64_t b = 0; b < batch; ++b)
      factors.select(0, b).narrow(0, lengths[b] + 1, kSteps - lengths[b]).zero_();
    const auto run = [&](const std::vector<std::int64_t>& of) {
      const Tensor x = inputs.clone().requires_grad_();
      for (const auto& [name, tensor] : network.parameters()) tensor.mutable_grad() = Tensor();
      Random drawn(7);
      const Tensor hiddens = network.run_recorded(x, {}, &drawn, 0, nullptr, {}, of);
      (hiddens * factors).sum().backward();
      std::vector<Tensor> all{hiddens.detach().clone(), x.grad()};
      for (std::int64_t b = 0; b < batch; ++b) {
        const Tensor after = all[0].select(0, b).narrow(0, lengths[b] + 1, kSteps - lengths[b]);
        if (!of.empty()) {
          EXPECT_EQ(after.count_nonzero().item<std::int64_t>(), 0);
        }
        after.zero_();
      }
      for (const auto& [name, tensor] : network.parameters())
        all.push_back(tensor.grad().defined() ? tensor.grad() : at::zeros_like(tensor));
      return all;
    };
    const auto wanted = run({});
    for (const int threads : {1, 3}) {
      set_thread_count(threads);
      const auto got = run(lengths);
      set_thread_count(1);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        EXPECT_LT(deviation(got[i], wanted[i]), bound * (1 + wanted[i].abs().max().item<double>()))
            << (i == 0   ? "hidden"
                : i == 1 ? "inputs"
                         : network.parameters()[i - 2].first)
            << ", " << type << ", " << threads << " threads";
    }
  }
}

TEST(RecordedLengths, AreChecked) {
  Random random(3);
  const StackRnn network({{"kind", "lstm"}, {"hidden", 7}}, {{"kind", "superposition"}}, 4,
                         at::kDouble, random);
  const Tensor inputs = at::ones({2, 3, 4}, at::kDouble);
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{3}, {2, 3}, {3, 0}, {4, 3}})
    EXPECT_THROW(network.run(inputs, nullptr, {}, wrong), std::invalid_argument);
  EXPECT_NO_THROW(network.run(inputs, nullptr, {}, {3, 1}));
}

TEST_P(Recorded, OnTheDevice) {
  const std::string reason = no_device();
  if (!reason.empty()) GTEST_SKIP() << reason;
  for (const auto& [type, bound] : {std::tuple{at::kDouble, 1e-9}, {at::kFloat, 1e-3}})
    for (const auto& [batch, steps] : {std::pair{3, 13}, {1, 1}, {7, 2}, {5, 33}}) {
      const Tensor inputs = at::randn({batch, steps, 4}, at::TensorOptions().dtype(type));
      const auto run = [&](const at::Device& device) {
        const auto options = at::TensorOptions().dtype(type).device(device);
        Random random(3), drawn(7);
        const StackRnn network(GetParam().controller, GetParam().stack, 4, options, random,
                               GetParam().recurrence);
        const Tensor x = inputs.clone().to(device).requires_grad_(),
                     hiddens = network.run_recorded(x, {}, &drawn);
        (hiddens * at::arange(hiddens.numel(), options).view_as(hiddens).cos()).sum().backward();
        std::vector<Tensor> all{hiddens.detach().cpu(), x.grad().cpu()};
        for (const auto& [name, tensor] : network.parameters())
          all.push_back(tensor.grad().defined() ? tensor.grad().cpu() : at::zeros({1}));
        return all;
      };
      const at::Device cuda(at::kCUDA, 0);
      const auto wanted = run(at::kCPU), got = run(cuda), again = run(cuda);
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_LT(deviation(got[i], wanted[i]), bound * (1 + wanted[i].abs().max().item<double>()))
            << i << ", " << batch << " x " << steps << ", " << type;
        EXPECT_TRUE(again[i].equal(got[i])) << i;
      }
    }
}

INSTANTIATE_TEST_SUITE_P(Pairs, Recorded, testing::ValuesIn(recorded_cases()));

}  // namespace
}  // namespace pushdown::recorded_test
