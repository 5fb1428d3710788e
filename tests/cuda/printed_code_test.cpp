// Printed device code (recurrence/device/source.h) as C++ with the replacement for the CUDA
// runtime: values and all gradients are those of the processor's kernels, in every order of the
// threads, and each barrier is needed.
#include <gtest/gtest.h>

#include <array>
#include <future>
#include <limits>
#include <sstream>

#include "cuda/printing/cases.h"
#include "cuda/printing/printed.h"
#include "kernel/compile/nvrtc.h"
#include "kernel/step/device_step_code.h"
#include "recurrence/device/steps.h"
#include "recurrence/execute/step_run.h"
#include "support/models_together.h"
#include "support/step_team.h"
#include "support/steps_by_launch.h"

namespace pushdown::testing_support {
namespace {

std::map<std::uint64_t, PrintedKernels>& all_printed() {
  static std::map<std::uint64_t, PrintedKernels> all;
  return all;
}
int omitted_barrier = kNoBarrier;
std::set<int>* reached_barriers = nullptr;

}  // namespace

const PrintedKernels* find_printed(std::uint64_t hash) {
  const auto found = all_printed().find(hash);
  return found == all_printed().end() ? nullptr : &found->second;
}
bool keep_printed(std::uint64_t hash, const PrintedKernels& kernels) {
  return all_printed().emplace(hash, kernels).second;
}
void wait_at(int barrier) {
  if (reached_barriers != nullptr) reached_barriers->insert(barrier);
  if (barrier != omitted_barrier) __syncthreads();
}
void leave_out_barrier(int barrier) { omitted_barrier = barrier; }
void note_barriers(std::set<int>* reached) { reached_barriers = reached; }

}  // namespace pushdown::testing_support

