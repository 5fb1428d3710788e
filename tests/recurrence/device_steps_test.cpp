// Recorded steps by the source of the CUDA kernels, in teams of threads of the processor, against
// the processor's own kernels: values and all gradients, every operation and every memory.
#include "recurrence/device_steps.h"

#include <gtest/gtest.h>

#include "kernel/memory_shapes.h"
#include "recurrence/everything.h"
#include "recurrence/step_run.h"
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
// By the kernels of the processor where there is no launch.
template <class F>
Tensor run_program(TracedProgram program, std::int64_t batch, std::int64_t steps,
                   std::int64_t window, const DeviceStepLaunch<F>& launch) {
  if (launch == nullptr)
    return run_steps(std::move(program), batch, steps, std::make_shared<BufferPool>(), window);
  return run_device_steps<F>(std::move(program), batch, steps, window, launch);
}

// Numbers that are always the same.
Tensor numbers(at::IntArrayRef shape, at::TensorOptions options, double seed, double scale) {
  return at::arange(c10::multiply_integers(shape), at::kDouble)
      .mul(1.37)
      .add(seed)
      .sin()
      .mul(7919)
      .remainder(2)
      .sub(1)
      .mul(scale)
      .view(shape)
      .to(options);
}

ScanShape shifted(ShiftedKind kind, std::int64_t size, bool shared, bool no_op, std::int64_t reach,
                  std::int64_t limit = 0, bool worn = false, double empty = 0) {
  ScanShape shape{ScanStack::shifted};
  shape.shifted = kind;
  shape.size = size;
  shape.shared = shared;
  shape.no_op = no_op;
  shape.reach = reach;
  shape.limit = limit;
  shape.worn = worn;
  shape.empty = empty;
  const std::int64_t kinds =
      kind == ShiftedKind::tape ? 5 : (kind == ShiftedKind::stack ? 2 : 3) + (no_op ? 1 : 0);
  shape.actions = kinds * (shared ? 1 : size) + size;
  const std::int64_t cells = kind == ShiftedKind::list   ? 2 * reach + 1
                             : kind == ShiftedKind::tape ? 1
                                                         : reach;
  shape.reading = cells * size;
  return shape;
}
ScanShape analog(bool stops) {
  ScanShape shape{ScanStack::analog};
  shape.size = 3;
  shape.epsilon = 0.05;
  shape.tolerance = 0.1;
  shape.stops = stops;
  shape.actions = 1 + shape.size;
  shape.reading = shape.size + 3;
  return shape;
}

std::vector<Example> memories() {
  constexpr auto stack = ShiftedKind::stack, list = ShiftedKind::list, tape = ShiftedKind::tape;
  std::vector<Example> all{
      {"stack of DiffStk", shifted(stack, 1, false, true, 2, 0, true, -1)},
      {"stacks side by side", shifted(stack, 3, false, false, 2, 0, false, -1)},
      {"worn stacks", shifted(stack, 2, false, true, 1, 0, true, 0.25)},
      {"stack of vectors", shifted(stack, 4, true, true, 1)},
      {"stack of vectors, read three deep", shifted(stack, 2, true, false, 3, 0, false, 0.5)},
      {"stack of vectors with an end", shifted(stack, 3, true, true, 1, 4)},
      {"worn stack with an end", shifted(stack, 2, true, true, 2, 3, true, -1)},
      {"lists", shifted(list, 3, false, true, 2, 0, false, -1)},
      {"list of vectors", shifted(list, 2, true, false, 1)},
      {"tape", shifted(tape, 2, true, false, 1, 5)},
      {"tapes", shifted(tape, 3, false, false, 1, 4, false, 0.1)},
      {"tape of one cell", shifted(tape, 2, true, false, 1, 1)},
      {"tape of two cells", shifted(tape, 2, true, false, 1, 2)},
      {"analog stack", analog(false)},
      {"analog stack that refuses", analog(true)},
  };
  for (const auto& [name, shape] : examples()) all.push_back({name, shape});
  return all;
}

