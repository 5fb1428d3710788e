// Training updates on a CUDA device: one model, and many together, compared with the processor and
// with LibTorch's operations on the same device. Also the passes of the kernels alone, as a share
// of the device's peaks.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "arithmetic.h"
#include "base/parallel.h"
#include "bench.h"
#include "kernel/device.h"
#include "recurrence/device/updates.h"
#include "tensor/common_rows.h"
#include "tensor/torch_build.h"
#include "train/shared_updates.h"

namespace pushdown::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kLength = 80;
constexpr int kSkipped = 77;  // ctest takes this for a test that was not run

// NS-RNN with Q x S, an LSTM of 20 units, batch 10.
struct Size {
  int states, symbols, vocabulary;
  std::string name() const { return fmt::format("nondeterministic {}x{}", states, symbols); }
  Workload work() const {
    Workload work;
    work.stack = "nondeterministic";
    work.states = states;
    work.symbols = symbols;
    work.vocabulary = vocabulary;
    return work;
  }
};
constexpr Size kSizes[] = {{2, 2, 3}, {3, 3, 7}};
constexpr int kModels[] = {1, 20, 100, 1000};

Alphabet alphabet_of(const Size& size) {
  std::vector<std::string> symbols;
  for (int k = 0; k < size.vocabulary; ++k) symbols.push_back(std::to_string(k));
  return Alphabet(symbols);
}

std::unique_ptr<LanguageModel> make_model(const Size& size, int seed, const std::string& device,
                                          bool kernels) {
  const Json stack{
      {"kind", "nondeterministic"}, {"states", size.states}, {"symbols", size.symbols}};
  return std::make_unique<LanguageModel>(
      alphabet_of(size), Json{{"controller", {{"kind", "lstm"}, {"hidden", size.work().hidden}}},
                              {"stack", stack},
                              {"device", device},
                              {"kernels", kernels},
                              {"end_symbol", false},
                              {"seed", seed}});
}

// Returns a trainer of strings of one length with this number of updates per epoch.
std::unique_ptr<Trainer> make_trainer(const Size& size, int seed, int updates,
                                      const std::string& device, bool kernels) {
  const Workload work = size.work();
  Random random(1);
  std::vector<Word> words(updates * work.batch);
  for (Word& word : words)
    for (int t = 0; t < kLength; ++t)
      word.push_back(static_cast<int>(random.below(static_cast<std::uint64_t>(size.vocabulary))));
  return std::make_unique<Trainer>(
      LanguageModelPtr(make_model(size, seed, device, kernels)),
      std::make_shared<Dataset>(alphabet_of(size), words), nullptr,
      Json{{"batch", work.batch}, {"seed", seed}, {"optimizer", {{"learning_rate", 0.001}}}});
}

// Returns the milliseconds of an update of all models in the second epoch.
double update_ms(const Size& size, int models, int updates, const std::string& device,
                 bool kernels = true) {
  std::vector<std::unique_ptr<Trainer>> owned;
  std::vector<Trainer*> trainers;
  for (int k = 0; k < models; ++k)
    trainers.push_back(owned.emplace_back(make_trainer(size, k, updates, device, kernels)).get());
  for (int epoch = 0; epoch < 2; ++epoch)
    for (const auto& result : run_epoch_together(trainers))
      if (!result.error.empty()) throw std::runtime_error(result.error);
  return 1e3 / trainers[0]->history().back().updates_per_second;
}

void print_update(const Size& size, const std::string& where, int models, double ms) {
  std::printf("device_update model=\"%s\" where=\"%s\" n=%d batch=%d models=%d ms=%.3f\n",
              size.name().c_str(), where.c_str(), kLength, static_cast<int>(size.work().batch),
              models, ms);
  std::fflush(stdout);
}

struct PassTimes {
  double forward_ms = 0, backward_ms = 0;
};

// Notes when an update asks for the stream of its next launches, after waiting for earlier ones.
class TimedDevice final : public Device {
 public:
  explicit TimedDevice(DevicePtr device) : device_(std::move(device)) {}
  std::shared_ptr<const DeviceModule> module(const std::string& source) const override {
    return device_->module(source);
  }
  void* stream() const override {
    note();
    return device_->stream();
  }
  std::size_t free_bytes() const override { return device_->free_bytes(); }
  std::size_t shared_bytes() const override { return device_->shared_bytes(); }
  // Returns the moments since the last call, with the end.
  std::vector<Clock::time_point> finish() const {
    note();
    return std::exchange(moments_, {});
  }

 private:
  void note() const {
    wait_for_cuda_device();
    moments_.push_back(Clock::now());
  }

  DevicePtr device_;
  mutable std::vector<Clock::time_point> moments_;
};

