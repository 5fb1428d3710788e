// Training updates of LSTMs and transformers beside the same networks in PyTorch (peers.py): whole
// updates with clipping and Adam. Each measurement is a process of its own, the two programs take
// turns, and the least time counts: processor time with one thread, wall time with more. PyTorch is
// that of the Python named by PUSHDOWN_PYTHON, or of python3.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "arithmetic.h"
#include "base/parallel.h"
#include "bench.h"
#include "random_training.h"

namespace pushdown::bench {
namespace {

constexpr double kBar = 0.9, kSeconds = 1;  // of a measurement after its first update
constexpr int kRounds = 3, kUpdates = 30;
constexpr auto kMost = std::chrono::seconds(60);  // of the rounds before the last one

const std::vector<Network> kRows{
    {false, {.hidden = 20, .batch = 10, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 20, .batch = 32, .vocabulary = 256, .length = 64}},
    {false, {.hidden = 256, .batch = 10, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 256, .batch = 32, .vocabulary = 256, .length = 64}},
    {false, {.hidden = 256, .batch = 32, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 512, .batch = 32, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 1024, .batch = 32, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 1024, .batch = 10, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 128, .batch = 128, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 256, .batch = 128, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 512, .batch = 128, .vocabulary = 100, .length = 80}},
    {false, {.hidden = 256, .batch = 32, .vocabulary = 10000, .length = 64}},
    {false, {.hidden = 512, .layers = 2, .batch = 32, .vocabulary = 10000, .length = 64}},
    {false, {.hidden = 1024, .layers = 2, .batch = 32, .vocabulary = 10000, .length = 64}},
    {false, {.hidden = 1024, .layers = 2, .batch = 128, .vocabulary = 10000, .length = 64}},
    {true, {.hidden = 64, .layers = 2, .batch = 10, .vocabulary = 100, .length = 256}},
    {true, {.hidden = 256, .layers = 2, .batch = 10, .vocabulary = 100, .length = 256}},
};

struct Measured {
  double ms = 0, peak_mb = 0;
  long long parameters = 0;  // 0: not measured
};

// Runs a command that prints `peer ms=.. peak_mb=.. parameters=..`.
Measured run(const std::string& command) {
  Measured result;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return result;
  char line[256];
  while (std::fgets(line, sizeof line, pipe) != nullptr)
    std::sscanf(line, "peer ms=%lf peak_mb=%lf parameters=%lld", &result.ms, &result.peak_mb,
                &result.parameters);
  if (pclose(pipe) != 0) result.parameters = 0;
  return result;
}

// Keeps the least of the times and the peaks.
void keep(Measured& best, const Measured& found) {
  if (found.parameters == 0) return;
  if (best.parameters == 0) best = found;
  best.ms = std::min(best.ms, found.ms);
  best.peak_mb = std::min(best.peak_mb, found.peak_mb);
}

std::string python() {
  const char* named = std::getenv("PUSHDOWN_PYTHON");
  return fmt::format("'{}'", named == nullptr ? "python3" : named);
}

void compare(const Network& row, int threads, bool torch, double peak) {
  const auto self = std::filesystem::canonical("/proc/self/exe").string();
  const Sizes& of = row.of;
  Measured ours, theirs;
  const auto begin = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds && std::chrono::steady_clock::now() - begin < kMost;
       ++round) {
    keep(ours, run(fmt::format("'{}' peer '{}' {}", self, row.name(), threads)));
    if (!torch) continue;
    keep(theirs,
         run(fmt::format("{} '" PUSHDOWN_BENCH_FOLDER "/peers.py' {} {} {} {} {} {} {} {} {}",
                         python(), row.attention ? "transformer" : "lstm", of.hidden, of.layers,
                         of.batch, of.vocabulary, of.length, threads, kUpdates, kSeconds)));
  }
  const double rate = row.multiply_adds() / ours.ms * 1e-6;
  std::printf("%-48s %7d %10.2f", row.name().c_str(), threads, ours.ms);
  if (theirs.parameters > 0)
    std::printf(" %10.2f %6.2f %-6s", theirs.ms, ours.ms / theirs.ms,
                ours.ms <= kBar * theirs.ms ? "met" : "MISSED");
  else
    std::printf(" %10s %6s %-6s", "-", "-", "");
  std::printf(" %8.0f %6.0f %8.0f", 2 * rate, 100 * rate * 1e9 / peak / threads, ours.peak_mb);
  if (theirs.parameters > 0)
    std::printf(" %8.0f", theirs.peak_mb);
  else
    std::printf(" %8s", "-");
  std::printf(" %11lld%s\n", ours.parameters,
              theirs.parameters > 0 && theirs.parameters != ours.parameters
                  ? fmt::format(" (PyTorch: {})", theirs.parameters).c_str()
                  : "");
  std::fflush(stdout);
}

}  // namespace

int bench_peer(const std::string& name, int threads) {
  const auto row = std::find_if(kRows.begin(), kRows.end(),
                                [&](const Network& of) { return of.name() == name; });
  if (row == kRows.end()) {
    std::fprintf(stderr, "[bench] unknown row: expected a name as `bench peers` prints, got '%s'\n",
                 name.c_str());
    return 2;
  }
  set_thread_count(threads);
  start_peak();
  const auto trainer = random_training(row->model(), row->of);
  const Timing time = measure(
      kUpdates, [&] { trainer->step(); }, kSeconds);
  long long parameters = 0;
  for (const auto& [own, tensor] : trainer->model()->parameters()) parameters += tensor.numel();
  std::printf("peer ms=%.4f peak_mb=%.1f parameters=%lld\n",
              threads == 1 ? time.best_ms : time.least_ms, peak_megabytes(), parameters);
  return 0;
}

void bench_peers(const std::vector<std::string>& texts) {
  const bool torch = std::system((python() + " -c 'import torch' 2> /dev/null").c_str()) == 0;
  const double peak = multiply_add_peak();
  std::printf("\nUpdates with clipping and Adam, float32, ms; peak %.1f GFLOP/s a core\n",
              2 * peak * 1e-9);
  if (!torch)
    std::printf(
        "PyTorch is not measured: %s cannot import torch. PUSHDOWN_PYTHON names a Python that has "
        "it.\n",
        python().c_str());
  std::printf("%-48s %7s %10s %10s %6s %-6s %8s %6s %8s %8s %11s\n", "network", "threads", "ours",
              "PyTorch", "ratio", fmt::format("<= {}", kBar).c_str(), "GFLOP/s", "% peak", "MB",
              "PyTorch", "parameters");
  for (const Network& row : kRows) {
    for (const int threads : {1, 2})
      if (among(row.name(), texts)) compare(row, threads, torch, peak);
  }
}

}  // namespace pushdown::bench