// An Elman network with a memory of a shape; h is as large as it must be.
struct Network {
  Network(const ScanShape& given, std::int64_t batch, std::int64_t steps, at::TensorOptions options)
      : shape(given), batch(batch), steps(steps) {
    const auto leaf = [&](at::IntArrayRef size, double scale) {
      tensors.push_back(
          numbers(size, options, static_cast<double>(tensors.size()), scale).requires_grad_());
      return tensors.back();
    };
    const bool analog = shape.stack == ScanStack::analog;
    input = leaf({batch, steps, 3}, 1);
    first = leaf({batch, 5}, 1);
    weight = leaf({5, 3 + shape.reading}, 0.5);
    recurrent = leaf({5, 5}, 0.5);
    bias = leaf({5}, 0.5);
    action = leaf({analog ? 1 : shape.actions, 5}, 1.5);
    action_bias = leaf({analog ? 1 : shape.actions}, 1);
    if (shape.automaton.channels > 0) bottom = leaf({shape.automaton.channels}, 1);
    const Tensor chosen =
        at::arange(batch * steps, at::kLong).mul(7).remainder(4).view({batch, steps});
    // The last one of four leaves the stack alone.
    if (analog) symbols = at::one_hot(chosen, 4).narrow(2, 0, 3).to(options);
  }

  TracedProgram record() const {
    StepTrace trace;
    const Traced x = trace.sequence(input), old = trace.state(first),
                 reading = trace.reading(shape.reading);
    const Traced hidden = (pushdown::linear(joined(std::vector<Traced>{x, reading}), weight, bias) +
                           pushdown::linear(old, recurrent))
                              .tanh();
    trace.bind(old, hidden);
    trace.begin_aftermath();
    Traced given = pushdown::linear(hidden, action, action_bias);
    ScanShape memory = shape;
    memory.steps = steps;
    if (shape.stack == ScanStack::shifted) {
      const auto weights = shape.actions - shape.size;
      const Traced shares = given.narrow(1, 0, weights);
      const auto kinds = shape.shared ? weights : weights / shape.size;
      given = joined(std::vector<Traced>{shares.softmax_of_groups(kinds),
                                         given.narrow(1, weights, shape.size).sigmoid()});
    } else if (shape.stack == ScanStack::analog) {
      given = joined(std::vector<Traced>{given.tanh(), trace.sequence(symbols)});
      memory.steps = steps + 1;
    }
    memory.automaton.steps = steps - 1;
    trace.drive(reading, given, memory, bottom.numel() > 0 ? trace.constant(bottom) : Traced());
    if (shape.stack != ScanStack::analog) return trace.finish(hidden);
    return trace.finish(joined(std::vector<Traced>{hidden, trace.read_now()}));
  }

  ScanShape shape;
  std::int64_t batch, steps;
  Tensor input, first, weight, recurrent, bias, action, action_bias, bottom, symbols;
  std::vector<Tensor> tensors;
};

// Value, then the gradient of each tensor.
template <class F>
std::vector<Tensor> outcome(const Network& network, std::int64_t window,
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
      const Network network(shape, 3, steps, this->options());
      expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(1, 1)),
                     name + ", " + std::to_string(steps) + " steps");
    }
}

TYPED_TEST(DeviceSteps, Teams) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    const Network network(shape, 1, 6, this->options());
    const auto expected = outcome<F>(network, 0, nullptr);
    expect_same<F>(expected, outcome<F>(network, 0, by_teams<F>(4, 2)), name + ", 2 groups of 2");
    expect_same<F>(expected, outcome<F>(network, 0, by_teams<F>(3, 1)), name + ", 3 groups of 1");
  }
}

// More threads than there are numbers, in groups as wide as a warp.
TYPED_TEST(DeviceSteps, GroupsOf32) {
  using F = TypeParam;
  for (const std::size_t which : {0, 3, 7, 14}) {
    const auto example = memories()[which];
    const Network network(example.shape, 1, 3, this->options());
    expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(128, 32)),
                   example.name);
  }
}