// Both passes of random models, with the output layer and with the sums of the gradients.
PassTimes time_passes(const Size& size, int models) {
  const Workload work = size.work();
  std::vector<std::unique_ptr<LanguageModel>> owned;
  std::vector<std::vector<Tensor>> lists;
  for (int k = 0; k < models; ++k) {
    owned.push_back(make_model(size, k, "cuda", true));
    lists.emplace_back();
    for (const auto& [name, parameter] : owned.back()->parameters())
      lists.back().push_back(parameter);
  }
  const CommonRows rows(std::move(lists));
  const LanguageModel& first = *owned.front();
  UpdateForm form{{},         rows.all(), first.output_weight(), first.output_bias(),
                  work.batch, kLength - 1};
  for (const auto& model : owned)
    form.plans.push_back(model->network().plan(work.batch, kLength - 1));
  const auto device = std::make_shared<TimedDevice>(cuda_device(first.output_weight().device()));
  const auto updates = device_updates(std::move(form), device);
  const Tensor words = at::randint(size.vocabulary, {models, work.batch, kLength}, at::kLong);
  const UpdateBatch batch{words.unbind(0), std::nullopt,
                          std::vector<double>(static_cast<std::size_t>(models), 1)};
  std::vector<double> times[2];
  for (int round = models >= 1000 ? 3 : 11; round > 0; --round) {
    updates->differentiate(batch);
    // The begin of the update, of its forward and of its backward pass, and the end.
    const auto moments = device->finish();
    for (const std::size_t pass : {0, 1})
      times[pass].push_back(
          std::chrono::duration<double, std::milli>(moments.at(pass + 2) - moments.at(pass + 1))
              .count());
  }
  const auto median = [](std::vector<double>& all) {
    std::nth_element(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2),
                     all.end());
    return all[all.size() / 2];
  };
  return {median(times[0]), median(times[1])};
}

void bench_passes(const CudaDevice& device, const Size& size, int models) {
  const PassTimes times = time_passes(size, models);
  const double seconds = (times.forward_ms + times.backward_ms) * 1e-3;
  const double flops = 2 * models * multiply_adds(size.work(), kLength) / seconds;
  const double bytes = sizeof(float) * models * history_reads(size.work(), kLength);
  const double peak = device.peak_bytes_per_second();
  std::printf(
      "device_passes model=\"%s\" n=%d batch=%d models=%d forward_ms=%.3f backward_ms=%.3f "
      "gflops=%.1f flops_of_peak=%.4f history_gbytes_per_s=%.1f streaming_ms=%.3f "
      "streaming_of_time=%.4f\n",
      size.name().c_str(), kLength, static_cast<int>(size.work().batch), models, times.forward_ms,
      times.backward_ms, flops / 1e9, flops / device.peak_flops(), bytes / seconds / 1e9,
      1e3 * bytes / peak, bytes / peak / seconds);
  std::fflush(stdout);
}

// The measurement, or the reason why there is none, such as too little memory for these models.
void attempt(const std::string& what, const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    std::printf("not run: %s: %s\n", what.c_str(), error.what());
    std::fflush(stdout);
  }
}

void print_bar(const std::string& name, double bound, bool at_most, double value) {
  const bool met = at_most ? value <= bound : value >= bound;
  std::printf("device_bar name=\"%s\" %s=%g value=%.3f %s\n", name.c_str(),
              at_most ? "at_most" : "at_least", bound, value, met ? "met" : "MISSED");
}

}  // namespace

int bench_device() {
  std::string reason;
  const auto devices = cuda_devices(reason);
  if (devices.empty()) {
    std::printf("device: skipped: %s\n", reason.c_str());
    return kSkipped;
  }
  const CudaDevice& device = devices[0];
  std::printf(
      "device name=\"%s\" compute=%d.%d multiprocessors=%d memory_gb=%.1f peak_gflops=%.0f "
      "peak_gbytes_per_s=%.0f toolkit=%s torch=%s\n",
      device.name.c_str(), device.compute_major, device.compute_minor, device.multiprocessors,
      static_cast<double>(device.memory_bytes) / 1e9, device.peak_flops() / 1e9,
      device.peak_bytes_per_second() / 1e9, cuda_toolkit().c_str(), torch_version().c_str());
  set_thread_count(1);
  std::map<std::pair<int, int>, double> on_device;  // states, models
  std::map<int, double> on_processor;
  for (const Size& size : kSizes) {
    const double ms = on_processor[size.states] = update_ms(size, 1, 20, "cpu");
    print_update(size, "one core of the processor", 1, ms);
  }
  if (!torch_has_cuda() || !at::hasCUDA()) {
    std::printf("not run: passes and updates of models: the LibTorch %s of this build %s\n",
                torch_version().c_str(), torch_has_cuda() ? "finds no device" : "has no CUDA");
    return 0;
  }
  for (const Size& size : kSizes)
    for (const int models : kModels)
      attempt(fmt::format("passes of {}, {} models", size.name(), models),
              [&] { bench_passes(device, size, models); });

  for (const Size& size : kSizes) {
    for (const int models : kModels)
      attempt(fmt::format("updates of {}, {} models", size.name(), models), [&] {
        const int updates = models == 1000 ? 3 : models == 100 ? 10 : 20;
        const double ms = update_ms(size, models, updates, "cuda");
        on_device[{size.states, models}] = ms;
        print_update(size, "kernels on the device", models, ms);
      });
    attempt("tensor operations of " + size.name(), [&] {
      print_update(size, "tensor operations on the device", 1,
                   update_ms(size, 1, 2, "cuda", false));
    });
  }
  const auto time = [&](int models) { return on_device[{2, models}]; };
  if (time(1) > 0 && time(20) > 0)
    print_bar("nondeterministic 2x2, 20 models over one, times as long", 3, true,
              time(20) / time(1));
  if (time(100) > 0)
    print_bar("nondeterministic 2x2, 100 models, times the updates of one core", 50, false,
              100 * on_processor[2] / time(100));
  return 0;
}

}  // namespace pushdown::bench
