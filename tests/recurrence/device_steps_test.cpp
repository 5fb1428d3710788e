// Recorded steps by the source of the CUDA kernels, in teams of processor threads, compared with
// the processor's own kernels: values and all gradients, every operation and every memory.
#include "recurrence/device/steps.h"

#include <gtest/gtest.h>

#include "recurrence/everything.h"
#include "recurrence/execute/step_run.h"
#include "recurrence/memory_networks.h"
#include "support/step_team.h"

namespace pushdown::device_steps_test {
namespace {

using namespace testing_support;

template <class F>
DeviceStepLaunch<F> by_teams(int size, int lanes) {
  return [=](const DeviceStepProgram<F>& program, bool backward) {
    run_step_teams(program, backward, size, lanes);
  };
}
// Uses the kernels of the processor if there is no launch.
template <class F>
Tensor run_program(TracedProgram program, std::int64_t batch, std::int64_t steps,
                   std::int64_t window, const DeviceStepLaunch<F>& launch) {
  if (launch == nullptr)
    return run_steps(std::move(program), batch, steps, std::make_shared<BufferPool>(), window);
  return run_device_steps<F>(std::move(program), batch, steps, window, launch);
}

// The value, then the gradient of each tensor.
template <class F>
std::vector<Tensor> outcome(const MemoryNetwork& network, std::int64_t window,
                            const DeviceStepLaunch<F>& launch) {
  const Tensor value =
      run_program<F>(network.record(), network.batch, network.steps, window, launch);
  const Tensor probe = numbers(value.sizes(), value.options(), 0.5, 1);
  std::vector<Tensor> all = gradients({(value * probe).sum()}, network.tensors);
  all.insert(all.begin(), value.detach());
  return all;
}

template <class F>
void expect_same(const std::vector<Tensor>& expected, const std::vector<Tensor>& got,
                 const std::string& what, double factor = 1) {
  const double bound = factor * (sizeof(F) == sizeof(float) ? 1e-4 : 1e-11);
  ASSERT_EQ(expected.size(), got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(expected[i].defined(), got[i].defined()) << what << ", " << i;
    if (!got[i].defined()) continue;
    const double scale = std::max(1.0, expected[i].abs().max().template item<double>());
    const double gap = (expected[i] - got[i]).abs().max().template item<double>();
    EXPECT_LE(gap, bound * scale) << what << ", tensor " << i;
  }
}

template <class F>
class DeviceSteps : public testing::Test {
 protected:
  static at::TensorOptions options() {
    return at::TensorOptions().dtype(c10::CppTypeToScalarType<F>::value);
  }
};
using Numbers = testing::Types<float, double>;
TYPED_TEST_SUITE(DeviceSteps, Numbers);

TYPED_TEST(DeviceSteps, EveryMemoryAndLength) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories())
    for (const std::int64_t steps : {1, 2, 3, 4, 13}) {
      const MemoryNetwork network(shape, 3, steps, this->options());
      expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(1, 1)),
                     name + ", " + std::to_string(steps) + " steps");
    }
}

TYPED_TEST(DeviceSteps, Teams) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    const MemoryNetwork network(shape, 1, 6, this->options());
    const auto expected = outcome<F>(network, 0, nullptr);
    expect_same<F>(expected, outcome<F>(network, 0, by_teams<F>(4, 2)), name + ", 2 groups of 2");
    expect_same<F>(expected, outcome<F>(network, 0, by_teams<F>(3, 1)), name + ", 3 groups of 1");
  }
}

// More threads than numbers, in groups as wide as a warp.
TYPED_TEST(DeviceSteps, GroupsOf32) {
  using F = TypeParam;
  for (const std::size_t which : {0, 3, 7, 14}) {
    const auto example = memories()[which];
    const MemoryNetwork network(example.shape, 1, 3, this->options());
    expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(128, 32)),
                   example.name);
  }
}

// Gradients that end after a fixed number of steps.
TYPED_TEST(DeviceSteps, Windows) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    if (shape.kind == MemoryKind::nondeterministic) continue;  // cannot be cut
    for (const std::int64_t window : {1, 3, 20}) {
      const MemoryNetwork network(shape, 2, 8, this->options());
      const auto expected = outcome<F>(network, window, nullptr);
      expect_same<F>(expected, outcome<F>(network, window, by_teams<F>(1, 1)), name);
      if (window == 3) expect_same<F>(expected, outcome<F>(network, 3, by_teams<F>(2, 2)), name);
    }
  }
}

