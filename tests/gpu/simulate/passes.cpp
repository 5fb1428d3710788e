#include "gpu/simulate/passes.h"

#include <algorithm>
#include <stdexcept>

#include "cuda/cuda_runtime.h"
#include "kernel/step/device_step.h"
#include "recurrence/device/program.h"
#include "support/models_together.h"

namespace pushdown::gpu_simulate {
namespace {

using namespace testing_support;

// A launch of printed code.
struct Request {
  std::string kernel, source;
  bool backward = false;
  Launch launch;
  std::int64_t steps = 0;
};
using Action = std::function<void(Request)>;

// A device that hands the launches of passes to an action.
class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(Action action) : action_(std::move(action)) {
    cuda_stand_in::set_launcher([this](const cuda_stand_in::KernelLaunch& from) {
      if (from.kernel != nullptr) return false;  // of updates
      const auto& steps = *static_cast<const DeviceSteps<float>*>(from.argument);
      Request request{from.name, source_, from.name == "step_backward", {}, steps.steps};
      request.launch.grid = {from.grid.x, from.grid.y, from.grid.z};
      request.launch.threads = {from.block.x, from.block.y, from.block.z};
      request.launch.shared_bytes = from.shared_bytes;
      request.launch.add_parameter(steps);
      action_(request);
      return true;
    });
  }
  ~SimulatedDevice() override { cuda_stand_in::set_launcher({}); }
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  std::shared_ptr<const DeviceModule> module(const std::string& source) const override {
    source_ = source;
    return std::make_shared<const DeviceModule>(source);
  }
  void* stream() const override { return nullptr; }
  std::size_t free_bytes() const override { return std::numeric_limits<std::size_t>::max(); }

 private:
  Action action_;
  mutable std::string source_;
};

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
  std::vector<LanguageModel> owned;
  std::vector<const LanguageModel*> models;
  for (int m = 0; m < sizes.models; ++m) owned.push_back(make_model(which));
  for (const LanguageModel& model : owned) models.push_back(&model);
  ModelsTogether together(models, device_engine(std::make_shared<SimulatedDevice>(action)));
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

std::string source_of(const PassCase& which, bool is_double, int threads) {
  return DeviceProgram(make_model(which).network().plan(10, 79)->program(),
                       {.is_double = is_double, .threads = threads})
      .source();
}

SimulatedPasses simulate_passes(KernelLibrary& library, const PassCase& which,
                                const PassSizes& sizes) {
  const Tensor words = words_of(which, sizes);
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
    SimulatedLaunch done{
        request.kernel, &kernel, request.backward, launch, run(*kernel.code, launch, timing),
        timing};
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