namespace pushdown::printed_code_test {
namespace {

using namespace testing_support;

// The code of a program, which must be the one that was compiled, whatever the batch, the steps and
// the values of the parameters were.
DeviceSource source_of(const PrintedCase& of, std::int64_t batch, std::int64_t steps) {
  return device_source_kernels(of.record(batch, steps), of.options);
}

template <class F>
void launch(const std::string& text, int threads, std::size_t bytes,
            const DeviceStepProgram<F>& program, bool backward) {
  const PrintedKernels* kernels = find_printed(text_hash(text));
  if (kernels == nullptr) throw std::runtime_error("the text is not the one that was compiled");
  auto* kernel = reinterpret_cast<void (*)(DeviceStepProgram<F>)>(backward ? kernels->backward
                                                                           : kernels->forward);
  check_device_step(program, backward);
  // What is read must have been written.
  const auto sizes = device_step_sizes(program.memory);
  const auto spoil = [&](F* numbers, std::int64_t each) {
    std::fill_n(numbers, program.models * program.batch * each,
                std::numeric_limits<F>::quiet_NaN());
  };
  if (program.memory_node >= 0) {
    if (!backward) spoil(program.tape, sizes.tape);
    spoil(program.scratch, sizes.scratch);
  }
  auto copy = program;
  void* arguments[] = {&copy};
  cudaLaunchKernel(
      kernel, dim3(static_cast<unsigned>(program.batch), static_cast<unsigned>(program.models)),
      dim3(static_cast<unsigned>(threads)), arguments, bytes, nullptr);
  if (cudaGetLastError() != cudaSuccess) throw std::runtime_error(cuda_stand_in::complaint());
  if (!backward) return;
  for (std::int64_t model = 0; model < program.models; ++model)
    for (std::int64_t i = 0; i < program.parameters; ++i) {
      F sum = 0;
      for (std::int64_t b = 0; b < program.batch; ++b)
        sum += program.sequence_gradients[(model * program.batch + b) * program.parameters + i];
      program.gradients[model * program.parameters + i] = sum;
    }
}

// By which code the passes run.
enum class Way { processor, printed, descending, printed_forward, printed_backward };

template <class F>
DeviceStepLaunch<F> launches(const DeviceSource& source, const DeviceSourceOptions& options,
                             Way way) {
  return [=](const DeviceStepProgram<F>& program, bool backward) {
    cuda_stand_in::set_descending(way == Way::descending);
    if (way == (backward ? Way::printed_forward : Way::printed_backward))
      run_step_teams(program, backward, 1, 1);
    else
      launch<F>(source.text, options.threads,
                device_source_bytes(source, program.memory, options.near, sizeof(F)), program,
                backward);
    cuda_stand_in::set_descending(false);
  };
}

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

// The values of a memory's network and all gradients.
std::vector<Tensor> outcome(const PrintedCase& of, const MemoryNetwork& network,
                            std::int64_t window, Way way) {
  const auto source = source_of(of, network.batch, network.steps);
  Tensor value;
  if (way == Way::processor)
    value = run_steps(network.record(), network.batch, network.steps,
                      std::make_shared<BufferPool>(), window);
  else
    value = run_device_steps<double>(network.record(), network.batch, network.steps, window,
                                     launches<double>(source, of.options, way));
  const Tensor probe = numbers(value.sizes(), value.options(), 0.5, 1);
  std::vector<Tensor> all = gradients({(value * probe).sum()}, network.tensors);
  all.insert(all.begin(), value.detach());
  return all;
}

TEST(PrintedCode, EveryMemory) {
  const auto examples = memories();
  for (const PrintedCase& of : printed_memories()) {
    const auto name = of.name.substr(0, of.name.find(", windows"));
    const auto shape = std::find_if(examples.begin(), examples.end(), [&](const Example& example) {
                         return example.name == name;
                       })->shape;
    for (const auto& [batch, steps] : {std::pair{2, 1}, {1, 2}, {2, 7}}) {
      const MemoryNetwork network(shape, batch, steps, at::kDouble);
      for (const std::int64_t window : {0, 3}) {
        if (window > 0 && !of.options.windowed) continue;
        const auto wanted = outcome(of, network, window, Way::processor);
        for (const Way way :
             {Way::printed, Way::descending, Way::printed_forward, Way::printed_backward})
          expect_close(wanted, outcome(of, network, window, way), 1e-11,
                       fmt::format("{}, {} steps, way {}", of.name, steps, static_cast<int>(way)));
      }
    }
  }
}

// What a runner on a device does: it interprets a program until its code has been compiled.
TEST(PrintedCode, ReplacesTheInterpreterOnceItIsCompiled) {
  const auto models = printed_models();
  const auto& of = *std::find_if(models.begin(), models.end(),
                                 [](const auto& model) { return model.name == "lstm, float32"; });
  std::promise<void> may_compile;
  std::string said;  // what runs it afterwards
  int launched = 0;
  const auto run = [&](DeviceStepModules* modules) {
    const auto model = printed_model(of.controller, of.stack, of.is_double);
    const auto runner = std::make_shared<StepsByLaunch<float>>(
        [&](const DeviceStepProgram<float>& program, bool backward) {
          if (modules != nullptr) modules->prepare(*program.code);
          launched += program.code->module != nullptr;
          if (backward)
            device_step_backward(program, nullptr);
          else
            device_step_forward(program, nullptr);
        });
    const auto length = 6 + (model.end_symbol() ? 0 : 1);
    runner->owns = [=](const std::string& text) {
      return modules != nullptr && modules->runs(text);
    };
    const auto engine = device_engine(runner);
    ModelsTogether together({&model}, engine);
    std::vector<Tensor> all{together.differentiate(
        {at::arange(2 * length, at::kLong).remainder(3).view({2, length})}, {1})};
    for (const auto& [name, tensor] : model.parameters()) all.push_back(tensor.grad());
    said = engine->code_of(*model.network().plan(1, 9)->program());
    return all;
  };
  // Its code is that of the case, which the test was compiled with.
  const std::string kernels =
      device_source_kernels(
          *printed_model(of.controller, of.stack, of.is_double).network().plan(2, 6)->program(),
          source_options(of.is_double, of.threads))
          .text;
  const auto compile = [&, started = may_compile.get_future().share()](const std::string& source) {
    started.wait();
    if (source.find(kernels) == std::string::npos) throw std::runtime_error("another text");
    const PrintedKernels* found = find_printed(text_hash(kernels));
    const auto kernel = [](AnyFunction function) {
      return [function](const void* argument) {
        reinterpret_cast<void (*)(DeviceStepProgram<float>)>(function)(
            *static_cast<const DeviceStepProgram<float>*>(argument));
      };
    };
    cuda_stand_in::add_code("printed", {{"step_forward", kernel(found->forward)},
                                        {"step_backward", kernel(found->backward)}});
    return std::string("printed");
  };
  DeviceStepModules modules(std::make_unique<CompiledCode>(
      [&] {
        return CodeCompiler{"none", compile};
      },
      std::nullopt));
  const auto wanted = run(nullptr);
  expect_close(wanted, run(&modules), 0, "while it is being compiled");
  EXPECT_EQ(launched, 0);
  EXPECT_EQ(said, "the interpreter");
  may_compile.set_value();
  while (modules.counts().pending > 0) std::this_thread::yield();
  EXPECT_EQ(modules.counts().compiled, 1);
  expect_close(wanted, run(&modules), 2e-5, "compiled");
  EXPECT_EQ(launched, 2);
  EXPECT_EQ(said, "kernels of its own");
}

// Several models of symbols, with strings of several lengths.
template <class F>
std::vector<Tensor> outcome(const PrintedModel& of, Way way, bool with_lengths = true) {
  std::vector<LanguageModel> models;
  for (int m = 0; m < 2; ++m)
    models.push_back(printed_model(of.controller, of.stack, of.is_double, m + 1));
  const Tensor symbols = at::arange(24, at::kLong).mul(5).remainder(7).remainder(3).view({2, 2, 6});
  std::vector<Tensor> words{symbols[0], symbols[1]};
  if (with_lengths) words[1] = words[1].narrow(0, 0, 1).narrow(1, 0, 3);
  const auto steps = 6 - (models[0].end_symbol() ? 0 : 1);
  const auto options = source_options(of.is_double, of.threads);
  const auto source =
      device_source_kernels(*models[0].network().plan(2, steps)->program(), options);
  const DeviceStepLaunch<F> by_interpreter = [](const DeviceStepProgram<F>& program,
                                                bool backward) {
    run_step_teams(program, backward, 1, 1);
  };
  const auto runner = std::make_shared<StepsByLaunch<F>>(
      way == Way::processor ? by_interpreter : launches<F>(source, options, way));
  ModelsTogether together({&models[0], &models[1]}, device_engine(runner));
  std::vector<Tensor> all{together.differentiate(words, {0.5, 1})};
  for (const auto& model : models)
    for (const auto& [name, tensor] : model.parameters()) all.push_back(tensor.grad());
  return all;
}
std::vector<Tensor> outcome(const PrintedModel& of, Way way) {
  return of.is_double ? outcome<double>(of, way) : outcome<float>(of, way);
}

TEST(PrintedCode, Models) {
  for (const PrintedModel& of : printed_models()) {
    const auto wanted = outcome(of, Way::processor);
    for (const Way way : {Way::printed, Way::descending})
      expect_close(wanted, outcome(of, way), of.is_double ? 1e-11 : 2e-5, of.name);
  }
}

TEST(PrintedCode, EveryOperation) {
  for (const bool gradients : {true, false})
    for (const auto& [batch, steps] : {std::pair{1, 1}, {3, 7}})
      for (const Way way : {Way::printed, Way::descending})
        expect_every_operation(batch, steps, gradients, [&](TracedProgram program) {
          auto options = source_options(true);
          options.gradients = gradients;
          const auto source = device_source_kernels(program, options);
          return run_device_steps<double>(std::move(program), batch, steps, 0,
                                          launches<double>(source, options, way));
        });
}

// Needs NVRTC, but no device.
TEST(PrintedCode, IsCompiledByNvrtc) {
  std::unique_ptr<Nvrtc> nvrtc;
  try {
    nvrtc = std::make_unique<Nvrtc>();
  } catch (const std::runtime_error& error) {
    GTEST_SKIP() << error.what();
  }
  std::vector<PrintedCase> cases;
  for (PrintedCase& of : printed_cases())
    if (of.name == "lstm, float32" || of.name == "nondeterministic, float32")
      cases.push_back(std::move(of));
  ASSERT_EQ(cases.size(), 2u);
  for (const PrintedCase& of : cases) {
    const auto code = nvrtc->compile(device_step_source(of.record(2, 4), of.options).text, "sm_90");
    for (const char* kernel : {"step_forward", "step_backward"})
      EXPECT_NE(code.find(std::string(".text.") + kernel), std::string::npos) << of.name;
  }
}

// Launches the code that belongs to a program.
StepEnginePtr printed_engine() {
  return device_engine(std::make_shared<StepsByLaunch<double>>(
      [](const DeviceStepProgram<double>& program, bool backward) {
        const auto source = program.code->print();
        launch(own_code(source.text), source.threads, source.shared_bytes, program, backward);
      }));
}

// Every controller, coupling, noise and carry-forward.
class PrintedSteps : public testing::TestWithParam<RecordedCase> {};

TEST_P(PrintedSteps, EqualTheProcessor) {
  const auto wanted = recorded_outcome(GetParam(), nullptr);
  for (const bool descending : {false, true}) {
    cuda_stand_in::set_descending(descending);
    expect_close(wanted, recorded_outcome(GetParam(), printed_engine()), 1e-9,
                 descending ? "descending" : "ascending");
  }
  cuda_stand_in::set_descending(false);
}

INSTANTIATE_TEST_SUITE_P(Pairs, PrintedSteps, testing::ValuesIn(recorded_cases()));

// A network and how it is run.
struct Subject {
  std::string name;
  DeviceSource source;
  std::function<std::vector<Tensor>(Way)> run;
};

// Every kind of memory, cells with fused gates, and borders of windows.
std::vector<Subject> subjects() {
  std::vector<Subject> all;
  for (const PrintedModel& of : printed_models()) {
    if (of.name != "two layers" && of.name != "gru" && of.name != "deque") continue;
    const auto program = printed_model(of.controller, of.stack, true).network().plan(2, 6);
    const auto options = source_options(true, of.threads);
    all.push_back({of.name, device_source_kernels(*program->program(), options),
                   [of](Way way) { return outcome<double>(of, way, false); }});
  }
  const std::set<std::string> others{"tape",
                                     "stack of sections",
                                     "queue of sections",
                                     "fixed pushes",
                                     "deque of sections",
                                     "variable strengths of a deque",
                                     "vector automaton 2 x 2",
                                     "vector automaton 3 x 1, original bottom",
                                     "automaton 1 x 3, normalized",
                                     "automaton 2 x 2, window of 2"};
  const auto examples = memories();
  for (const PrintedCase& of : printed_memories())
    for (const Example& example : examples) {
      if (of.name != example.name + ", windows" &&
          (of.name != example.name || !others.contains(of.name)))
        continue;
      constexpr std::int64_t kSteps = 16;
      const auto network = std::make_shared<MemoryNetwork>(example.shape, 1, kSteps, at::kDouble);
      // Strengths that differ much, so that pops reach far.
      if (example.shape.sections.ends == SectionEnds::deque) network->action.detach().mul_(3);
      all.push_back({of.name, source_of(of, 1, kSteps), [=](Way way) {
                       return outcome(of, *network, of.options.windowed ? 3 : 0, way);
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
  std::istringstream lines(kPrintedBegin + device_source_prelude());
  for (std::string line; std::getline(lines, line);) headers.push_back(line);
  const auto in_headers = [&](int barrier) {
    return barrier < 0 && -barrier <= std::ssize(headers);
  };
  std::set<int> in_doubt, needed;
  for (const Subject& of : subjects()) {
    const auto wanted = of.run(Way::processor);
    std::set<int> reached;
    note_barriers(&reached);
    of.run(Way::printed);
    note_barriers(nullptr);
    for (int barrier = 0; barrier < of.source.barriers; ++barrier)
      EXPECT_TRUE(reached.contains(barrier)) << of.name << ", barrier " << barrier;
    for (const int barrier : reached) {
      if (needed.contains(barrier)) continue;
      const auto text = fmt::format("PUSHDOWN_BARRIER({});", barrier);
      // A memory may need less than all memories are promised.
      const auto is_followed_by = [&](const char* what) {
        return of.source.text.find(text + what) != std::string::npos;
      };
      if (is_followed_by("  // for the memory") ||
          is_followed_by("\n  if constexpr (requires(F* to) { memory.end_backward"))
        continue;
      leave_out_barrier(barrier);
      bool found = false;
      for (const Way way : {Way::printed, Way::descending}) {
        try {
          found = found || differ(wanted, of.run(way));
        } catch (const std::runtime_error&) {
          found = true;  // threads wait for each other in vain
        }
      }
      leave_out_barrier(kNoBarrier);
      if (!in_headers(barrier))
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
