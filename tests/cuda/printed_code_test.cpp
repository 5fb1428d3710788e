// The code that is printed for devices (recurrence/device/program.h), compiled for the processor:
// values and all gradients are those of the processor's kernels, in every order of the threads, and
// each barrier is needed.
// label: long
#include <gtest/gtest.h>

#include <sstream>

#include "kernel/compile/nvrtc.h"
#include "model/stack_rnn.h"
#include "recurrence/device/program.h"
#include "recurrence/device/run.h"
#include "recurrence/device/steps.h"
#include "recurrence/everything.h"
#include "recurrence/memory_networks.h"
#include "support/golden.h"
#include "support/models_together.h"
#include "support/stand_in_device.h"

namespace pushdown::printed_code_test {
namespace {

using namespace testing_support;

// In which order the threads of a block take turns.
class Order {
 public:
  explicit Order(bool descending) { cuda_stand_in::set_descending(descending); }
  ~Order() { cuda_stand_in::set_descending(false); }
};

void expect_close(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got, double bound,
                  const std::string& what) {
  ASSERT_EQ(wanted.size(), got.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(wanted[i].defined(), got[i].defined()) << what << ", " << i;
    if (!got[i].defined()) continue;
    const double scale = std::max(1.0, wanted[i].abs().max().item<double>());
    const double gap = (wanted[i] - got[i]).abs().max().item<double>();
    EXPECT_LE(gap, bound * scale) << what << ", tensor " << i;
    if (!(gap <= bound * scale)) return;
  }
}

// The values of a memory's network and all gradients; without a device, by the processor.
template <class F>
std::vector<Tensor> outcome(const MemoryNetwork& network, std::int64_t window,
                            const DevicePtr& device) {
  const Tensor value = device == nullptr ? run_steps(network.record(), network.batch, network.steps,
                                                     std::make_shared<BufferPool>(), window)
                                         : run_device_steps<F>(network.record(), network.batch,
                                                               network.steps, window, device);
  const Tensor probe = numbers(value.sizes(), value.options(), 0.5, 1);
  std::vector<Tensor> all = gradients({(value * probe).sum()}, network.tensors);
  all.insert(all.begin(), value.detach());
  return all;
}
template <class F>
void compare(const MemoryNetwork& network, std::int64_t window, const std::string& name,
             double factor = 1, const DevicePtr& device = std::make_shared<StandInDevice>()) {
  const double bound = factor * (sizeof(F) == sizeof(float) ? 1e-4 : 1e-11);
  const auto wanted = outcome<F>(network, window, nullptr);
  for (const bool descending : {false, true}) {
    const Order order(descending);
    expect_close(wanted, outcome<F>(network, window, device), bound,
                 fmt::format("{}, {} steps, window {}{}", name, network.steps, window,
                             descending ? ", descending" : ""));
  }
}

TEST(PrintedCode, EveryMemoryAndLength) {
  for (const auto& [name, shape] : memories()) {
    for (const std::int64_t steps : {1, 2, 4, 13})
      compare<double>(MemoryNetwork(shape, 3, steps, at::kDouble), 0, name);
    compare<float>(MemoryNetwork(shape, 2, 4, at::kFloat), 0, name + ", float32");
  }
}

// Gradients that end after a fixed number of steps.
TEST(PrintedCode, Windows) {
  for (const auto& [name, shape] : memories()) {
    if (shape.kind == MemoryKind::nondeterministic) continue;  // cannot be cut
    for (const std::int64_t window : {1, 3, 20})
      compare<double>(MemoryNetwork(shape, 2, 8, at::kDouble), window, name);
  }
}

TEST(PrintedCode, ThousandSteps) {
  for (const auto& [name, shape] : memories())
    if (shape.kind == MemoryKind::shifted && shape.shifted.size <= 2)
      compare<double>(MemoryNetwork(shape, 1, 1000, at::kDouble), 0, name, 20);
}

// As many threads as on a device, where these sizes have more threads than numbers.
TEST(PrintedCode, BlocksOfADevice) {
  const auto device = std::make_shared<StandInDevice>();
  device->block = 256;
  for (const std::size_t which : {0, 3, 7, 14, 29, 31}) {
    const auto [name, shape] = memories()[which];
    compare<double>(MemoryNetwork(shape, 1, 3, at::kDouble), 0, name, 1, device);
  }
}

// The fast numbers of a memory are in scratch if a block may not have as much shared memory; a
// launch with more than usual asks for it.
TEST(PrintedCode, FastNumbersThatDoNotFit) {
  const MemoryNetwork network(automaton(7, 7), 1, 5, at::kDouble);
  const auto program = std::make_shared<const TracedProgram>(network.record());
  for (const auto& [shared, near] : {std::pair{kDeviceSharedBytes / 6, false},
                                     {kDeviceSharedBytes, false},
                                     {2 * kDeviceSharedBytes, true}}) {
    const auto device = std::make_shared<StandInDevice>();
    device->shared = shared;
    const DeviceProgram chosen(program, {.is_double = true}, 1, *device);
    EXPECT_EQ(chosen.form().near, near);
    EXPECT_EQ(chosen.shared_bytes() > kDeviceSharedBytes, near);
    compare<double>(network, 0, fmt::format("{} bytes", shared), 1, device);
  }
}

// Where the gradient of a memory's actions has further summands, it is computed apart: in shared
// memory, or in scratch.
TEST(PrintedCode, GradientsOfActionsThatDoNotFit) {
  const MemoryNetwork network(shifted(ShiftedKind::stack, 3, 1, true, 1), 2, 5, at::kDouble);
  const auto record = [&] {
    StepTrace trace;
    const Traced x = trace.sequence(network.input), reading = trace.reading(network.shape.reading);
    const Traced hidden =
        pushdown::linear(joined(std::vector<Traced>{x, reading}), network.weight, network.bias)
            .tanh();
    const Traced given = pushdown::linear(hidden, network.action, network.action_bias);
    trace.begin_aftermath();
    MemoryShape memory = network.shape;
    memory.steps = network.steps;
    trace.drive(reading, given, memory, Traced());
    return trace.finish(given);
  };
  const auto outcome = [&](const Tensor& value) {
    std::vector<Tensor> all = gradients(
        {(value * numbers(value.sizes(), value.options(), 0.5, 1)).sum()}, network.tensors);
    all.insert(all.begin(), value.detach());
    return all;
  };
  const auto wanted = outcome(run_steps(record(), 2, 5, std::make_shared<BufferPool>()));
  for (const auto& [shared, place] : {std::pair{kDeviceSharedBytes, "actions = near + "},
                                      {std::size_t{64}, "actions = p.scratch + "}}) {
    const auto device = std::make_shared<StandInDevice>();
    device->shared = shared;
    for (const bool descending : {false, true}) {
      const Order order(descending);
      expect_close(wanted, outcome(run_device_steps<double>(record(), 2, 5, 0, device)), 1e-11,
                   place);
    }
    EXPECT_NE(device->sources.back().find(place), std::string::npos);
  }
}

TEST(PrintedCode, EveryOperation) {
  for (const bool gradients : {true, false})
    for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 7}, {5, 2}, {401, 2}})
      for (const bool descending : {false, true}) {
        const Order order(descending);
        expect_every_operation(batch, steps, gradients, [&](TracedProgram program) {
          return run_device_steps<double>(std::move(program), batch, steps, 0,
                                          std::make_shared<StandInDevice>());
        });
      }
}