// Gradients that end behind every so many steps.
TYPED_TEST(DeviceSteps, Windows) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    if (shape.stack == ScanStack::nondeterministic || shape.stack == ScanStack::superposition)
      continue;  // the processor cannot cut these
    for (const std::int64_t window : {1, 3, 20}) {
      const Network network(shape, 2, 8, this->options());
      const auto expected = outcome<F>(network, window, nullptr);
      expect_same<F>(expected, outcome<F>(network, window, by_teams<F>(1, 1)), name);
      if (window == 3) expect_same<F>(expected, outcome<F>(network, 3, by_teams<F>(2, 2)), name);
    }
  }
}

TYPED_TEST(DeviceSteps, ThousandSteps) {
  using F = TypeParam;
  for (const auto& [name, shape] : memories()) {
    const bool cheap = shape.stack == ScanStack::shifted || shape.stack == ScanStack::analog;
    if (!cheap || shape.size > 2) continue;
    const Network network(shape, 1, 1000, this->options());
    expect_same<F>(outcome<F>(network, 0, nullptr), outcome<F>(network, 0, by_teams<F>(1, 1)), name,
                   20);
  }
}

// Every operation.
TEST(DeviceStepsOperations, EqualTheProcessors) {
  for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 7}, {5, 2}})
    for (const auto& [size, lanes] : {std::pair{1, 1}, {4, 2}}) {
      Everything one, other;
      const Tensor x = inputs_of(batch, steps, true), y = inputs_of(batch, steps, true);
      const Tensor wanted = run_recorded(one, x);
      const Tensor got = run_device_steps<double>(record(other, y), batch, steps, 0,
                                                  by_teams<double>(size, lanes));
      EXPECT_LT(largest_difference(wanted, got), 1e-13);
      const Tensor probe = at::arange(wanted.numel(), at::kDouble).view_as(wanted).cos();
      (wanted * probe).sum().backward();
      (got * probe).sum().backward();
      EXPECT_LT(largest_difference(x.grad(), y.grad()), 1e-12);
      for (std::size_t i = 0; i < one.tensors.size(); ++i)
        EXPECT_LT(largest_difference(one.tensors[i].grad(), other.tensors[i].grad()), 1e-11) << i;
    }
}

TEST(DeviceStepsOperations, WithoutGradients) {
  const Everything network;
  const Tensor x = inputs_of(4, 9, false);
  const at::NoGradGuard guard;
  EXPECT_LT(largest_difference(
                run_recorded(network, x),
                run_device_steps<double>(record(network, x), 4, 9, 0, by_teams<double>(1, 1))),
            1e-13);
}

TEST(DeviceStepsOperations, LeaveOutWhatIsNotDifferentiated) {
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

// A second backward pass gives the same, and does not touch what the first one gave.
TEST(DeviceStepsOperations, CanBeDifferentiatedAgain) {
  const Network network(shifted(ShiftedKind::stack, 2, true, true, 1), 2, 5, at::kDouble);
  const Tensor value = run_device_steps<double>(network.record(), 2, 5, 0, by_teams<double>(1, 1));
  const auto once = gradients({value.sum()}, network.tensors, {}, {.keep_graph = true});
  const Tensor kept = once[2].clone();
  const auto twice = gradients({(2 * value).sum()}, network.tensors, {}, {.keep_graph = true});
  EXPECT_TRUE(once[2].equal(kept));
  EXPECT_LT(largest_difference(2 * once[2], twice[2]), 1e-13);
}

// Two programs of one kind as two models of one launch.
TEST(DeviceStepsModels, AreIndependent) {
  for (const auto& [name, shape] : memories()) {
    const Network one(shape, 2, 4, at::kDouble), other(shape, 2, 4, at::kDouble);
    for (const Tensor& tensor : other.tensors) tensor.detach().mul_(0.8);
    DeviceStepProgram<double> first, second;
    // Values and gradients of the first pass, which stay where they are.
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

TEST(DeviceStepsOperations, RefuseWhatTheyDoNotHave) {
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
