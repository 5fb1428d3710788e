#include "gpu/simulate/passes.h"

#include <algorithm>
#include <stdexcept>

#include "cuda/cuda_runtime.h"
#include "gpu/simulator/kernel_source.h"
#include "kernel/step/device_step_code.h"
#include "kernel/step/device_step_sums.h"
#include "support/models_together.h"
#include "support/steps_by_launch.h"

namespace pushdown::gpu_simulate {
namespace {

using namespace testing_support;

// A launch of the project's own code, or of the code that it prints.
struct Request {
  std::string kernel;
  std::string source;  // printed; "": in a .cu file
  bool backward = false;
  Launch launch;
  std::int64_t steps = 0;
};
using Action = std::function<void(Request)>;

// Hands launches to an action.
class Recorder {
 public:
  Recorder(StepCode code, Action action) : code_(code), action_(std::move(action)) {
    cuda_stand_in::set_launcher([this](const cuda_stand_in::KernelLaunch& from) {
      request_.kernel = name_of_function(from.kernel);
      request_.launch.grid = {from.grid.x, from.grid.y, from.grid.z};
      request_.launch.threads = {from.block.x, from.block.y, from.block.z};
      request_.launch.shared_bytes = from.shared_bytes;
      request_.launch.parameters.assign(from.parameters.begin(), from.parameters.end());
      action_(request_);
      return true;
    });
  }
  ~Recorder() { cuda_stand_in::set_launcher({}); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void run(const DeviceStepProgram<float>& program, bool backward) {
    request_ = {};
    request_.backward = backward;
    request_.steps = program.steps;
    if (code_ == StepCode::printed)
      run_printed(program, backward);
    else if (backward)
      device_step_backward(program, nullptr);
    else
      device_step_forward(program, nullptr);
  }

 private:
  // As DeviceStepModules and the launches of device_step.cu do.
  void run_printed(const DeviceStepProgram<float>& program, bool backward) {
    DeviceStepCode& code = *program.code;
    if (code.print) code.source = std::exchange(code.print, nullptr)();
    if (code.source.text.empty())
      throw std::runtime_error("[simulate] no kernels are printed for this network");
    request_.kernel = backward ? "step_backward" : "step_forward";
    request_.source = code.source.text;
    request_.launch.grid = {static_cast<unsigned>(program.batch),
                            static_cast<unsigned>(program.models), 1};
    request_.launch.threads = {static_cast<unsigned>(code.source.threads), 1, 1};
    request_.launch.shared_bytes = code.source.shared_bytes;
    request_.launch.add_parameter(program);
    action_(request_);
    if (!backward) return;
    for (std::int64_t model = 0; model < program.models; ++model)
      for (std::int64_t i = 0; i < program.parameters; ++i)
        device::sum_over_sequences(program, static_cast<device::Index>(model),
                                   static_cast<device::Index>(i));
  }

  StepCode code_;
  Action action_;
  Request request_;
};

// "void a::step_forward_kernel<...>(...)" -> "step_forward_kernel"
std::string short_name(const std::string& kernel) {
  const std::string name = kernel.substr(0, std::min(kernel.find('<'), kernel.rfind('(')));
  return name.substr(name.find_last_of(": ") + 1);
}

LanguageModel make_model(const PassCase& which) {
  std::vector<std::string> letters;
  for (int k = 0; k < which.vocabulary; ++k) letters.push_back(std::to_string(k));
  return LanguageModel(Alphabet(letters), Json{{"controller", {{"kind", "lstm"}, {"hidden", 20}}},
                                               {"stack", which.stack},
                                               {"seed", 1}});
}

double relative(const Tensor& got, const Tensor& wanted) {
  const double largest = wanted.abs().max().item<double>();
  const double difference = (got - wanted).abs().max().item<double>();
  return largest == 0 ? difference : difference / largest;
}

// log p of all strings, and the gradients of their sum.
struct Outcome {
  Tensor values;
  std::map<std::string, Tensor> gradients;
};
Outcome outcome_of(const LanguageModel& model, const Tensor& values) {
  Outcome outcome{values.detach(), {}};
  for (const auto& [name, parameter] : model.parameters()) {
    if (!parameter.grad().defined()) continue;
    outcome.gradients[name] = parameter.grad();
    parameter.mutable_grad() = Tensor();
  }
  return outcome;
}

// Of the first of several equal models.
Outcome on_device(const PassCase& which, const PassSizes& sizes, const Tensor& words,
                  const Action& action) {
  Recorder recorder(sizes.code, action);
  std::vector<LanguageModel> owned;
  std::vector<const LanguageModel*> models;
  for (int m = 0; m < sizes.models; ++m) owned.push_back(make_model(which));
  for (const LanguageModel& model : owned) models.push_back(&model);
  ModelsTogether together(models, device_engine(std::make_shared<StepsByLaunch<float>>(
                                      [&](const DeviceStepProgram<float>& program, bool backward) {
                                        recorder.run(program, backward);
                                      })));
  const auto count = models.size();
  return outcome_of(owned[0], together.differentiate(std::vector<Tensor>(count, words),
                                                     std::vector<double>(count, 1))[0]);
}

Tensor words_of(const PassCase& which, const PassSizes& sizes) {
  const Tensor all = at::arange(sizes.batch * (sizes.length - 1), at::kLong);
  return (all * all + all.div(3, "floor"))
      .remainder(which.vocabulary)
      .view({sizes.batch, sizes.length - 1});
}

}  // namespace

const std::vector<PassCase>& pass_cases() {
  const auto automaton = [](int count) {
    return Json{{"kind", "nondeterministic"}, {"states", count}, {"symbols", count}};
  };
  static const std::vector<PassCase> cases = {
      {"2x2", automaton(2), 3},
      {"3x3", automaton(3), 7},
      {"superposition", {{"kind", "superposition"}, {"size", 20}}, 3},
      {"stratification", {{"kind", "stratification"}, {"size", 20}}, 3},
      {"none", {{"kind", "none"}}, 3}};
  return cases;
}

const PassCase& pass_case(const std::string& name) {
  std::string names;
  for (const PassCase& which : pass_cases()) {
    if (which.name == name) return which;
    names += (names.empty() ? "" : ", ") + which.name;
  }
  throw std::invalid_argument("[simulate] unknown case '" + name + "': expected one of " + names);
}

double SimulatedLaunch::milliseconds(double models) const {
  const double blocks =
      static_cast<double>(launch.grid[0]) * launch.grid[1] * launch.grid[2] * models / models_run;
  const double at_once = static_cast<double>(model.multiprocessors) * launch.together;
  return statistics.round_milliseconds(model) * std::max(1.0, blocks / at_once);
}

SimulatedPasses simulate_passes(KernelLibrary& library, const PassCase& which,
                                const PassSizes& sizes) {
  const Tensor words = words_of(which, sizes);
  // The first time, launches only tell which kernels are needed, so that one compilation suffices.
  std::set<std::string> names;
  on_device(which, sizes, words, [&](const Request& request) {
    if (request.source.empty())
      names.insert(request.kernel);
    else
      library.add_source(request.source);
  });
  library.add(names);

  SimulatedPasses passes;
  const Outcome got = on_device(which, sizes, words, [&](Request request) {
    const CompiledKernel& kernel = library.kernel(request.kernel, request.source);
    Launch& launch = request.launch;
    if (sizes.first_round) {
      launch.together =
          sizes.together > 0 ? sizes.together : resident_blocks(kernel.resources, launch);
      launch.most_blocks = launch.together;
    }
    TimingModel timing;
    if (sizes.full_device) timing = TimingModel::of_full_device(launch.together);
    SimulatedLaunch done{short_name(request.kernel),        &kernel, request.backward, launch,
                         run(*kernel.code, launch, timing), timing};
    const auto sequences = sizes.first_round ? static_cast<double>(done.statistics.blocks)
                                             : 1.0 * sizes.batch * sizes.models;
    done.steps = static_cast<double>(request.steps) * sequences;
    done.models_run = sizes.models;
    passes.launches.push_back(std::move(done));
  });
  if (sizes.first_round) return passes;
  const LanguageModel model = make_model(which);
  const Tensor values = model.log_probabilities(words);
  values.sum().backward();
  const Outcome wanted = outcome_of(model, values);
  passes.values = relative(got.values, wanted.values);
  for (const auto& [name, gradient] : wanted.gradients)
    passes.gradients = std::max(passes.gradients, relative(got.gradients.at(name), gradient));
  return passes;
}

}  // namespace pushdown::gpu_simulate