TEST(PrintedCode, SkipsValuesThatAreNotDifferentiated) {
  Everything one, other;
  for (Everything* network : {&one, &other})
    for (const std::size_t frozen : {0, 1, 4}) network->tensors[frozen].requires_grad_(false);
  const Tensor x = inputs_of(2, 6, false);
  run_recorded(one, x).sum().backward();
  run_device_steps<double>(record(other, x), 2, 6, 0, std::make_shared<StandInDevice>())
      .sum()
      .backward();
  for (std::size_t i = 0; i < one.tensors.size(); ++i) {
    ASSERT_EQ(one.tensors[i].grad().defined(), other.tensors[i].grad().defined()) << i;
    if (!one.tensors[i].grad().defined()) continue;
    EXPECT_LT(largest_difference(one.tensors[i].grad(), other.tensors[i].grad()), 1e-12) << i;
  }
}

// A second backward pass gives the same and does not change the first result.
TEST(PrintedCode, CanBeDifferentiatedAgain) {
  const MemoryNetwork network(shifted(ShiftedKind::stack, 2, 1, true, 1), 2, 5, at::kDouble);
  const Tensor value =
      run_device_steps<double>(network.record(), 2, 5, 0, std::make_shared<StandInDevice>());
  const auto once = gradients({value.sum()}, network.tensors, {}, {.keep_graph = true});
  const Tensor kept = once[2].clone();
  const auto twice = gradients({(2 * value).sum()}, network.tensors, {}, {.keep_graph = true});
  EXPECT_TRUE(once[2].equal(kept));
  EXPECT_LT(largest_difference(2 * once[2], twice[2]), 1e-13);
}