TYPED_TEST(DeviceSteps, ThousandSteps) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    if (shape.kind != MemoryKind::shifted || shape.shifted.size > 2) continue;
    const MemoryNetwork network(shape, 1, 1000, this->options());
    expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(1, 1)), name,
                   20);
  }
}

TEST(DeviceStepsOperations, EqualTheProcessors) {
  const auto compare = [](std::int64_t batch, std::int64_t steps, bool gradients, int size,
                          int lanes) {
    expect_every_operation(batch, steps, gradients, [&](TracedProgram program) {
      return run_device_steps<double>(std::move(program), batch, steps, 0,
                                      by_teams<double>(size, lanes));
    });
  };
  for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 7}, {5, 2}})
    for (const auto& [size, lanes] : {std::pair{1, 1}, {4, 2}})
      compare(batch, steps, true, size, lanes);
  compare(4, 9, false, 1, 1);
}

TEST(DeviceStepsOperations, SkipValuesThatAreNotDifferentiated) {
  Everything one, other;
  for (Everything* network : {&one, &other})
    for (const std::size_t frozen : {0, 1, 4}) network->tensors[frozen].requires_grad_(false);
  const Tensor x = inputs_of(2, 6, false);
  run_recorded(one, x).sum().backward();
  run_device_steps<double>(record(other, x), 2, 6, 0, by_teams<double>(1, 1)).sum().backward();
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    ASSERT_EQ(one.tensors[i].grad().defined(), other.tensors[i].grad().defined()) << i;
    if (!one.tensors[i].grad().defined()) continue;
    EXPECT_LT(largest_difference(one.tensors[i].grad(), other.tensors[i].grad()), 1e-12) << i;
  }
}

// A second backward pass gives the same and does not change the first result.
TEST(DeviceStepsOperations, CanBeDifferentiatedAgain) {
  const MemoryNetwork network(shifted(ShiftedKind::stack, 2, 1, true, 1), 2, 5, at::kDouble);
  const Tensor value = run_device_steps<double>(network.record(), 2, 5, 0, by_teams<double>(1, 1));
  const auto once = gradients({value.sum()}, network.tensors, {}, {.keep_graph = true});
  const Tensor kept = once[2].clone();
  const auto twice = gradients({(2 * value).sum()}, network.tensors, {}, {.keep_graph = true});
  EXPECT_TRUE(once[2].equal(kept));
  EXPECT_LT(largest_difference(2 * once[2], twice[2]), 1e-13);
}

// Transition weights of a nondeterministic stack that are too far apart for single precision, and
// pops with the largest weight even where nothing can be popped.
TEST(DeviceStepsRange, WeightsFarApart) {
  for (const auto& [name, shape] : sections_and_automata()) {
    if (shape.kind != MemoryKind::nondeterministic) continue;
    const MemoryNetwork apart(shape, 2, 8, at::kFloat);
    apart.action.detach().mul_(60);
    for (const auto& launch : {DeviceStepLaunch<float>(), by_teams<float>(1, 1)})
      for (const Tensor& tensor : outcome<float>(apart, 0, launch))
        EXPECT_TRUE(!tensor.defined() || tensor.isfinite().all().item<bool>()) << name;

    const MemoryNetwork popping(shape, 2, 8, at::kFloat);
    const auto c = shape.automaton.configurations(), w = shape.automaton.actions();
    popping.action_bias.detach().narrow(0, 0, c * w).view({c, w}).narrow(1, 2 * c, w - 2 * c) +=
        200;
    const auto own = outcome<float>(popping, 0, nullptr);
    expect_same<float>(own, outcome<float>(popping, 0, by_teams<float>(1, 1)), name);
    MemoryNetwork wide(shape, 2, 8, at::kDouble);
    wide.action_bias.detach().copy_(popping.action_bias.detach());
    const auto exact = outcome<double>(wide, 0, nullptr);
    // The first reading shows whether the first step had any effect; later ones depend on weights
    // that single precision cannot hold.
    EXPECT_LT((own[0].narrow(1, 0, 2) - exact[0].narrow(1, 0, 2)).abs().max().item<double>(), 1e-4)
        << name;
  }
}