// Transition weights of a nondeterministic stack that are too far apart for single precision, and
// pops with the largest weight even where nothing can be popped.
TEST(PrintedCode, WeightsFarApart) {
  const auto device = std::make_shared<StandInDevice>();
  for (const auto& [name, shape] : sections_and_automata()) {
    if (shape.kind != MemoryKind::nondeterministic) continue;
    const MemoryNetwork apart(shape, 2, 8, at::kFloat);
    apart.action.detach().mul_(60);
    for (const DevicePtr& by : {DevicePtr(), DevicePtr(device)})
      for (const Tensor& tensor : outcome<float>(apart, 0, by))
        EXPECT_TRUE(!tensor.defined() || tensor.isfinite().all().item<bool>()) << name;

    const MemoryNetwork popping(shape, 2, 8, at::kFloat);
    const auto c = shape.automaton.configurations(), w = shape.automaton.actions();
    popping.action_bias.detach().narrow(0, 0, c * w).view({c, w}).narrow(1, 2 * c, w - 2 * c) +=
        200;
    const auto own = outcome<float>(popping, 0, nullptr);
    expect_close(own, outcome<float>(popping, 0, device), 1e-4, name);
    MemoryNetwork wide(shape, 2, 8, at::kDouble);
    wide.action_bias.detach().copy_(popping.action_bias.detach());
    const auto exact = outcome<double>(wide, 0, nullptr);
    // The first reading shows whether the first step had any effect; later ones depend on weights
    // that single precision cannot hold.
    EXPECT_LT((own[0].narrow(1, 0, 2) - exact[0].narrow(1, 0, 2)).abs().max().item<double>(), 1e-4)
        << name;
  }
}

// On the processor, the columns of the product of a matrix and an embedding are one lookup.
TEST(PrintedCode, LookupsInTablesOfProducts) {
  const auto options = at::TensorOptions().dtype(at::kDouble);
  Random random(3);
  Recurrence recurrence;
  recurrence.embedding = numbers({3, 4}, options, 1, 1).requires_grad_();
  const StackRnn network({{"kind", "lstm"}, {"hidden", 5}},
                         {{"kind", "superposition"}, {"size", 3}}, 4, options, random, recurrence);
  const Tensor words = at::arange(12, at::kLong).mul(5).remainder(7).remainder(3).view({2, 6});
  const auto planned = std::get<PlannedBatch>(network.route({.words = words}));
  const auto& program = planned.plan->program();
  ASSERT_TRUE(std::any_of(program->terms.begin(), program->terms.end(),
                          [](const StepTerm& term) { return term.table >= 0; }));
  const Pass direct = run_plan(planned);
  const Tensor outputs = direct.hiddens.narrow(1, 1, 6);
  const Tensor slopes = numbers(outputs.sizes(), options, 0.5, 1);
  direct.backward(at::constant_pad_nd(slopes, {0, 0, 1, 0}));

  DevicePass run;
  run.program = program;
  run.batch = 2;
  run.steps = 6;
  run.gradients = true;
  run.symbols = words.unsqueeze(0);
  run.sequences.resize(program->nodes.size());
  run.initial.resize(program->nodes.size());
  run.numbers.given.resize(program->nodes.size());
  std::vector<Tensor> pieces;
  std::int64_t count = 0;
  const auto add = [&](const Tensor& piece) {
    pieces.push_back(piece.detach().reshape({-1}));
    return std::exchange(count, count + piece.numel());
  };
  for (const Tensor& matrix : program->matrices)
    run.numbers.matrices.push_back({add(matrix), matrix.size(1), true});
  for (std::size_t n = 0; n < program->nodes.size(); ++n) {
    const Tensor &given = program->given[n], &initial = program->initial[n];
    if (given.defined()) run.numbers.given[n] = {add(given), 0, given.requires_grad()};
    if (initial.defined()) run.initial[n] = initial.detach().expand({2, -1}).unsqueeze(0);
  }
  run.numbers.all = at::cat(pieces).unsqueeze(0);
  DeviceRun<double> printed(std::move(run), std::make_shared<StandInDevice>());
  printed.forward();
  EXPECT_LT(deviation(printed.output()[0], outputs), 1e-11);
  printed.backward(slopes.unsqueeze(0));
  for (std::size_t k = 0; k < program->matrices.size(); ++k) {
    const StepPlan::Part& part = planned.plan->matrices()[k];
    const Tensor wanted = part.parameter.grad().as_strided(part.sizes, part.strides, part.offset);
    EXPECT_LT(deviation(printed.matrix_gradient(k)[0], wanted), 1e-11) << k;
  }
}

TEST(PrintedCode, RefusesWhatTheKernelsCannot) {
  const auto device = std::make_shared<StandInDevice>();
  const MemoryNetwork network(automaton(2, 2), 2, 3, at::kDouble);
  EXPECT_THROW(run_device_steps<double>(network.record(), 2, 3, 2, device), std::invalid_argument);
  EXPECT_THROW(run_device_steps<double>(network.record(), 2, 0, 0, device), std::invalid_argument);
  device->memory = 1000;
  EXPECT_THROW(run_device_steps<double>(network.record(), 2, 3, 0, device), std::runtime_error);
  EXPECT_EQ(device->passes(), 0);
  DevicePass many;
  many.program = std::make_shared<const TracedProgram>(network.record());
  many.models = 70000;
  many.batch = 2;
  many.steps = 3;
  many.numbers.all = at::zeros({70000, 1}, at::kDouble);
  EXPECT_THROW(DeviceRun<double>(many, device), std::invalid_argument);
}

// Needs NVRTC, but no device.
TEST(PrintedCode, IsCompiledByNvrtc) {
  std::unique_ptr<Nvrtc> nvrtc;
  try {
    nvrtc = std::make_unique<Nvrtc>();
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  for (const MemoryShape& shape : {shifted(ShiftedKind::stack, 3, 1, true, 1), automaton(2, 2),
                                   sections(SectionEnds::deque, 2)}) {
    const auto program =
        std::make_shared<const TracedProgram>(MemoryNetwork(shape, 2, 4, at::kFloat).record());
    const auto code = nvrtc->compile(DeviceProgram(program, {}).source(), "sm_90");
    for (const char* kernel : {"step_forward", "step_backward"})
      EXPECT_NE(code.find(std::string(".text.") + kernel), std::string::npos);
  }
}

// A network and how it is run.
struct Subject {
  std::string name;
  std::function<std::vector<Tensor>(const DevicePtr&)> run;
};

// Every kind of memory, cells with fused gates, and borders of windows.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  const Json lstm{{"kind", "lstm"}, {"hidden", 5}};
  for (const auto& [controller, stack] :
       {std::pair<Json, Json>{{{"kind", "lstm"}, {"hidden", 18}, {"layers", 2}},
                              {{"kind", "none"}}},
        {{{"kind", "gru"}, {"hidden", 6}}, {{"kind", "superposition"}, {"size", 3}}},
        {lstm, {{"kind", "stratification_deque"}, {"size", 2}}}})
    all.push_back(
        {controller.dump() + stack.dump(), [=](const DevicePtr& device) {
           const LanguageModel model(Alphabet({"a", "b", "c"}), Json{{"controller", controller},
                                                                     {"stack", stack},
                                                                     {"dtype", "float64"},
                                                                     {"seed", 1}});
           const Tensor words =
               at::arange(12, at::kLong).mul(5).remainder(7).remainder(3).view({2, 6});
           std::vector<Tensor> values;
           if (device != nullptr) {
             values.push_back(
                 ModelsTogether({&model}, device_engine(device)).differentiate({words}, {1})[0]);
           } else {
             const Tensor own = model.log_probabilities(words);
             own.sum().backward();
             values.push_back(own.detach());
           }
           for (const auto& [name, tensor] : model.parameters()) values.push_back(tensor.grad());
           return values;
         }});
  const std::set<std::string> whole{"tape",
                                    "stack of sections",
                                    "queue of sections",
                                    "fixed pushes",
                                    "deque of sections",
                                    "variable strengths of a deque",
                                    "vector automaton 2 x 2",
                                    "vector automaton 3 x 1, original bottom",
                                    "automaton 1 x 3, normalized",
                                    "automaton 2 x 2, window of 2"},
      cut{"worn stacks", "list of vectors", "analog stack", "deque of sections"};
  for (const Example& example : memories())
    for (const std::int64_t window : {0, 3}) {
      if (!(window > 0 ? cut : whole).contains(example.name)) continue;
      const auto network = std::make_shared<MemoryNetwork>(example.shape, 1, 16, at::kDouble);
      // Strengths that differ much, so that pops reach far.
      if (example.shape.sections.ends == SectionEnds::deque) network->action.detach().mul_(3);
      all.push_back({example.name + (window > 0 ? ", windows" : ""), [=](const DevicePtr& device) {
                       return outcome<double>(*network, window, device);
                     }});
    }
  return all;
}