// Two programs of the same kind, as two models of one launch.
TEST(DeviceStepsModels, AreIndependent) {
  for (const auto& [name, shape] : memories()) {
    const MemoryNetwork one(shape, 2, 4, at::kDouble), other(shape, 2, 4, at::kDouble);
    for (const Tensor& tensor : other.tensors) tensor.detach().mul_(0.8);
    DeviceStepProgram<double> first, second;
    // Values and gradients of the first pass, which must not change.
    const auto keep = [](DeviceStepProgram<double>& to) {
      return [&to](const DeviceStepProgram<double>& program, bool backward) {
        to = program;
        run_step_teams(program, backward, 1, 1);
      };
    };
    const Tensor a = run_device_steps<double>(one.record(), 2, 4, 0, keep(first));
    const Tensor b = run_device_steps<double>(other.record(), 2, 4, 0, keep(second));
    const Tensor slopes = numbers(a.sizes(), a.options(), 0.5, 1);
    gradients({(a * slopes).sum()}, one.tensors, {}, {.keep_graph = true});
    gradients({(b * slopes).sum()}, other.tensors, {}, {.keep_graph = true});

    auto both = first;
    const auto parameters = both.parameters, batch = both.batch;
    std::vector<double> wanted(first.gradients, first.gradients + parameters);
    wanted.insert(wanted.end(), second.gradients, second.gradients + parameters);
    std::vector<DeviceStepMatrix<double>> matrices(first.matrices,
                                                   first.matrices + first.matrix_count);
    for (std::size_t k = 0; k < matrices.size(); ++k)
      matrices[k].model = second.matrices[k].first - first.matrices[k].first;
    const auto sizes = device_step_sizes(both.memory);
    std::vector<double> tape(2 * batch * sizes.tape), scratch(2 * batch * sizes.scratch),
        parts(2 * batch * parameters), sums(2 * parameters);
    std::vector<DeviceStepPlace<double>> places(first.places, first.places + first.count);
    for (std::size_t n = 0; n < places.size(); ++n) {
      places[n].model = second.places[n].value - first.places[n].value;
      if (places[n].gradient == nullptr) continue;
      places[n].gradient_model = second.places[n].gradient - first.places[n].gradient;
      if (first.nodes[n].op != StepOp::constant) continue;
      places[n].gradient = parts.data() + (places[n].gradient - first.sequence_gradients);
      places[n].gradient_model = batch * parameters;
    }
    both.models = 2;
    both.matrices = matrices.data();
    both.places = places.data();
    both.tape = tape.data();
    both.scratch = scratch.data();
    both.sequence_gradients = parts.data();
    both.gradients = sums.data();
    both.given_model = second.given - first.given;
    run_step_teams(both, false, 2, 2);
    run_step_teams(both, true, 2, 2);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      ASSERT_NEAR(wanted[i], sums[i], 1e-12 * std::max(1.0, std::abs(wanted[i]))) << name << i;
  }
}

TEST(DeviceStepsOperations, RefuseIncompletePrograms) {
  DeviceStepProgram<float> program;
  EXPECT_THROW(check_device_step(program, false), std::invalid_argument);  // no steps
  const StepNode node{StepOp::constant};
  const DeviceStepPlace<float> place;
  program.nodes = &node;
  program.places = &place;
  program.count = 1;
  program.batch = 2;
  program.steps = 3;
  EXPECT_NO_THROW(check_device_step(program, false));
  EXPECT_THROW(check_device_step(program, true), std::invalid_argument);  // no gradient given
  program.models = 70000;
  EXPECT_THROW(check_device_step(program, false), std::invalid_argument);
  program.models = 1;
  program.memory_node = 0;
  EXPECT_THROW(check_device_step(program, false), std::invalid_argument);  // no stack
  program.memory = automaton(2, 2);
  program.memory.steps = 3;
  EXPECT_NO_THROW(check_device_step(program, false));
  program.window = 2;
  EXPECT_THROW(check_device_step(program, false), std::invalid_argument);
  program.window = 0;
  program.memory.steps = 5;
  EXPECT_THROW(check_device_step(program, false), std::invalid_argument);
}

}  // namespace
}  // namespace pushdown::device_steps_test