bool differ(const std::vector<Tensor>& wanted, const std::vector<Tensor>& got) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (got[i].defined() && !((got[i] - wanted[i]).abs().max().item<double>() <= 1e-9)) return true;
  return false;
}

// Without any one of the barriers, the results of some order of the threads are wrong: those of the
// printed text for each network, those of the headers for some network.
TEST(PrintedCode, EveryBarrierIsNeeded) {
  std::vector<std::string> headers;
  std::istringstream lines(DeviceProgram::headers());
  for (std::string line; std::getline(lines, line);) headers.push_back(line);
  std::set<int> in_doubt, needed;
  for (const Subject& of : subjects()) {
    const auto device = std::make_shared<StandInDevice>();
    const auto wanted = of.run(nullptr);
    std::set<int> reached;
    cuda_stand_in::note_barriers(&reached);
    of.run(device);
    cuda_stand_in::note_barriers(nullptr);
    const std::string text = device->sources.back().substr(DeviceProgram::headers().size());
    const auto barrier_text = [](int barrier) {
      return fmt::format("PUSHDOWN_BARRIER({});", barrier);
    };
    for (int barrier = 0; text.find(barrier_text(barrier)) != text.npos; ++barrier)
      EXPECT_TRUE(reached.contains(barrier)) << of.name << ", barrier " << barrier;
    for (const int barrier : reached) {
      if (needed.contains(barrier)) continue;
      // A memory may need less than all memories are promised.
      const auto is_followed_by = [&](const char* what) {
        return text.find(barrier_text(barrier) + what) != text.npos;
      };
      if (is_followed_by("  // for the memory") ||
          is_followed_by("\n  if constexpr (requires(F* to) { memory.end_backward"))
        continue;
      cuda_stand_in::leave_out_barrier(barrier);
      bool found = false;
      for (const bool descending : {false, true}) {
        const Order order(descending);
        try {
          found = found || differ(wanted, of.run(device));
        } catch (const std::runtime_error&) {
          found = true;  // threads wait for each other in vain
        }
      }
      cuda_stand_in::leave_out_barrier(cuda_stand_in::kNoBarrier);
      if (barrier >= 0)
        EXPECT_TRUE(found) << of.name << ", barrier " << barrier;
      else
        (found ? needed : in_doubt).insert(barrier);
    }
  }
  for (const int barrier : in_doubt)
    EXPECT_TRUE(needed.contains(barrier))
        << "line " << -barrier << ": " << headers[static_cast<std::size_t>(-barrier) - 1];
}

}  // namespace
}  // namespace pushdown::printed_code_test
